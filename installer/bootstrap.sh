#!/usr/bin/env bash
# Makes .venv with the locked dependencies and this checkout installed in it. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

# Debian splits venv's pip from python3: install both where they are missing.
if ! python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "installing python3 and python3-venv" >&2
  apt-get update --quiet=2
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends python3 python3-venv >/dev/null
fi

started=$SECONDS
python3 -m venv .venv
# pip brings uv, by the hashes of the same lock; uv brings the rest in a fraction of pip's time.
awk '/^uv==/ {keep=1; print; next} keep && /^ / {print; next} {keep=0}' requirements.lock > .venv/uv.lock
.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement .venv/uv.lock
export VIRTUAL_ENV="$PWD/.venv"
.venv/bin/uv pip install --quiet --compile-bytecode --require-hashes --requirement requirements.lock
# The build backend is in the lock, so nothing is fetched unpinned.
.venv/bin/uv pip install --quiet --no-build-isolation --no-deps --editable .
# For machines where Python writes no bytecode by itself: it is half of a command's time.
.venv/bin/python -m compileall -q installer/modelyard
touch .venv/.ready
echo "python environment ready in $((SECONDS - started)) s" >&2

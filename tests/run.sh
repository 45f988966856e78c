#!/usr/bin/env bash
# All that must hold for a change to land, in the order in which it fails fastest. `--full` adds what is long, installs
# the profile full in place of core, and fails on every skip that tests/allowed-skips.yaml does not explain.
set -uo pipefail
cd "$(dirname "$0")/.."
readonly BIN=.venv/bin CLUSTER="test-$$" ELSEWHERE="$PWD/build/elsewhere"
readonly MARKS=$([[ "${1:-}" == --full ]] && echo "" || echo "and not long")
readonly PROFILE=$([[ "${1:-}" == --full ]] && echo full || echo core)
# Trees handed over beside the clone: what targets offer may come from the git host alone, which tests do not need then.
if [[ -z "${MODELYARD_UPSTREAMS:-}" && -d ../shared/upstream ]]; then
  export MODELYARD_UPSTREAMS=$(realpath ../shared/upstream)
fi
unset PYTHONDONTWRITEBYTECODE # each of some hundred commands would compile its modules anew
mkdir -p build/reports
: >build/reports/times.txt

step() { # step TITLE COMMAND...: run it, say how long it took, stop at the first failure
  local title=$1 began=$SECONDS
  shift
  echo "== $title"
  "$@" || { echo "== $title: FAILED after $((SECONDS - began)) s" >&2; exit 1; }
  echo "== $title: $((SECONDS - began)) s" | tee -a build/reports/times.txt
}

cleanup() { # after a failure, what the cluster has to say is kept
  local failed=$?
  if ((failed)); then
    "$BIN/modelyard" local status --name "$CLUSTER" -o json >build/reports/status.json 2>&1 || true
    "$BIN/modelyard" local logs --name "$CLUSTER" >build/reports/logs.txt 2>&1 || true
  fi
  "$BIN/modelyard" local down --name "$CLUSTER" --delete >/dev/null 2>&1 || true
}
trap cleanup EXIT

remove_abandoned() { # the clusters of runs that were killed
  local name
  for name in $("$BIN/python" -c 'from modelyard.local.state.layout import names; print(*names())'); do
    [[ $name =~ ^test-([0-9]+)$ && ! -e /proc/${BASH_REMATCH[1]} ]] || continue
    "$BIN/modelyard" local down --name "$name" --delete
  done
}

remove_abandoned
step "lint" "$BIN/ruff" check .
step "format" "$BIN/ruff" format --check .
step "types" "$BIN/mypy"
step "import contracts" "$BIN/lint-imports"
step "what is proved" "$BIN/python" -m conformance.proof
step "unit and property tests" "$BIN/pytest" -q -n 2 -m "not cluster and not platform $MARKS" --junit-xml build/reports/unit.xml
step "embedded control plane" "$BIN/pytest" -q -n 2 --dist loadfile -m "cluster $MARKS" --junit-xml build/reports/cluster.xml
step "wheel" bash tests/wheel.sh "$ELSEWHERE"
step "platform, ended on the way" env MODELYARD="$ELSEWHERE/bin/modelyard" MODELYARD_NAME="$CLUSTER" "$BIN/pytest" -q tests/platform -m "platform $MARKS" --junit-xml build/reports/ended.xml
step "platform, from the wheel" env --chdir=/ "$ELSEWHERE/bin/modelyard" install --name "$CLUSTER"
step "platform again, from the clone" "$BIN/modelyard" install --name "$CLUSTER" --profile "$PROFILE"
step "conformance" "$BIN/modelyard" conformance --name "$CLUSTER" -j 2 --junit build/reports/conformance.xml --html build/reports/conformance.html
step "commands in the docs" env MODELYARD_NAME="$CLUSTER" "$BIN/pytest" -q tests/docs -m platform --junit-xml build/reports/docs.xml
# The docs' commands leave a user's job behind, which an uninstall without --delete-data refuses to lose.
step "uninstall" "$BIN/modelyard" uninstall --name "$CLUSTER" --yes --delete-data
if [[ $PROFILE == full ]]; then
  step "skips" "$BIN/python" tests/skips.py build/reports/{unit,cluster,ended,conformance,docs}.xml
fi
echo "== all passed in $SECONDS s"

#!/usr/bin/env bash
# Installs modelyard from its wheel, as a user without a clone has it: tests/wheel.sh FOLDER makes FOLDER/bin/modelyard.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly FOLDER=$1
rm -rf "$FOLDER" build/wheel
.venv/bin/python -m hatchling build --target wheel --directory "$PWD/build/wheel" >/dev/null
.venv/bin/uv venv --quiet "$FOLDER"
.venv/bin/uv pip install --quiet --python "$FOLDER" --constraint requirements.lock build/wheel/modelyard-*.whl

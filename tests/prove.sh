#!/usr/bin/env bash
# Install the profile `full` of this clone on a fresh embedded cluster, run conformance on it, and add what passes to
# conformance/proof.json. The areas to run are the arguments; none: all. The area `network` runs on two nodes with NICs
# too, which a cluster of its own has.
set -uo pipefail
cd "$(dirname "$0")/.."
readonly BIN=.venv/bin RECORD=conformance/proof.json CLUSTER="test-$$" NICS="test-$$-nics"
failed=0

cleanup() {
  local name
  for name in "$CLUSTER" "$NICS"; do "$BIN/modelyard" local down --name "$name" --delete >/dev/null 2>&1 || true; done
}
trap cleanup EXIT

conformance() { # conformance CLUSTER JOBS AREA...: what fails is no longer recorded, and the others still are
  local name=$1 jobs=$2 area chosen=()
  shift 2
  for area in "$@"; do chosen+=(--area "$area"); done
  "$BIN/modelyard" conformance --name "$name" -j "$jobs" --record "$RECORD" "${chosen[@]}" || failed=1
}

"$BIN/modelyard" install --name "$CLUSTER" --profile full || exit 1
conformance "$CLUSTER" 2 "$@"
if (($# == 0)) || [[ " $* " == *" network "* ]]; then
  "$BIN/modelyard" local up --name "$NICS" --nodes 2 --nics 2 --nic-mbit 300 || exit 1
  "$BIN/modelyard" install --name "$NICS" --component whereabouts --component trainer || exit 1 # trainer: its image runs the jobs
  conformance "$NICS" 1 network
fi
"$BIN/python" -m docs.generate
exit "$failed"

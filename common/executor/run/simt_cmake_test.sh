#!/bin/bash
# Unpacks the archive and builds examples/simt_cmake with it: its tests pass, and with the planted bug one fails.

set -eu
if ! command -v cmake >/dev/null; then
  echo "skipped: there is no cmake"
  exit 0
fi
tar xzf common/executor/run/stridewise-simt-linux-x86_64.tar.gz -C "$TEST_TMPDIR"
cp -rL examples/simt_cmake "$TEST_TMPDIR/example"
cd "$TEST_TMPDIR/example"
unset RUNFILES_DIR TEST_SRCDIR # As outside of Bazel.
build() {
  cmake -S . -B "$1" -DStridewiseSimt_DIR="$TEST_TMPDIR/stridewise-simt/lib/cmake/StridewiseSimt" "${@:2}" >/dev/null
  cmake --build "$1" >/dev/null
  (cd "$1" && ctest --output-on-failure)
}
build good || { echo "FAIL: the example's tests do not pass"; exit 1; }
if output=$(build bad -DPLANT_A_BUG=ON); then
  echo "FAIL: the planted bug was not found"
  exit 1
fi
[[ $output == *"data race in ReverseBlocks"* ]] || { echo "FAIL: no data race in: $output"; exit 1; }

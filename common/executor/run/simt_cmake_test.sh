#!/bin/bash
# Unpacks the archive and builds examples/simt_cmake with it: its tests pass, and with the planted bug one fails. Then the same
# program by simt_nvcc, as a Makefile would.

set -eu
tar xzf common/executor/run/stridewise-simt-linux-x86_64.tar.gz -C "$TEST_TMPDIR"
cp -rL examples/simt_cmake "$TEST_TMPDIR/example"
cd "$TEST_TMPDIR/example"
unset RUNFILES_DIR TEST_SRCDIR # As outside of Bazel.

nvcc=$TEST_TMPDIR/stridewise-simt/bin/simt_nvcc
"$nvcc" -O3 -std=c++17 -arch sm_90a -Xcompiler -Wall -I. -c reverse.cu -o good.o
"$nvcc" -arch=sm_90a good.o -o good_program -lcudart
./good_program 1000 >/dev/null || { echo "FAIL: built by simt_nvcc, the program fails"; exit 1; }
"$nvcc" -DPLANT_A_BUG -c reverse.cu
"$nvcc" reverse.o
if output=$(./a.out 1000 2>&1); then
  echo "FAIL: the bug that simt_nvcc's -D plants was not found"
  exit 1
fi
[[ $output == *"data race in ReverseBlocks"* ]] || { echo "FAIL: no data race in: $output"; exit 1; }
for arguments in "--no_such_option reverse.cu" "/bin/ls" "-o" "-O3" "none.cu"; do
  # shellcheck disable=SC2086
  if "$nvcc" $arguments >/dev/null 2>&1; then
    echo "FAIL: simt_nvcc takes $arguments"
    exit 1
  fi
done

if ! command -v cmake >/dev/null; then
  echo "without cmake: the rest is skipped"
  exit 0
fi
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

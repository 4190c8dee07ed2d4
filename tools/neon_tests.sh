#!/bin/bash
# Tests the CPU code's NEON vectors on a machine that is no ARM: compiles tests of products and transposes, and what they
# depend on, with Debian's cross compiler, and runs them under qemu-user. Two minutes on two cores. Prints what fails, and
# as the last line how many cases passed; returns 1 when one failed.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=tools/debian_packages.sh
source tools/debian_packages.sh

tests=(//matmul/cpu:shapes_test //transpose/cpu:block_test //transpose/cpu:streamed_test)
# Under qemu a case of shapes_test takes 40 s, most of it for the definition: each gets a process.
shards=4
gtest=/usr/src/googletest/googletest

install_packages "g++-aarch64-linux-gnu: compiles for ARM" "qemu-user: runs programs for ARM" \
  "libhwy-dev: Highway, whose headers choose NEON" "libgtest-dev: GoogleTest, as sources" || exit 1

build=$(mktemp -d) || exit 1
trap 'rm -r "$build"' EXIT
jobs=$(nproc)

# compile SOURCE: adds its object to $build. The headers of the system's libraries come last, behind those of the cross
# compiler, whose libc is another.
compile() {
  aarch64-linux-gnu-g++ -std=c++17 -O2 -fopenmp -Wall -Wextra -Werror -I. -isystem "$gtest/include" -isystem "$gtest" \
    -idirafter /usr/include -c "$1" -o "$build/$(tr / _ <<<"${1%.cc}").o"
}

# run BINARY SHARD: prints the output of a shard that fails.
run() {
  local output=$1.$2
  GTEST_SHARD_INDEX=$2 qemu-aarch64 -L /usr/aarch64-linux-gnu "$1" --gtest_output="xml:$output.xml" >"$output.log" 2>&1 ||
    { cat "$output.log" && return 1; }
}
export -f compile run
export build gtest GTEST_TOTAL_SHARDS=$shards

sources=$(./bazelw query --noshow_progress "kind('source file', deps(set(${tests[*]})))" |
  sed -n 's,^//\(.*\):\(.*\.cc\)$,\1/\2,p') || exit 1
[[ -n $sources ]] || exit 1
xargs -P "$jobs" -I{} bash -c 'compile {}' <<<"$sources
$gtest/src/gtest-all.cc
$gtest/src/gtest_main.cc" || exit 1

for test in "${tests[@]}"; do
  object=$(tr /: _ <<<"${test#//}")
  mv "$build/$object.o" "$build/$object" || exit 1
done
aarch64-linux-gnu-ar rcs "$build/rest.a" "$build"/*.o || exit 1
for test in "${tests[@]}"; do
  object=$build/$(tr /: _ <<<"${test#//}")
  aarch64-linux-gnu-g++ -fopenmp -x none "$object" "$build/rest.a" -o "$object.arm" || exit 1
  for ((shard = 0; shard < shards; ++shard)); do echo "$object.arm $shard"; done
done | xargs -P "$jobs" -I{} bash -c 'run {}'
ran=$? # A program that crashes writes no results that could be counted.
tools/count_tests.sh "$build" && ((ran == 0))

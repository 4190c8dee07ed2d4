#!/bin/bash
# Builds this workspace as another user's would be: the test of its own kernel runs, the program with the library calls
# is analysed, and built with --all (which compiles all kernels, minutes). Arguments go to Bazel.

cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
bazelw=../../bazelw
analyse=--nobuild
[[ ${1:-} == --all ]] && analyse= && shift
"$bazelw" test "$@" //:scale_test //:histogram_test &&
  "$bazelw" build "$@" $analyse //:product @stridewise//matmul @stridewise//transpose @stridewise//bindings/c:archive
status=$?
"$bazelw" shutdown
exit $status

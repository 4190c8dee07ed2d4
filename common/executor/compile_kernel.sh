#!/bin/bash
# compile_kernel.sh CLANG REWRITE_ASM FLAGS... -c SOURCE -o OBJECT -MD -MF DEPENDENCIES
# Compiles a kernel's source for the CPU as CLANG would, with calls in place of inline PTX.

set -eu -o pipefail
clang=$1 rewrite_asm=$2
shift 2

# What was included before the first line is in the preprocessed source.
flags=() included=() dependencies=()
while [ $# -gt 0 ]; do
  case $1 in
    -c) source=$2 && shift ;;
    -o) object=$2 && shift ;;
    -include) included+=("$1" "$2") && shift ;;
    -MD) dependencies+=("$1") ;;
    -MF) dependencies+=("$1" "$2") && shift ;;
    *) flags+=("$1") ;;
  esac
  shift
done

preprocessed=$object.ii
"$clang" -E "${flags[@]}" "${included[@]}" "${dependencies[@]}" "$source" | "$rewrite_asm" >"$preprocessed"
"$clang" "${flags[@]}" -x c++-cpp-output -c "$preprocessed" -o "$object"
rm "$preprocessed"

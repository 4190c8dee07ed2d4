#!/bin/bash
# compile_kernel.sh CLANG REWRITE_ASM SOURCE OBJECT FLAGS...
# Compiles a kernel's source for the CPU, with calls in place of inline PTX.

set -eu -o pipefail
clang=$1 rewrite_asm=$2 source=$3 object=$4
shift 4

preprocessed=$object.ii
"$clang" -E "$@" "$source" | "$rewrite_asm" > "$preprocessed"

# What was included before the first line is in there.
flags=()
while [ $# -gt 0 ]; do
  if [ "$1" = -include ]; then
    shift
  else
    flags+=("$1")
  fi
  shift
done
"$clang" "${flags[@]}" -x c++-cpp-output -c "$preprocessed" -o "$object"
rm "$preprocessed"

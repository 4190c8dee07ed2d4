#!/bin/bash
# rename_symbols.sh NM OBJCOPY FROM TO
# Copies a kernel's object file and directs to the host executor what the compiler's flags cannot.

set -eu -o pipefail
nm=$1 objcopy=$2 from=$3 to=$4

# Structures are copied through these: under their plain names by Clang 14, with a prefix by newer versions. Names of our
# own, as ThreadSanitizer's would clash with its runtime in a program that has that as well.
"$objcopy" --redefine-sym=memcpy=simt_memcpy --redefine-sym=memmove=simt_memmove --redefine-sym=memset=simt_memset \
  --redefine-sym=__tsan_init=simt_init "$from" "$to"
"$objcopy" --redefine-sym=__tsan_memcpy=simt_memcpy --redefine-sym=__tsan_memmove=simt_memmove \
  --redefine-sym=__tsan_memset=simt_memset "$to"

# Every `extern __shared__` array, whatever its name, is the block's dynamic shared memory. The standard library's own
# thread-local variables are not. One at a time, as objcopy refuses two new names that are the same.
"$nm" --undefined-only --format=posix "$to" | while read -r symbol _; do
  case $symbol in
    __emutls_v._ZS* | __emutls_v._ZNS* | __emutls_v._ZN4absl*) ;;
    __emutls_v.*) "$objcopy" --redefine-sym="$symbol=__emutls_v.simt_dynamic_shared" "$to" ;;
  esac
done

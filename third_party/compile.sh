#!/bin/bash
# Runs a compiler, and lists which of the headers that it was offered it did not read: Bazel does not compile again when
# only those change.
#
#   compile.sh UNUSED OFFERED COMMAND...
#
# Both are lists of paths, one a line; UNUSED is written. The command is nvcc's, GCC's or Clang's.

unused=$1
offered=$2
shift 2
used=$(mktemp) || exit 1
trap 'rm -f "$used"' EXIT
"$@" -MD -MF "$used" || exit

# The compiler may write ./common/a.h for common/a.h.
tr -s '[:space:]\\' '\n' <"$used" |
  awk 'NR == FNR { used = used "/" $0 "\n"; next } !index(used, "/" $0 "\n")' - "$offered" >"$unused"

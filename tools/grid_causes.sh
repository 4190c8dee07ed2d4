#!/bin/sh
# Says which part of a distributed transpose ends a program, from the bundle that this script lies in (//:gpu_bundle), on two
# GPUs: exchange_direct without a peer, cuBLASMp alone, or one beside the other. A sweep of doubles at 32768 beside cuBLASMp
# was once ended by a heap that was written to (docs/many_gpus.md).
#
# Usage: grid_causes.sh --output=DIR [--rounds=N] [--size=N]
#   --output=DIR  Where the CSVs and what the programs say go.
#   --rounds=N    Runs all of it N times (1), or until a program dies.
#   --size=N      The side of the matrices (32768).
#
# Each row is a process of its own, whose heap is filled with other bytes when it is freed (MALLOC_PERTURB_), and once more
# with glibc's checked heap where libc_malloc_debug is there, which ends a program at the first free of memory that was
# written beside. Where there is gdb, a program that died is run again under it, for its stack. NCCL and cuBLASMp are found
# as many_gpus.md says. Returns 0 if all ended well, 1 if one died or was wrong, 2 for bad arguments, 3 if a row was not
# measured.

fail_usage() {
  echo "grid_causes.sh: $*" >&2
  exit 2
}

# The number of a flag --NAME=N.
number() {
  case ${1#*=} in
    "" | *[!0-9]* | 0) fail_usage "${1%%=*}: '${1#*=}' is not allowed; allowed is a number from 1 on" ;;
    *) echo "${1#*=}" ;;
  esac
}

output=
rounds=1
size=32768
for arg in "$@"; do
  case $arg in
    --output=?*) output=${arg#*=} ;;
    --rounds=*) rounds=$(number "$arg") || exit 2 ;;
    --size=*) size=$(number "$arg") || exit 2 ;;
    *) fail_usage "unknown argument '$arg'; there are --output=DIR, --rounds=N and --size=N" ;;
  esac
done
[ -n "$output" ] || fail_usage "--output=DIR is missing"
bundle=$(cd "$(dirname "$0")" && pwd) || exit 2
[ -x "$bundle/benchmarks/transpose_sweep" ] || fail_usage "it runs from the bundle: ./bazelw build //:gpu_bundle"
mkdir -p "$output" && cd "$output" || exit 2

# shellcheck source=tools/cuda_libraries.sh
. "$bundle/cuda_libraries.sh"
export LD_LIBRARY_PATH="$libraries" NCCL_NVLS_ENABLE=0 MALLOC_PERTURB_=165
checked=
for library in /lib/x86_64-linux-gnu/libc_malloc_debug.so.0 /lib64/libc_malloc_debug.so.0; do
  [ ! -e "$library" ] || checked=$library
done
none=$bundle/no_cublasmp # Not there: rows have no peer.

# sweep TYPE ENTRY NAME PREFIX...: a row, with PREFIX before the program. Sets `status`.
sweep() {
  type=$1 entry=$2 name=$3
  shift 3
  rm -f "$name.csv"
  "$@" "$bundle/benchmarks/transpose_sweep" --gpus=1x2 --sizes="$size" --types="$type" --implementations="$entry" \
    --max_seconds=0.3 --csv="$name.csv" >"$name.txt" 2>&1 </dev/null
  status=$?
}

# row NAME TYPE ENTRY [VARIABLE=VALUE...]: runs a row and says how it ended, in `results`, too.
results=
row() {
  name=$1 type=$2 entry=$3
  shift 3
  begin=$(date +%s)
  sweep "$type" "$entry" "$name" timeout 120 env "$@"
  took=$(($(date +%s) - begin))
  case $status in
    0) if grep -q ',ok,' "$name.csv" 2>/dev/null; then result=ok; else result=not_measured; fi ;;
    1) result=wrong ;;
    124) result=hangs ;;
    *) if [ "$status" -gt 128 ]; then result=died; else result=not_measured; fi ;;
  esac
  echo "$name: $result, exit code $status, $took s"
  results="$results $name=$result"
  case $result in
    died)
      tail -n 3 "$name.txt"
      if command -v gdb >/dev/null; then
        sweep "$type" "$entry" "${name}_gdb" timeout 180 env "$@" gdb -q -batch -ex run -ex bt --args
        grep -E '^#[0-9]+ ' "${name}_gdb.txt" | head -n 20
      fi
      ;;
    not_measured) sed 's/^/  /' "$name.txt" | tail -n 3 ;;
  esac
}

round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  results=
  row exchange_alone double exchange_direct STRIDEWISE_CUBLASMP="$none"
  row cublasmp_alone double cublasmp
  row both double exchange_direct
  row both_floats float exchange_direct
  if [ -n "$checked" ]; then
    checks="LD_PRELOAD=$checked GLIBC_TUNABLES=glibc.malloc.check=3"
    # shellcheck disable=SC2086 # Two words.
    row both_checked double exchange_direct $checks
  fi
  case $results in *=died* | *=wrong* | *=hangs*) break ;; esac
done

case $results in
  *exchange_alone=died* | *exchange_alone=wrong*) echo "cause: exchange_direct, without cuBLASMp" ;;
  *cublasmp_alone=died* | *cublasmp_alone=wrong*) echo "cause: cuBLASMp, or how it is called, without exchange_direct" ;;
  *both=died* | *both=wrong* | *both_checked=died*) echo "cause: only both in one process" ;;
  *=died* | *=wrong* | *=hangs*) echo "cause: none of the three alone; see the lines above" ;;
  *=not_measured*) ;;
  *) echo "cause: none found in $round round(s)" ;;
esac
case $results in
  *=died* | *=wrong* | *=hangs*) exit 1 ;;
  *=not_measured*) exit 3 ;;
esac

#!/bin/bash
# Counts of Nsight Compute for the programs that tools/simt_run_lists.py --prepare has copied, on a machine with a GPU, nvcc and ncu.
#
#   tools/simt_run_ncu.sh WORK OUT [RUNS]
#
# WORK has programs.txt and programs/. Results come as they are made: OUT/first/ncu_PROGRAM.csv, and of a second run, where RUNS is "first again", OUT/again/.
# OUT/build_PROGRAM.txt says why a program does not compile, failed_PROGRAM.txt why there are no counts. ARCH is that of nvcc, sm_90 by default, LIBRARIES what to
# link, such as -lcublas, SECONDS_EACH the limit of each program, 25 by default, and NCU_OPTIONS further options, as ':::1|2' behind --kernel-id, where programs repeat.
root=$(realpath "$1")
out=$(realpath -m "$2")
runs=${3:-first again}
export root out
export ARCH=${ARCH:-sm_90}
METRICS=$(sed -E -n 's/^ +"[a-z_]+": "([a-z0-9_.]+)",$/\1/p' "$(dirname "$0")/simt_run_counters.py" | paste -sd,)
export METRICS
mkdir -p "$root/bin" "$out"

build() {
  local name sources includes=()
  IFS=$'\t' read -r name _ sources _ <<< "$1"
  # Behind the system's, as some have headers of the same names.
  while read -r folder; do includes+=(-Xcompiler "-idirafter,$folder"); done < <(find "$root/programs/$name" -type d)
  # CUDA 13 has some properties of devices, and a function, no more.
  (cd "$root/programs/$name" && nvcc -O3 -arch="$ARCH" -w -DdeviceOverlap=asyncEngineCount -DmemoryClockRate=memoryBusWidth -DclockRate=memoryBusWidth -DcudaThreadSynchronize=cudaDeviceSynchronize "${includes[@]}" -o "$root/bin/$name" $sources ${LIBRARIES:-}) \
    > "$out/build_$name.txt" 2>&1 && rm "$out/build_$name.txt" || echo "no build: $name"
}
count() {
  local name main arguments raw=$root/raw_$2
  IFS=$'\t' read -r name main _ arguments <<< "$1"
  [[ -x $root/bin/$name ]] || return
  (cd "$root/programs/$name/$(dirname "$main")" && timeout -k 2 "${SECONDS_EACH:-25}" ncu --csv --page raw --print-units base --cache-control none --clock-control none ${NCU_OPTIONS:-} \
    --metrics "$METRICS" "$root/bin/$name" $arguments) > "${raw}_$name" 2>&1
  if ! grep '^"' "${raw}_$name" > "$out/$2/ncu_$name.csv"; then
    rm "$out/$2/ncu_$name.csv"
    tail -c 1500 "${raw}_$name" > "$out/$2/failed_$name.txt"
    echo "no counts: $2 $name"
  fi
}
export -f build count

start=$SECONDS
tr '\n' '\0' < "$root/programs.txt" | xargs -0 -P "$(nproc)" -I{} bash -c 'build "$1"' _ {}
echo "built after $((SECONDS - start)) s"
for run in $runs; do
  mkdir -p "$out/$run"
  tr '\n' '\0' < "$root/programs.txt" | xargs -0 -P 4 -I{} bash -c 'count "$1" "$2"' _ {} "$run"
  echo "$run after $((SECONDS - start)) s: $(find "$out/$run" -name '*.csv' | wc -l) programs"
done

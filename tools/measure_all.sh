#!/bin/sh
# Makes the CSVs of a machine (docs/results/<machine>), from the bundle that this script lies in (//:gpu_bundle).
#
# Usage: measure_all.sh --list
#        measure_all.sh --output=DIR [--part=N] [--seconds=N] [NAME...]
#   --list        Prints part, estimated seconds on an H200, name and command of each measurement, and each part's sum.
#   --output=DIR  Where the files go. A second call with the same folder goes on: finished measurements are left out, and
#                 one that was stopped keeps its rows.
#   --part=N      Only the measurements of this part; each takes less than eight minutes.
#   --seconds=N   Stops after N seconds, between two rows, and returns 3 if something is left.
#   NAME...       Only these measurements.
#
# DIR/measure_all.log has a line for each finished measurement: name, exit status, seconds, commit. Returns 0, 1 if a row
# was wrong or a program failed, 2 for bad arguments, 3 if time was up.

# name|part|estimated seconds|command, which runs in DIR. The one table: docs/results/README.md is made from it.
# `--resume` is added to what has a --csv and knows the flag.
table() {
  cat <<'END'
transpose_default|1|20|transpose_sweep --preset=default --max_seconds=0.1 --verify=fast --csv=transpose_default.csv
transpose_ladder|1|20|transpose_sweep --preset=ladder --max_seconds=0.2 --csv=transpose_ladder.csv
transpose_ragged|1|60|transpose_sweep --preset=ragged --max_seconds=0.1 --verify=fast --csv=transpose_ragged.csv
transpose_types|1|40|transpose_sweep --preset=types --max_seconds=0.1 --verify=fast --csv=transpose_types.csv
transpose_study_000|1|10|transpose_sweep --preset=study_000 --max_seconds=0.2 --verify=fast --csv=transpose_study_000.csv
transpose_study_001|1|5|transpose_sweep --preset=study_001 --max_seconds=0.2 --verify=fast --csv=transpose_study_001.csv
transpose_study_002|1|5|transpose_sweep --preset=study_002 --max_seconds=0.2 --verify=fast --csv=transpose_study_002.csv
transpose_study_003|1|5|transpose_sweep --preset=study_003 --max_seconds=0.2 --verify=fast --csv=transpose_study_003.csv
transpose_with_copies|1|10|transpose_sweep --preset=with_copies --max_seconds=0.2 --verify=fast --csv=transpose_with_copies.csv
transpose_batched|1|6|transpose_sweep --preset=batched --max_seconds=0.2 --verify=fast --csv=transpose_batched.csv
transpose_bounds|1|40|transpose_sweep --preset=bounds --max_seconds=0.1 --verify=fast --csv=transpose_bounds.csv
ceilings|1|17|ceilings --preset=bounds --max_seconds=0.2 --csv=ceilings.csv
matmul_proof|2|15|matmul_sweep --preset=proof --csv=matmul_proof.csv
matmul_default|2|12|matmul_sweep --preset=default --max_seconds=0.3 --csv=matmul_default.csv
matmul_ladder|2|55|matmul_sweep --preset=ladder --max_seconds=0.3 --verify=fast --csv=matmul_ladder.csv
matmul_limits|2|27|matmul_sweep --preset=limits --csv=matmul_limits.csv --limits_csv=matmul_limits_verdicts.csv
matmul_out_of_memory|2|5|matmul_sweep --preset=out_of_memory --csv=matmul_out_of_memory.csv
matmul_tile_width|2|6|matmul_sweep --preset=tile_width --max_seconds=0.1 --verify=fast --csv=matmul_tile_width.csv
matmul_large|2|8|matmul_sweep --sizes=8192 --implementations='naive,tiled*,cublas*' --csv=matmul_large.csv
matmul_double|2|4|matmul_sweep --sizes=512,1024,2048,4096 --implementations=naive,tiled,cublas --types=double --csv=matmul_double.csv
matmul_between|2|4|matmul_sweep --implementations=stream_k_32x64,stream_k_64x64,round_64x64,batch_64x64,stream_k_128x128,ragged,auto,cublas --pair_with=cublas --sizes=576,640,704,768,832,896,960,1024,1152,1280,1408,1664,1792,1920 --max_seconds=0.05 --verify=off --csv=matmul_between.csv
matmul_no_workspace|2|20|of() { matmul_sweep --implementations=auto,stream_k_64x64,stream_k_128x128,stream_k,warp_specialized --pair_with=cublas --workspace=asked,no --max_seconds=0.05 --verify=fast --csv=matmul_no_workspace.csv "$@"; }; of --shapes=256x256x8192,500x300x20000,1024x256x12288,1792x1792x1792,2304x2304x2304,128x11008x12288 && of --layouts=nt --shapes=32x4096x4096,1536x512x6144,2000x768x5120,5120x1000x5120 --resume
matmul_rows|2|7|matmul_sweep --implementations=thin,cublas --pair_with=cublas --shapes=1x512x512,1x1024x1024,1x2048x2048,1x3072x3072,1x4096x4096,1x6144x6144,1x8192x8192,1x12288x12288,1x16384x16384,1x256x16384,1x50000x1000,1x1000x50000 --csv=matmul_rows.csv
matmul_small_runs|2|4|twice() { matmul_sweep --implementations=auto,cublas --pair_with=cublas --sizes=2,4,8,16 --verify=off "$@"; }; twice --csv=matmul_small_runs.csv && twice --csv=scratch/again.csv && sed 1d scratch/again.csv >>matmul_small_runs.csv
matmul_tensor|2|14|matmul_sweep --types=bf16,bf16_float,fp16 --implementations=tensor,cublas --pair_with=cublas --sizes=1024,2048,4096,8192 --max_seconds=0.05 --verify=fast --memory_behaviour=never --csv=matmul_tensor.csv
matmul_tensor_ladder|2|15|matmul_sweep --preset=tensor_ladder --pair_with=cublas --max_seconds=0.05 --verify=fast --memory_behaviour=never --csv=matmul_tensor_ladder.csv
matmul_tensor_limits|2|15|matmul_sweep --preset=tensor_limits --max_seconds=0.03 --verify=off --memory_behaviour=never --csv=matmul_tensor_limits.csv --limits_csv=matmul_tensor_limits_verdicts.csv
matmul_precision|7|70|matmul_sweep --preset=precision --max_seconds=0.05 --verify=fast --memory_behaviour=never --csv=matmul_precision.csv --limits_csv=matmul_precision_verdicts.csv
matmul_tensor_8bit|2|6|of() { matmul_sweep --layouts=nt --sizes=1024,2048,4096,8192 --max_seconds=0.05 --verify=fast --memory_behaviour=never "$@" --csv=matmul_tensor_8bit.csv; }; of --types=s8_int --implementations=tensor_int8 && of --types=e4m3_bf16 --implementations=tensor_fp8,tensor_fp8_fast --resume
matmul_split|2|16|matmul_sweep --precision=fp32_split --implementations=auto,cublas --pair_with=cublas --sizes=1024,2048,4096,8192,16384 --max_seconds=0.1 --verify=fast --memory_behaviour=never --csv=matmul_split.csv
matmul_split_schemes|7|20|matmul_sweep --precision=fp32_split --implementations='split_*,cublas' --pair_with=cublas --sizes=1024,2048,4096,8192,16384 --max_seconds=0.1 --verify=fast --memory_behaviour=never --csv=matmul_split_schemes.csv
matmul_split_flat|7|31|matmul_sweep --precision=fp32_split --implementations='split_flat,split_int8,split_fp16,cublas' --pair_with=cublas --sizes=1024,2048,4096,8192,16384 --max_seconds=0.1 --verify=fast --memory_behaviour=never --csv=matmul_split_flat.csv
matmul_mixed_fp8|7|10|matmul_sweep --types=e4m3_e5m2_bf16,e5m2_e4m3_bf16 --layouts=nt --implementations=auto,cublaslt --sizes=1024,2048,4096,8192 --max_seconds=0.03 --verify=fast --memory_behaviour=never --csv=matmul_mixed_fp8.csv
matmul_front|7|120|matmul_sweep --preset=front --max_seconds=0.1 --verify=full --memory_behaviour=never --csv=matmul_front.csv
matmul_moduli|7|20|matmul_sweep --implementations=int8_moduli,cublas --pair_with=cublas --types=double --sizes=1024,2048,4096,8192,16384 --max_seconds=0.1 --verify=fast --memory_behaviour=never --csv=matmul_moduli.csv
matmul_random_split|7|15|matmul_sweep --preset=random --precision=fp32_split --least_flops=2e9 --count=100 --max_seconds=0.01 --verify=off --seed=22000201 --worst=8 --csv=matmul_random_split.csv --distribution_csv=matmul_random_split_distribution.csv
matmul_rounded|7|25|matmul_sweep --precision=bf16,fp16 --implementations=auto,cublas --pair_with=cublas --sizes=1024,2048,4096,8192,16384 --max_seconds=0.1 --verify=fast --memory_behaviour=never --csv=matmul_rounded.csv
matmul_random_rounded|7|15|matmul_sweep --preset=random --precision=bf16 --least_flops=2e9 --count=100 --max_seconds=0.01 --verify=off --seed=22000201 --worst=8 --csv=matmul_random_rounded.csv --distribution_csv=matmul_random_rounded_distribution.csv
matmul_random_bf16|7|20|matmul_sweep --preset=random --types=bf16 --count=100 --max_seconds=0.01 --verify=off --seed=22000201 --worst=8 --csv=matmul_random_bf16.csv --distribution_csv=matmul_random_bf16_distribution.csv
matmul_regret|2|80|stridewise_tune --seconds=67 --seed=22000204 --csv=scratch/matmul_tuning.csv --tuning=scratch/h200.tuning --regret_csv=matmul_regret.csv
matmul_own_kernels|2|60|matmul_sweep --preset=own_kernels --max_seconds=0.1 --max_noise=0.03 --verify=fast --csv=matmul_own_kernels.csv
matmul_crossover|6|90|matmul_sweep --preset=crossover --max_seconds=0.1 --verify=fast --csv=matmul_crossover.csv
matmul_naive_blocks|2|45|matmul_sweep --sizes=2048,4096,8192 --implementations=naive,naive_uncoalesced --blocks=16x16,32x8,32x32,256x1 --max_seconds=0.1 --verify=fast --csv=matmul_naive_blocks.csv
transpose_profile|3|75|profile --csv=transpose_profile.csv
transpose_profile_2048|3|12|profile --implementations='copy_row,copy_col,naive_*' --sizes=2048 --csv=transpose_profile_2048.csv
transpose_fast_profile|3|45|of() { profile --csv=transpose_fast_profile.csv "$@"; }; of --implementations=copy_vector,in_place_square,tile_ragged,tile_unrolled,tile_vector --sizes=8192 && of --implementations=copy_vector,tile_ragged --shapes=8193x8191 && of --implementations=copy_vector,tile_ragged,tile_vector --types=u8 --shapes=16384x16384,16383x16385 && of --implementations=copy_vector,few_columns,few_rows --shapes=9999991x7,7x9999991 && of --implementations=copy_vector,tile_vector --types=float4 --sizes=8192
matmul_profile_1024|3|60|profile --operation=matmul --sizes=1024 --csv=matmul_profile_1024.csv
matmul_profile|3|60|profile --operation=matmul --implementations='register_tile*,vectorized,warp_tile,double_buffered,stream_k,warp_specialized,auto,cublas' --sizes=4096 --csv=matmul_profile.csv
ncu_check|3|60|ncu_check.py "$(command -v matmul_sweep)" ncu_check.csv
transpose_limits|4|165|transpose_sweep --preset=limits --max_seconds=0.2 --verify=fast --csv=transpose_limits_rows.csv --limits_csv=transpose_limits.csv
transpose_fast|4|45|transpose_sweep --preset=fast --max_seconds=0.2 --verify=fast --csv=transpose_fast.csv
transpose_thin_blocks|4|40|transpose_sweep --preset=thin_blocks --max_seconds=0.05 --verify=fast --csv=transpose_thin_blocks.csv
transpose_fast_types|4|25|transpose_sweep --preset=types --implementations=copy_vector,tile_unrolled,tile_vector,tile_ragged,auto,cublas_geam --max_seconds=0.2 --verify=fast --csv=transpose_fast_types.csv
transpose_fast_ragged|4|30|transpose_sweep --shapes=8193x8191 --types=float,u8,u16,double,float4 --implementations=memcpy,copy_vector,tile_unrolled,tile_swizzled,tile_vector,tile_ragged,auto,cublas_geam,in_place_rectangular --max_seconds=0.2 --verify=fast --csv=transpose_fast_ragged.csv
transpose_block_search|4|12|block_search --verify=fast --csv=transpose_block_search.csv
transpose_block_search_more|4|30|block_search --verify=fast --implementations=naive_col,tile_unroll2_padded2_dynamic --csv=transpose_block_search_more.csv
matmul_cublas_vs_eigen|5|250|matmul_sweep --preset=cublas_vs_eigen --max_seconds=0.1 --max_noise=0.03 --verify=fast --csv=matmul_cublas_vs_eigen.csv
matmul_cpu_pitch|5|60|matmul_sweep --implementations=cpu_naive --sizes=1000,1016,1023,1024,1025,1032 --max_seconds=0.1 --verify=fast --csv=matmul_cpu_pitch.csv
executor_speed|5|30|executor_speed --csv=executor_speed.csv
call_time|5|15|call_time --csv=call_time.csv
sustained|5|70|sustained --shapes=8192x8192x8192 --type=bf16 --implementations=auto,cublas,cublaslt --seconds=10 --csv=sustained.csv
executor_counts_transpose|6|130|profile --source=both --types=float --shapes=509x387 --blocks=8x8,8x32,16x16,32x8,32x32,64x4,128x2,256x1 --csv=scratch/executor_counts_transpose.csv --counts_csv=executor_counts_transpose.csv
executor_counts_types|6|110|profile --source=both --types=u8,u16,double,float4 --shapes=261x135 --blocks=16x16 --csv=scratch/executor_counts_transpose.csv --counts_csv=executor_counts_transpose.csv
executor_counts_matmul|6|70|profile --source=both --operation=matmul --types=float,double --shapes=128x128x128,100x77x41 --blocks=8x8,16x16,32x8,256x1 --csv=scratch/executor_counts_matmul.csv --counts_csv=executor_counts_matmul.csv
matmul_random|7|25|matmul_sweep --preset=random --count=100 --max_seconds=0.01 --verify=off --seed=22000201 --worst=10 --csv=matmul_random.csv --distribution_csv=matmul_random_distribution.csv
matmul_random_2|7|20|matmul_sweep --preset=random --count=100 --max_seconds=0.01 --verify=off --seed=22000202 --worst=5 --csv=matmul_random_2.csv --distribution_csv=matmul_random_2_distribution.csv
matmul_random_no_workspace|7|16|matmul_sweep --preset=random --count=100 --max_seconds=0.01 --verify=off --seed=22000201 --workspace=no --worst=5 --csv=matmul_random_no_workspace.csv --distribution_csv=matmul_random_no_workspace_distribution.csv
transpose_random|7|45|transpose_sweep --preset=random --count=200 --max_seconds=0.01 --verify=off --seed=22000201 --worst=10 --csv=transpose_random.csv --distribution_csv=transpose_random_distribution.csv
permute_default|7|20|permute_sweep --preset=default --max_seconds=0.05 --verify=fast --csv=permute_default.csv
permute_random|7|20|permute_sweep --preset=random --count=100 --max_seconds=0.01 --verify=off --seed=22000201 --worst=5 --csv=permute_random.csv --distribution_csv=permute_random_distribution.csv
END
}

fail_usage() {
  echo "measure_all.sh: $*" >&2
  exit 2
}

# The number of a flag --NAME=N.
number() {
  case ${1#*=} in
    "" | *[!0-9]*) fail_usage "${1%%=*}: '${1#*=}' is not allowed; allowed is a number" ;;
    *) echo "${1#*=}" ;;
  esac
}

list() {
  table | awk -F'|' '
    { line = $0; sub(/^[^|]*[|][^|]*[|][^|]*[|]/, "", line) }
    { printf "part %d  %4d s  %-28s %s\n", $2, $3, $1, line; sum[$2] += $3; all += $3 }
    END { for (part = 1; part in sum; ++part) printf "part %d: %d s\n", part, sum[part]; printf "all: %d s\n", all }'
}

output=
part=
seconds=
names=
for arg in "$@"; do
  case $arg in
    --list)
      list
      exit
      ;;
    --output=?*) output=${arg#*=} ;;
    --part=*) part=$(number "$arg") || exit 2 ;;
    --seconds=*) seconds=$(number "$arg") || exit 2 ;;
    -*) fail_usage "unknown argument '$arg'; there are --list, --output=DIR, --part=N, --seconds=N and names" ;;
    *)
      table | grep -q "^$arg|" || fail_usage "'$arg' is not known; --list shows the names"
      names="$names $arg "
      ;;
  esac
done
[ -n "$output" ] || fail_usage "--output=DIR is missing"
[ -z "$part" ] || table | grep -q "^[a-z0-9_]*|$part|" || fail_usage "--part: '$part' is not known; --list shows them"

bundle=$(cd "$(dirname "$0")" && pwd) || exit 2
commit=$(cat "$bundle/COMMIT" 2>/dev/null) || fail_usage "it runs from the bundle: ./bazelw build //:gpu_bundle"
mkdir -p "$output/scratch" && cd "$output" || exit 2
log=measure_all.log
touch "$log" || exit 2
other=$(awk -v commit="$commit" '$4 != commit { print $4; exit }' "$log")
[ -z "$other" ] || fail_usage "--output: '$output' has measurements of commit $other, this bundle is $commit"

# shellcheck source=tools/cuda_libraries.sh
. "$bundle/cuda_libraries.sh"
export LD_LIBRARY_PATH="$libraries" PATH="$bundle/benchmarks:$bundle:$PATH"
now() { date +%s; }
start=$(now)

# measure COMMAND: runs it; returns 124 if time was up.
measure() {
  command=$(printf '%s\n' "$1" | sed -E '/^(executor_speed|call_time|ncu_check|sustained)/!s/ --csv=/ --resume --csv=/g')
  [ -n "$seconds" ] || {
    sh -c "$command" </dev/null
    return
  }
  left=$((start + seconds - $(now)))
  [ "$left" -gt 0 ] || return 124
  timeout --signal=INT --kill-after=60 "$left" sh -c "$command" </dev/null
}

wrong=0
while IFS='|' read -r name of_part estimate command <&3; do
  [ -z "$part" ] || [ "$of_part" = "$part" ] || continue
  case $names in "" | *" $name "*) ;; *) continue ;; esac
  ! grep -q "^$name " "$log" || continue
  begin=$(now)
  echo "=== $name, about $estimate s: $command"
  measure "$command"
  status=$?
  took=$(($(now) - begin))
  case $status in
    0 | 1) echo "$name $status $took $commit" >>"$log" ;;
    124 | 130 | 137)
      echo "measure_all.sh: stopped in $name after $took s; the same call goes on there"
      exit 3
      ;;
  esac
  [ "$status" = 0 ] || {
    wrong=1
    echo "measure_all.sh: $name returned $status"
  }
done 3<<END
$(table)
END
exit $wrong

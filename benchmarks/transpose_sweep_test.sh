#!/bin/sh
# transpose_sweep as its user sees it: exit codes, a row for each configuration, resuming. What all sweeps share is in
# matmul_sweep_test. Runs with and without a GPU.

program=$PWD/benchmarks/transpose_sweep
. "$PWD/benchmarks/harness/program_test.sh"

host='--implementations=cpu_naive_row,eigen --max_seconds=0.01'

# Bad input: one line, exit code 2, and what was measured before is still there.
expect_exit 0 $host --sizes=4,5 --csv=kept.csv
cp kept.csv before.csv
expect_refused --sizes --sizes=5:1:1 --csv=kept.csv
expect_refused --shapes --shapes=3x4x5 --csv=kept.csv
expect_refused --shapes --shapes=99999999999x2 --csv=kept.csv
expect_refused --shapes --shapes=2147483648x2147483648 --csv=kept.csv
expect_refused --kernels --kernels=tile_round --csv=kept.csv
expect_refused --implementations --preset=bounds --implementations=naive_row --csv=kept.csv
expect_refused --kernels --kernels=eigen --implementations=eigen --csv=kept.csv
expect_refused --pair_with --pair_with=eigen --csv=kept.csv
expect_refused --types --preset=random --types=u8 --csv=kept.csv
expect_refused --workspace --workspace=no --csv=kept.csv
expect_refused --preset --preset=nonsense --csv=kept.csv
expect_refused --types --types=half --csv=kept.csv
expect_refused --blocks --blocks=64x32 --csv=kept.csv
expect_refused --blocks --blocks=0x32 --csv=kept.csv
for batch in 0 -1 1.5 many 2147483649; do expect_refused --batch --batch=$batch --csv=kept.csv; done
expect_refused --batch --batch=3 --shapes=1048576x1048576 --csv=kept.csv
expect_refused batch --batch=3 --implementations=naive_row,eigen --csv=kept.csv
expect_refused --limits_csv --limits_csv=limits.csv --csv=kept.csv
expect_exit 0 --kernels=cpu_naive_row,eigen --sizes=4,5 --pair_with=cublas_geam --csv=kept.csv --resume # Nothing is new.
for gpus in 2 0x1 many; do expect_refused --gpus --gpus=$gpus --csv=kept.csv; done
expect_refused --grid_block --gpus=1x1 --grid_block=0 --csv=kept.csv
expect_refused --types --gpus=1x1 --types=u8 --csv=kept.csv
expect_refused --counters --gpus=1x1 --counters=cpu.cycles --csv=kept.csv
cmp -s kept.csv before.csv || fail "bad input changed a file of results"

# Grids of more GPUs than there are: rows that say so.
expect_exit 0 --gpus=64x64 --sizes=8 --types=float,double --csv=grids.csv
cells grids.csv implementation dtype grid grid_block ranks status >grids.txt
for row in exchange,float exchange,double cublasmp,float cublasmp,double; do
  grep -q "^$row,64x64,2048,4096,skipped$" grids.txt || fail "--gpus=64x64 has no $row: $(cat grids.txt)"
done

# Every configuration has its row, a GPU or not; no row is wrong.
expect_exit 0 --sizes=0,33 --shapes=3x5,1x70000 --types=u8,float,float4 --max_seconds=0.01 --memory_behaviour=never --csv=all.csv
implementations=$("$program" --list | sed '/^Presets/,$d' | grep -c '^  ')
[ "$(rows all.csv)" = $((4 * 3 * implementations)) ] || fail "all.csv has $(rows all.csv) rows"
grep -q ',ok,' all.csv || fail "no row is ok"
! grep -E ',(mismatch|error),' all.csv || fail "a row is wrong"

# What a library cannot do is a row too: cuBLAS has no transpose of bytes.
grep -E ',transpose,cublas_geam,u8,' all.csv | grep -q -v -E ',(unsupported|skipped),' &&
  fail "cublas_geam takes bytes: $(grep cublas_geam,u8 all.csv)"
[ "$(grep -c ',transpose,cublas_geam,u8,' all.csv)" = 4 ] || fail "cublas_geam's u8 rows are not there"
grep -q ',copy,copy_vector,' all.csv || fail "a copy's row does not say copy"

# Squares only, in place: other shapes have a row that says so.
grep -q ',transpose_in_place,in_place_square,float,,33,33,' all.csv || fail "no in-place row of a square"
[ "$(grep -c ',unsupported,in_place_square takes squares only' all.csv)" = 6 ] ||
  grep -q ',in_place_square,.*,skipped,' all.csv || fail "squares: $(grep in_place_square all.csv)"

# Batches: copies and what takes them; one matrix leaves the cell empty, as rows of older files do.
expect_exit 0 --shapes=7x5 --batch=3 --max_seconds=0.01 --csv=batch.csv
grep -q ',copy,memcpy,' batch.csv || fail "a batch leaves out the copies: $(cat batch.csv)"
! grep -q ',transpose,naive_row,' batch.csv || fail "naive_row takes batches: $(cat batch.csv)"
[ "$(cells batch.csv batch layout alpha beta | grep -c '^3,,,$')" = "$(rows batch.csv)" ] || fail "batch.csv has rows of no batch: $(cat batch.csv)"
! grep -E ',(mismatch|error),' batch.csv || fail "a batch is wrong"
before=$(rows batch.csv)
expect_exit 0 --shapes=7x5 --implementations=memcpy --max_seconds=0.01 --csv=batch.csv --resume
expect_exit 0 --shapes=7x5 --implementations=memcpy --batch=1 --max_seconds=0.01 --csv=batch.csv --resume
[ "$(rows batch.csv)" = $((before + 1)) ] || fail "one matrix and a batch are one row, or 1 and nothing are two"

# The limits' verdicts come from the file of results, too; a limit that is missed or not measured is no failure.
expect_exit 0 --preset=limits --implementations=in_place_rectangular --types=u8 --verify=off --max_seconds=0.01 \
  --csv=limits_rows.csv --limits_csv=limits.csv --sizes=4
grep -q '^limits: 0 passed, 0 failed, 51 not measured' out || fail "no verdicts: $(tail -3 out)"
head -1 limits.csv | grep -q '^case,implementation,rows,cols,dtype,batch,ratio_to_memcpy,floor,aim,ratio_to_cublas_geam,' ||
  fail "limits.csv: $(head -1 limits.csv)"
[ "$(rows limits.csv)" = 51 ] || fail "limits.csv has $(rows limits.csv) rows"

# Blocks are for the kernels that take any; each is a row.
expect_exit 0 --sizes=33 --implementations=naive_row,tile_square,eigen --blocks=8x8,16x4 --max_seconds=0.01 --csv=blocks.csv
[ "$(rows blocks.csv)" = 4 ] || fail "blocks.csv has $(rows blocks.csv) rows"

# Longer than any size of a square may be, for the CPU too.
expect_exit 0 $host --shapes=33554432x1,1x33554432 --types=u8 --csv=long.csv
[ "$(grep -c ',ok,' long.csv)" = 4 ] || fail "long.csv: $(cat long.csv)"

# --verify in all its modes; --resume measures only what is missing.
expect_exit 0 $host --sizes=64 --verify=fast --csv=resumed.csv
expect_exit 0 $host --sizes=64,65 --verify=off --csv=resumed.csv --resume
[ "$(rows resumed.csv)" = 4 ] || fail "--resume left $(rows resumed.csv) rows"

# The host executor tells of the kernels' memory behaviour, a GPU or not, for small shapes or for all.
behaviour='--implementations=naive_row,eigen --max_seconds=0.01'
expect_refused --memory_behaviour --memory_behaviour=sometimes
expect_exit 0 $behaviour --sizes=64,4096 --csv=behaviour.csv
[ "$(grep -c ',100,25,512,2048,' behaviour.csv)" = 1 ] || fail "--memory_behaviour=auto: $(cat behaviour.csv)"
expect_exit 0 $behaviour --sizes=64 --memory_behaviour=never --csv=never.csv
! grep -q ',512,2048,' never.csv || fail "--memory_behaviour=never: $(cat never.csv)"
expect_exit 0 $behaviour --shapes=1x65536 --blocks=1024x1 --memory_behaviour=always --csv=always.csv
grep -q ',100,100,8192,8192,' always.csv || fail "--memory_behaviour=always: $(cat always.csv)"
expect_exit 0 $behaviour --sizes=64 --csv=never.csv --resume
! grep -q ',512,2048,' never.csv || fail "--resume changed a row that was there"

# Matrices in host memory, by name: a row on a GPU, and skipped with its name where there is none.
expect_exit 0 --implementations=streamed --sizes=300 --max_seconds=0.01 --verify=full --csv=streamed.csv
[ "$(grep -c ',streamed,.*,\(ok\|skipped\),' streamed.csv)" = 1 ] || fail "streamed: $(cat streamed.csv)"

# Too large for any memory is a row, and the sweep goes on.
expect_exit 0 $host --sizes=16777216,4 --csv=large.csv
[ "$(grep -c ',out_of_memory,' large.csv)" = 2 ] || fail "no out_of_memory rows: $(cat large.csv)"
[ "$(grep -c ',ok,' large.csv)" = 2 ] || fail "the sweep did not go on after out_of_memory"

# Random shapes are judged beside the driver's copy, small ones by time.
expect_exit 0 --preset=random --seed=3 --count=4 --max_seconds=0.01 --verify=fast --worst=1 --csv=random.csv \
  --distribution_csv=distribution.csv
[ "$(grep -c ',auto,' random.csv)" = 4 ] || fail "random.csv: $(cat random.csv)"
if grep -q ',auto,.*,ok,' random.csv; then
  grep -q '^transpose,all,,' distribution.csv || fail "distribution.csv: $(cat distribution.csv)"
  grep -q '^The 1 worst by ' out || fail "no worst shape: $(cat out)"
else
  [ "$(rows distribution.csv)" = 0 ] || fail "a distribution of nothing: $(cat distribution.csv)"
fi

# Help and lists are no errors.
expect_exit 0 --help
grep -q -e '--implementations' out && grep -q -e '--kernels' out || fail "--help does not tell of the flags"
grep -q -e '^  transpose_sweep --list ' out || fail "--help has no examples"
expect_exit 0 --list
grep -q thin_blocks out || fail "--list does not tell of the presets"
expect_exit 0 --list --preset=study_003 --implementations='naive_row,cpu*'
printf '%s\n' '--implementations=cpu_naive_row --shapes=2048x2048 --types=int' \
  '--implementations=naive_row --shapes=2048x2048 --types=int --blocks=32x32' | cmp -s - out ||
  fail "--list of a preset: $(cat out)"
expect_exit 0 --list --preset=study_000
grep -q -e '--implementations=copy_row --shapes=4096x4096 --types=float --blocks=16x16' out || fail "no 4096: $(cat out)"

finish

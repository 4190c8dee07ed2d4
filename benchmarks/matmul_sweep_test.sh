#!/bin/sh
# matmul_sweep as its user sees it: exit codes, what stands in the file, resuming, Ctrl-C. Runs with and without a GPU.

program=$PWD/benchmarks/matmul_sweep
ceilings=$PWD/benchmarks/ceilings
. "$PWD/benchmarks/harness/program_test.sh"

host='--implementations=cpu_naive,eigen --max_seconds=0.01'

# Bad input: one line, exit code 2, and what was measured before is still there.
expect_exit 0 $host --sizes=4,5 --csv=kept.csv
cp kept.csv before.csv
expect_refused --sizes --sizes=5:1:1 --csv=kept.csv
expect_refused --sizes --sizes=-3 --csv=kept.csv
expect_refused --sizes --sizes=999999999999 --csv=kept.csv
expect_refused --sizes --sizes=1,,2 --csv=kept.csv
expect_refused --shapes --shapes=3x4 --csv=kept.csv
expect_refused --implementations --implementations=cubals --csv=kept.csv
expect_refused --kernels --kernels=cubals --csv=kept.csv
expect_refused --kernels --kernels=eigen --implementations=eigen --csv=kept.csv
expect_refused --preset --preset=nonsense --csv=kept.csv
expect_refused --types --types=half --csv=kept.csv
expect_refused --blocks --blocks=64x64 --csv=kept.csv
for layouts in nx n nn_row nn,,tt; do expect_refused --layouts --layouts=$layouts --csv=kept.csv; done
for factor in nan inf 1e31 half; do
  expect_refused --alpha --alpha=$factor --csv=kept.csv
  expect_refused --beta --beta=$factor --csv=kept.csv
done
for batch in 0 -1 1.5 many 2147483649; do expect_refused --batch --batch=$batch --csv=kept.csv; done
expect_refused --batch --batch=3 --shapes=1048576x1048576x1 --csv=kept.csv
expect_refused --implementations --implementations=tiled --sizes=4 --batch=3 --csv=kept.csv
expect_refused --pair_with --pair_with=naive --csv=kept.csv
expect_refused --limits_csv --limits_csv=limits.csv --csv=kept.csv
for flag in --distribution_csv=d.csv --count=5 --shape_family=model --worst=5; do
  expect_refused "${flag%=*}" "$flag" --csv=kept.csv
done
for count in 0 -1 1.5 many 100001; do expect_refused --count --preset=random --count=$count --csv=kept.csv; done
for worst in -1 1001 many; do expect_refused --worst --preset=random --worst=$worst --csv=kept.csv; done
expect_refused --shape_family --preset=random --shape_family=nonsense --csv=kept.csv
expect_refused --count --preset=random --sizes=4 --count=5 --csv=kept.csv
expect_refused --batch --preset=random --batch=2 --csv=kept.csv
expect_refused --layouts --preset=random --layouts=nn --csv=kept.csv
for workspace in yes no,,asked 64; do expect_refused --workspace --workspace=$workspace --csv=kept.csv; done
expect_refused --l2 --l2=warm --csv=kept.csv
expect_refused --verify --verify=maybe --csv=kept.csv
expect_refused --max_noise --max_noise=2 --csv=kept.csv
expect_refused --max_noise --max_noise=nan --csv=kept.csv
expect_refused --max_seconds --max_seconds=0 --csv=kept.csv
expect_refused --max_seconds --max_seconds=fast --csv=kept.csv
expect_refused --device --device=-1 --csv=kept.csv
expect_refused --size --size=5 --csv=kept.csv
for gpus in 2 2x 0x1 2x2x2 65x1 many; do expect_refused --gpus --gpus=$gpus --csv=kept.csv; done
for block in 0 -1 2x2 many; do expect_refused --grid_block --gpus=1x1 --grid_block=$block --csv=kept.csv; done
expect_refused --grid_block --grid_block=64 --csv=kept.csv
expect_refused --layouts --gpus=1x1 --layouts=nt --csv=kept.csv
expect_refused --types --gpus=1x1 --types=double --csv=kept.csv
expect_refused --preset --gpus=1x1 --preset=random --csv=kept.csv
expect_refused stray stray --csv=kept.csv
expect_refused "--csv: .*no_such_folder" $host --sizes=4 --csv=no_such_folder/x.csv
expect_refused "--distribution_csv: .*no_such_folder" --preset=random --distribution_csv=no_such_folder/x.csv --csv=kept.csv
cmp -s kept.csv before.csv || fail "bad input changed a file of results"

# Grids of more GPUs than there are: rows that say so.
expect_exit 0 --gpus=64x64 --sizes=8,16 --grid_block=4 --csv=grids.csv
cells grids.csv implementation rows grid grid_block ranks status >grids.txt
[ "$(grep -c '^summa,.*,64x64,4,4096,skipped$' grids.txt)" = 2 ] || fail "--gpus=64x64: $(cat grids.txt)"
[ "$(grep -c '^cublasmp,.*,64x64,4,4096,skipped$' grids.txt)" = 2 ] || fail "--gpus=64x64: $(cat grids.txt)"
expect_exit 0 --gpus=64x64,32x64 --sizes=8,16 --grid_block=4 --csv=grids.csv --resume
[ "$(rows grids.csv)" = 12 ] || fail "--resume with another grid leaves $(rows grids.csv) rows"

# Pools of threads sleep soon, also the program's own, unless the user says how long they wait.
spins() { OMP_DISPLAY_ENV=verbose "$program" --help 2>&1 | grep -c "GOMP_SPINCOUNT = '30000'"; }
[ "$(spins)" = 1 ] || fail "the program's threads wait as long as libgomp has it"
[ "$(GOMP_SPINCOUNT=7 spins)" = 0 ] || fail "GOMP_SPINCOUNT was not kept"

# Every configuration has its row, a GPU or not; every row has as many cells as the header. Kernels of tensor cores, which
# take no FP32, have no rows of it.
expect_exit 0 --sizes=0,7 --shapes=3x5x2 --types=float,double --max_seconds=0.01 --csv=all.csv
planned=$("$program" --list --sizes=0,7 --shapes=3x5x2 --types=float,double | grep -c '^--implementations=')
[ "$(rows all.csv)" = "$planned" ] || fail "all.csv has $(rows all.csv) rows, not $planned"
grep -q ',ok,' all.csv || fail "no row is ok"
! grep -E ',(mismatch|error),' all.csv || fail "a row is wrong"

# The host executor tells of the kernels' memory behaviour, a GPU or not.
expect_exit 0 --implementations=naive,tiled --sizes=32,1024 --max_seconds=0.01 --verify=fast --csv=behaviour.csv
[ "$(grep -c ',32,32,32,.*,100,100,256,128,1,1,,53' behaviour.csv)" = 1 ] || fail "behaviour.csv: $(cat behaviour.csv)"
[ "$(cells behaviour.csv rows load_efficiency store_transactions achieved_occupancy branch_efficiency | grep -c '^1024,,,,$')" = 2 ] ||
  fail "1024 is not small: $(cat behaviour.csv)"

# The general form is a part of the configuration; A * B has empty cells, as rows of older files have none.
expect_exit 0 $host --shapes=3x5x2 --layouts=nn,tt_col --beta=0.5 --batch=4 --csv=forms.csv
for form in ok,4,,,0.5 ok,4,tt_col,,0.5; do
  [ "$(cells forms.csv status batch layout alpha beta | grep -c "^$form$")" = 2 ] || fail "no $form: $(cat forms.csv)"
done
expect_exit 0 $host --shapes=3x5x2 --csv=forms.csv --resume
expect_exit 0 $host --shapes=3x5x2 --layouts=nn --alpha=1 --beta=0 --batch=1 --csv=forms.csv --resume
[ "$(rows forms.csv)" = 6 ] || fail "the plain form is two rows, or one with another: $(cat forms.csv)"
columns_before layout kept.csv >older.csv
cp older.csv before_layout.csv
expect_exit 0 $host --sizes=4,5 --csv=older.csv --resume
[ "$(head -1 older.csv)" = "$(head -1 kept.csv)" ] || fail "--resume of an older file adds no columns: $(head -1 older.csv)"
columns_before layout older.csv | cmp -s before_layout.csv - || fail "--resume of an older file: $(cat older.csv)"
[ "$(cells older.csv layout vs_cublas step | grep -c '^,,$')" = 4 ] || fail "--resume made cells up: $(cat older.csv)"

# The step of the ladder, of implementations that are one, and the columns that are empty without counters; files from
# before them are gone on with.
head -1 kept.csv | grep -q ',vs_cublas,step,compute_pct_of_peak,' || fail "no step: $(head -1 kept.csv)"
[ "$(cells kept.csv implementation step | grep -c '^cpu_naive,1$')" = 2 ] || fail "cpu_naive is step 1: $(cat kept.csv)"
columns_before step kept.csv >no_step.csv
expect_exit 0 $host --sizes=4,5,6 --csv=no_step.csv --resume
[ "$(rows no_step.csv)" = 6 ] || fail "--resume of a file without steps: $(cat no_step.csv)"

# Both names of the flag select the same; what rows are paired with is the user's choice.
expect_exit 0 --kernels=cpu_naive,eigen --max_seconds=0.01 --sizes=4,5 --csv=kept.csv --resume
expect_exit 0 $host --sizes=4,5 --pair_with=cublas --csv=kept.csv --resume
cmp -s kept.csv before.csv || fail "--kernels is not --implementations: $(cat kept.csv)"

# Of BF16, which Eigen does not multiply, the ratio is oneDNN's, in its own column, where that library is installed.
expect_exit 0 --implementations=cpu_packed,onednn_matmul_1core --types=float,bf16_float --sizes=16 --max_seconds=0.01 \
  --pair_with=eigen --csv=paired.csv
cells paired.csv implementation dtype vs_eigen vs_onednn status >pairs
grep -q '^cpu_packed,float,[0-9.]*[0-9][0-9.]*,,ok$' pairs || fail "float beside Eigen: $(cat pairs)"
if grep -q '^onednn_matmul_1core,bf16_float,.*,ok$' pairs; then
  grep -q '^cpu_packed,bf16_float,,[0-9.]*[0-9][0-9.]*,ok$' pairs || fail "BF16 beside oneDNN: $(cat pairs)"
fi

# The limits' verdicts come from the file of results, too; a limit that is not measured is no failure.
expect_exit 0 --preset=limits --implementations=auto --sizes=5 --max_seconds=0.01 --csv=limits_rows.csv --limits_csv=limits.csv
grep -q '^limits: 0 passed, 0 failed, 35 not measured' out || fail "no verdicts: $(tail -3 out)"
head -1 limits.csv | grep -q '^case,implementation,rows,cols,depth,dtype,layout,alpha,beta,workspace,precision,epilogue,batch,ratio_to_cublas,floor,verdict' ||
  fail "limits.csv: $(head -1 limits.csv)"
[ "$(rows limits.csv)" = 35 ] || fail "limits.csv has $(rows limits.csv) rows"

# Random shapes: a row for each and variant, the same for the same seed, and a distribution of what was measured.
expect_exit 0 --preset=random --seed=3 --count=6 --list
[ "$(wc -l <out)" = 6 ] && [ "$(grep -c -e '--implementations=auto ' out)" = 6 ] || fail "--list: $(cat out)"
cp out listed
expect_exit 0 --preset=random --seed=3 --count=4 --list
head -4 listed | cmp -s - out || fail "fewer shapes are others: $(cat out)"
expect_exit 0 --preset=random --seed=4 --count=6 --list
! cmp -s listed out || fail "another seed has the same shapes"
expect_exit 0 --preset=random --seed=3 --count=4 --shape_family=batched --workspace=asked,no --max_seconds=0.01 \
  --worst=1 --csv=random.csv --distribution_csv=distribution.csv
[ "$(grep -c ',auto,.*,batched,' random.csv)" = 8 ] && [ "$(grep -c ',no,batched,' random.csv)" -ge 4 ] ||
  fail "random.csv: $(cat random.csv)"
head -1 distribution.csv |
  grep -q '^operation,family,variant,metric,count,geomean,median,p25,p5,p1,worst,worse_than_1,git_commit' ||
  fail "distribution.csv: $(cat distribution.csv)"
if grep -q ',auto,.*,ok,' random.csv; then
  grep -q '^matmul,batched,,vs_cublas,4,' distribution.csv && grep -q '^matmul,all,workspace=no,vs_cublas,4,' distribution.csv ||
    fail "distribution.csv: $(cat distribution.csv)"
  grep -q '^The 1 worst by vs_cublas, workspace=no:' out || fail "no worst shape: $(cat out)"
  [ "$(rows random.csv)" -gt 12 ] || fail "no kernels at the worst shape: $(cat random.csv)"
else
  [ "$(rows random.csv)" = 8 ] && [ "$(rows distribution.csv)" = 0 ] || fail "a distribution of nothing: $(cat distribution.csv)"
fi
expect_exit 0 --preset=random --seed=3 --count=2 --implementations=tiny --max_seconds=0.01 --worst=0 --csv=tiny.csv \
  --distribution_csv=of_tiny.csv
[ "$(grep -c ',tiny,' tiny.csv)" = 2 ] && ! grep -q ',auto,' tiny.csv || fail "tiny.csv: $(cat tiny.csv)"
if grep -q ',tiny,.*,ok,' tiny.csv; then
  grep -q '^matmul,all,,vs_cublas,2,' of_tiny.csv || fail "of_tiny.csv: $(cat of_tiny.csv)"
fi
cp random.csv before_random.csv
expect_exit 0 --preset=random --seed=3 --count=4 --shape_family=batched --workspace=no --max_seconds=0.01 --worst=1 \
  --csv=random.csv --resume
cmp -s random.csv before_random.csv || fail "--resume measured something again"

# A second run keeps the first one's file; --resume measures only what is missing.
expect_exit 0 $host --sizes=4,5 --csv=resumed.csv
expect_exit 0 $host --sizes=6 --csv=resumed.csv
[ "$(rows resumed.csv)" = 2 ] && [ "$(rows resumed.csv.bak)" = 4 ] || fail "no .bak of the first run"
expect_exit 0 $host --sizes=4,5,6 --csv=resumed.csv --resume
[ "$(rows resumed.csv)" = 6 ] || fail "--resume left $(rows resumed.csv) rows"
head -c 2500 resumed.csv >cut.csv  # As a killed program leaves it: within a row.
expect_exit 0 $host --sizes=4,5,6 --csv=cut.csv --resume
[ "$(rows cut.csv)" = 6 ] || fail "--resume of a cut file left $(rows cut.csv) rows"
printf 'a,b\r\n1,2\r\n' >foreign.csv
expect_refused foreign.csv $host --sizes=4 --csv=foreign.csv --resume
[ "$(rows foreign.csv)" = 1 ] || fail "--resume changed a file that is not ours"

# Matrices in host memory, by name: a row on a GPU, and skipped with its name where there is none.
expect_exit 0 --implementations=streamed --sizes=300 --max_seconds=0.01 --verify=full --csv=streamed.csv
[ "$(grep -c ',streamed,.*,\(ok\|skipped\),' streamed.csv)" = 1 ] || fail "streamed: $(cat streamed.csv)"

# Too large for any memory is a row, and the sweep goes on.
expect_exit 0 $host --sizes=16777216,4 --csv=large.csv
[ "$(grep -c ',out_of_memory,' large.csv)" = 2 ] || fail "no out_of_memory rows: $(cat large.csv)"
[ "$(grep -c ',ok,' large.csv)" = 2 ] || fail "the sweep did not go on after out_of_memory"

# Relative paths start where `bazel run` was called.
mkdir called_here
BUILD_WORKING_DIRECTORY=$work/called_here expect_exit 0 $host --sizes=4 --csv=here.csv
[ -f called_here/here.csv ] || fail "a relative path does not start at BUILD_WORKING_DIRECTORY"

# CSV on standard output, and nothing else there.
expect_exit 0 $host --sizes=4 --csv=-
[ "$(rows out)" = 2 ] || fail "--csv=- prints more than the CSV: $(cat out)"
head -n 1 out | grep -q '^schema_version,' || fail "--csv=- does not begin with the header"

# Ctrl-C: finished rows stay, exit code 130.
"$program" --implementations=cpu_naive --sizes=64:2000:1 --max_seconds=0.05 --csv=cut_short.csv >out 2>err &
pid=$!
tries=0
while [ "$tries" -lt 600 ] && { [ ! -f cut_short.csv ] || [ "$(rows cut_short.csv)" -lt 3 ]; }; do
  sleep 0.1
  tries=$((tries + 1))
done
kill -INT "$pid"
wait "$pid"
code=$?
[ "$code" = 130 ] || fail "after Ctrl-C the exit code is $code"
[ "$(rows cut_short.csv)" -ge 3 ] || fail "Ctrl-C lost rows"
[ "$(tail -c 1 cut_short.csv | od -An -c | tr -d ' ')" = '\n' ] || fail "the last row is not whole"

# Help and lists are no errors.
expect_exit 0 --help
grep -q -e '--max_noise' out || fail "--help does not tell of the flags"
expect_exit 0 --list
grep -q cublas_vs_eigen out || fail "--list does not tell of the presets"

"$ceilings" --sizes=64 --csv=copies.csv --max_seconds=0.01 >out 2>err || fail "ceilings: $(cat err)"
[ "$(rows copies.csv)" = 2 ] || fail "ceilings wrote $(rows copies.csv) rows"
"$ceilings" --sizes=x --csv=copies.csv >out 2>err
[ $? = 2 ] || fail "ceilings accepts --sizes=x"

finish

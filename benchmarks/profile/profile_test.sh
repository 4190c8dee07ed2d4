#!/bin/sh
# profile as its user sees it: exit codes and rows. Runs with and without a GPU, with and without ncu.

program=$PWD/benchmarks/profile/profile
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --kernels --kernels=nonsense
expect_refused --implementations --implementations=nonsense
expect_refused --kernels --kernels=naive_row --implementations=naive_row
expect_refused --layouts --layouts=tn
expect_refused --blocks --blocks=64x32
expect_refused --blocks --blocks=0x32
expect_refused --types --types=half
expect_refused --sizes --sizes=-1
expect_refused --shapes --shapes=3
expect_refused --ncu --ncu=no_such_program
expect_refused --source --source=nonsense
expect_refused --operation --operation=copy
expect_refused --kernels --operation=matmul --kernels=tile_square
expect_refused --types --operation=matmul --types=u8
expect_refused --shapes --operation=matmul --shapes=3x4
expect_refused --counts_csv --counts_csv=counts.csv --source=executor
expect_refused --predicted_csv --predicted_csv=predicted.csv --source=ncu --ncu=/bin/true
expect_refused --machine --machine=h300
expect_refused --run_once --run_once --kernels='naive*' --sizes=4

# Without a GPU, or with one but without ncu, every configuration still has its row and the reason.
expect_exit 0 --implementations='naive_*,tile_square,cublas_geam' --sizes=0 --blocks=8x8,32x8 --csv=empty.csv
[ "$(rows empty.csv)" = 6 ] || fail "empty.csv has $(rows empty.csv) rows"
! grep -E ',(ok|mismatch|error),' empty.csv || fail "an empty matrix was profiled"

# What has no kernel is unsupported, and says so.
expect_exit 0 --implementations='cpu_naive*,eigen,memcpy' --sizes=4 --csv=none.csv
[ "$(rows none.csv)" = 4 ] || fail "none.csv has $(rows none.csv) rows"
[ "$(grep -c ',unsupported,it has no kernel' none.csv)" = 4 ] || fail "not unsupported: $(cat none.csv)"

# The host executor needs neither, and knows neither occupancy nor time.
expect_exit 0 --source=executor --implementations='naive_row,tile_square,cublas_geam' --shapes=64x32 --csv=executor.csv
[ "$(grep -c ',ok,' executor.csv)" = 2 ] || fail "not ok: $(cat executor.csv)"
grep -q ',unsupported,cublas_geam' executor.csv || fail "no reason: $(cat executor.csv)"
grep -q ',100,25,256,1024,,,,,' executor.csv || fail "naive_row: $(cat executor.csv)"
grep -q ',100,100,256,256,32,1,,6.06060606,' executor.csv || fail "tile_square: $(cat executor.csv)"

# Beside the counts stands a time that nobody measured.
expect_exit 0 --source=executor --implementations='naive_row,tile_square,cublas_geam' --shapes=64x32 --csv=executor2.csv \
  --machine=rtx3080 --predicted_csv=predicted.csv
[ "$(rows predicted.csv)" = 2 ] || fail "predicted.csv: $(cat predicted.csv)"
grep -q '^transpose,tile_square,float,64,32,,32,32,rtx3080,0.00' predicted.csv || fail "$(cat predicted.csv)"
grep -q 'Predicted for GeForce RTX 3080, not measured' out || fail "not marked as predicted: $(cat out)"
expect_exit 0 --operation=matmul --source=executor --implementations='naive*,tiled*,cublas' --shapes=64x32x16 --types=float,double \
  --csv=matmul.csv
[ "$(grep -c '^1,.*,matmul,.*,ok,' matmul.csv)" = 10 ] || fail "matmul.csv: $(cat matmul.csv)"

# Without a GPU, or with one but without ncu, what is compared is only half there, and the row says why.
PATH=/usr/bin:/bin expect_exit 0 --source=both --implementations=naive_row --sizes=64 --csv=both.csv --counts_csv=counts.csv
[ "$(rows both.csv)" = 1 ] && [ "$(rows counts.csv)" = 8 ] || fail "--source=both: $(cat both.csv counts.csv)"
grep -q 'transpose,naive_row,float,64,64,,16,16,global_store_sectors,2048,' counts.csv || fail "$(cat counts.csv)"
if ! grep -q ',ok,' both.csv; then
  grep -q -e ',skipped,.' -e ',unsupported,.' both.csv || fail "no reason: $(cat both.csv)"
  grep -q '512/?' out || fail "nothing was predicted: $(cat out)"
fi

# An older file, from before `shared_efficiency`, gets what it lacks and is gone on with; one that lacks more is refused.
expect_exit 0 --kernels=memcpy --sizes=4 --csv=old.csv
lacking=$(head -1 old.csv | sed 's/.*,shared_efficiency,/x,/' | tr , '\n' | wc -l)
sed -i 's/,shared_efficiency,.*\r$/\r/; 2,$s/\(,[^,]*\)\{'"$lacking"'\}\r$/\r/' old.csv
expect_exit 0 --implementations=memcpy --sizes=4,5 --csv=old.csv --resume
head -1 old.csv | grep -q ',achieved_occupancy,shared_efficiency,branch_efficiency,batch' || fail "old.csv: $(cat old.csv)"
[ "$(rows old.csv)" = 2 ] || fail "--resume of an older file left $(rows old.csv) rows"
cut -d, -f1-9 old.csv >older.csv
cp older.csv before.csv
expect_refused columns --implementations=memcpy --sizes=5 --csv=older.csv --resume
cmp -s older.csv before.csv || fail "--resume changed an older file"

expect_exit 0 --help
grep -q -e '--ncu' out || fail "--help does not tell of the flags"
expect_exit 0 --list
grep -q tile_square out || fail "--list does not tell of the kernels"

finish

#!/bin/sh
# block_search as its user sees it: exit codes, rows, lists. Runs with and without a GPU.

program=$PWD/benchmarks/tuning/block_search
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --kernel --kernel=nonsense
for name in --implementations --kernels; do expect_refused $name $name=nonsense; done
expect_refused --kernel --kernel=naive_row --implementations=naive_row
expect_refused --kernels --kernels=naive_row --implementations=naive_row
expect_refused --batch --batch=2
expect_refused --blocks --blocks=8x8
expect_refused --layouts --layouts=tn
expect_refused --kernel --kernel=tile_square # Its block is fixed.
expect_refused --sizes --sizes=-1
expect_refused --shapes --shapes=3
expect_refused --types --types=half
[ ! -e block_search.csv ] || fail "bad input wrote a file of results"

# Every block has its row, whatever became of it; --resume adds only what is missing.
quick='--max_seconds=0.01 --sizes=64'
expect_exit 0 --kernel='naive_row' $quick --csv=blocks.csv
[ "$(rows blocks.csv)" = 111 ] || fail "blocks.csv has $(rows blocks.csv) rows"
! grep -E ',(mismatch|error),' blocks.csv || fail "a row is wrong"
if grep -q ',ok,' blocks.csv; then
  grep -q '^naive_row float 64x64: best is ' out || fail "the best block is not named: $(cat out)"
fi
cp blocks.csv before.csv
expect_exit 0 --kernel='naive_row' $quick --csv=blocks.csv --resume
cmp -s blocks.csv before.csv || fail "--resume measured something again"
expect_exit 0 --implementations='naive_row,naive_col' $quick --csv=blocks.csv --resume
[ "$(rows blocks.csv)" = 222 ] || fail "--resume left $(rows blocks.csv) rows"

expect_exit 0 --help
grep -q -e '--kernel' out || fail "--help does not tell of the flags"
expect_exit 0 --list
grep -q tile_unroll2_padded_dynamic out || fail "--list does not tell of the kernels"
! grep -q tile_square out || fail "--list tells of kernels that take no block"

finish

#!/bin/sh
# block_search as its user sees it: exit codes and rows. Runs with and without a GPU.

program=$PWD/benchmarks/block_search
. "$PWD/benchmarks/program_test.sh"

expect_refused --kernel --kernel=nonsense
expect_refused --kernel --kernel=tile_square # Its block is fixed.
expect_refused --sizes --sizes=-1
expect_refused --shapes --shapes=3
expect_refused --types --types=half

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
expect_exit 0 --kernel='naive_row,naive_col' $quick --csv=blocks.csv --resume
[ "$(rows blocks.csv)" = 222 ] || fail "--resume left $(rows blocks.csv) rows"

expect_exit 0 --help
grep -q -e '--kernel' out || fail "--help does not tell of the flags"
expect_exit 0 --list
grep -q tile_unroll2_padded_dynamic out || fail "--list does not tell of the kernels"
! grep -q tile_square out || fail "--list tells of kernels that take no block"

finish

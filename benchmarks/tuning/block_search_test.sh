#!/bin/sh
# block_search as its user sees it: exit codes, rows, and the thresholds fitted to them. Runs with and without a GPU.

program=$PWD/benchmarks/tuning/block_search
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --kernel --kernel=nonsense
for name in --implementations --kernels; do expect_refused $name $name=nonsense; done
expect_refused --kernel --kernel=naive_row --implementations=naive_row
expect_refused --kernels --kernels=naive_row --implementations=naive_row
expect_refused --batch --batch=2
expect_refused --blocks --blocks=8x8
expect_refused --layouts --layouts=tn
expect_refused --beta --operation=matmul --beta=1
expect_refused --kernels --operation=matmul --kernels=tiny
expect_refused --kernel --kernel=tile_square # Its block is fixed.
expect_refused --sizes --sizes=-1
expect_refused --shapes --shapes=3
expect_refused --types --types=half
expect_refused --operation --operation=copy
expect_refused --tuning --tuning=line.inc
expect_refused --kernel --operation=matmul --kernel=naive_row
expect_refused --types --operation=matmul --types=double
expect_refused --sizes --operation=matmul --sizes=1,,2
expect_refused --shapes --operation=matmul --shapes=3x4
expect_refused --tuning --operation=matmul --tuning=no_such_folder/line.inc
expect_refused --tuning --operation=matmul --tuning="$work"
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

# Of matmul every shape has a row for each entry of auto's table; without a GPU there is nothing to fit.
expect_exit 0 --operation=matmul --list
entries=$(grep -c '^  [a-z]' out)
grep -q '^  stream_k_64x64 ' out && grep -q '^MATMUL_TUNING(90, ' out || fail "--list: $(cat out)"
expect_exit 0 --operation=matmul --max_seconds=0.01 --sizes=32 --shapes=3x5x7 --csv=tiles.csv --tuning=line.inc
[ "$(rows tiles.csv)" = $((2 * entries)) ] || fail "tiles.csv has $(rows tiles.csv) rows"
! grep -E ',(mismatch|error),' tiles.csv || fail "a row is wrong"
if grep -q ',ok,' tiles.csv; then
  grep -q '^MATMUL_TUNING(' line.inc || fail "no line: $(cat out)"
else
  [ "$(grep -c '^No tuning is written: ' out)" = 1 ] || fail "it does not say that there is no tuning: $(cat out)"
  [ ! -e line.inc ] || fail "a tuning of nothing: $(cat line.inc)"
fi

# From a file that has all rows, as of another machine: nothing is measured. made MS_OF_TINY DEVICE makes one at
# n = 16, where tiny is chosen.
made() {
  "$program" --operation=matmul --list | sed -n 's/^  \([a-z0-9_]*\) .*/\1/p' >entries
  head -1 tiles.csv | tr -d '\r' | awk -F, -v OFS=, -v tiny="$1" -v device="$2" '
    { print; for (i = 1; i <= NF; i++) at[$i] = i; columns = NF }
    END {
      while ((getline name <"entries") > 0) {
        $0 = ""
        $columns = ""
        $at["schema_version"] = 1
        $at["operation"] = "matmul"
        $at["implementation"] = name
        $at["dtype"] = "float"
        $at["math"] = "fma"
        $at["rows"] = $at["cols"] = $at["depth"] = 16
        $at["l2"] = "cold"
        $at["host_memory"] = "pageable"
        $at["compute_capability"] = "sm_90"
        $at["device"] = name == "tiny" ? "a GPU" : device
        $at["status"] = name == "ragged" ? "error" : "ok"
        $at["kernel_ms_median"] = name == "tiny" ? tiny : name == "stream_k_32x32" ? 0.01 : 0.02
        print
      }
    }'
}
from_rows='--operation=matmul --sizes=16 --resume --csv=made.csv --tuning=line.inc'
made 0.005 'a GPU' >made.csv
echo kept >line.inc
cp made.csv before.csv
expect_exit 1 $from_rows # A row of it is an error.
cmp -s made.csv before.csv || fail "rows were measured though the file had them"
grep -q '^No threshold moves' out || fail "the best is chosen, and yet: $(cat out)"
grep -q kept line.inc.bak || fail "the file that was there is not kept"
made 0.05 'a GPU' >made.csv
expect_exit 1 $from_rows
grep -q '^auto by the present thresholds takes 5.0000 times' out || fail "the present regret: $(cat out)"
grep -q '^auto by the fitted thresholds takes 1.0000 times' out || fail "the fitted regret: $(cat out)"
grep -q '^Moved: tiny_' out || fail "tiny is no good, and yet: $(cat out)"
grep -A $(($(wc -l <line.inc) - 1)) '^MATMUL_TUNING(90, ' out | cmp -s - line.inc || fail "file and output differ: $(cat line.inc)"
made 0.005 'another GPU' >made.csv
expect_refused --csv $from_rows

expect_exit 0 --help
grep -q -e '--kernel' out || fail "--help does not tell of the flags"
expect_exit 0 --list
grep -q tile_unroll2_padded_dynamic out || fail "--list does not tell of the kernels"
! grep -q tile_square out || fail "--list tells of kernels that take no block"

finish

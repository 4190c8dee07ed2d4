#!/bin/sh
# sustained as its user sees it: a row for each entry or, without a GPU, one line that says so.

program=$PWD/benchmarks/sustained
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --operation --operation=sort
expect_refused --implementations --implementations=auto,nobody
expect_refused --implementations --implementations=auto,cpu_naive --peer=auto
expect_refused --peer --peer=naive
expect_refused --shapes --shapes=64x64
expect_refused --type --type=bf17
expect_refused --seconds --seconds=0
expect_refused --slice_seconds --slice_seconds=1e9

if "$program" --shapes=256x256x256 --seconds=0.2 --slice_seconds=0.1 --csv=rows.csv >out 2>err </dev/null; then
  for name in auto cublas; do
    [ "$(grep -c "matmul,256x256x256,bf16,$name," rows.csv)" = 1 ] || fail "rows.csv lacks $name: $(cat rows.csv)"
  done
else
  expect_refused 'NVIDIA\|CUDA' --seconds=1
fi

finish

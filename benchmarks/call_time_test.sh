#!/bin/sh
# call_time as its user sees it: two rows for each call or, without a GPU, one line that says so.

program=$PWD/benchmarks/call_time
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --rounds --rounds=0

if "$program" --rounds=1 --csv=times.csv >out 2>err </dev/null; then
  for queue in idle filled; do
    for call in 'empty kernel,' 'MatMul,8x8x8' 'MatMul with context,8x8x8' 'cublasSgemm,8x8x8' Transpose,32x32; do
      [ "$(grep -c "$call,$queue,100," times.csv)" = 1 ] || fail "times.csv lacks $call: $(cat times.csv)"
    done
  done
else
  expect_refused 'NVIDIA\|CUDA' --rounds=1
fi

finish

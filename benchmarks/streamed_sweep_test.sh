#!/bin/sh
# streamed_sweep as its user sees it: a row for each subject or, without a GPU, one line that says so.

program=$PWD/benchmarks/streamed_sweep
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --operation --operation=sort
expect_refused --shapes --shapes=5x5
expect_refused --shapes --operation=transpose --shapes=5x5x5
expect_refused --precision --precision=half
expect_refused --precision --operation=transpose --shapes=5x5 --precision=fp32_split
expect_refused --devices --devices=first
expect_refused --device_bytes --device_bytes=-1
expect_refused --tiles --tiles=5x5,0x5
expect_refused --memory --memory=paper
expect_refused --directory --memory=file
expect_refused --directory --memory=file --directory="$work/missing"
expect_refused --directory --memory=pageable --directory="$work"
expect_refused --rounds --rounds=0
expect_refused --verify --verify=perhaps

if "$program" --shapes=300x200x100 --device_bytes=1e6 --in_memory=256 --verify=full --csv=rows.csv >out 2>err </dev/null; then
  for implementation in in_memory streamed cublasxt_2048; do
    [ "$(grep -c ",matmul,$implementation," rows.csv)" = 1 ] || fail "rows.csv lacks $implementation: $(cat rows.csv)"
  done
  "$program" --shapes=300x200x100 --device_bytes=1e6 --precision=fp32_split --in_memory=256 --verify=full --csv=rows.csv \
    >out 2>err </dev/null || fail "fp32_split: $(cat out err)"
  [ "$(grep -c ",fp32_split$" rows.csv)" = 2 ] && [ "$(grep -c ",cublasxt.*,fp32$" rows.csv)" = 1 ] ||
    fail "precisions of rows.csv: $(cat rows.csv)"
  "$program" --operation=transpose --shapes=300x200 --verify=full --csv=rows.csv >out 2>err </dev/null ||
    fail "transposes: $(cat out err)"
  for implementation in one_after_the_other copies_both_ways streamed; do
    [ "$(grep -c ",transpose,$implementation," rows.csv)" = 1 ] || fail "rows.csv lacks $implementation: $(cat rows.csv)"
  done
  "$program" --shapes=300x200x100 --device_bytes=1e6 --in_memory=0 --cublasxt_blocks= --memory=file --directory="$work" \
    --verify=full --csv=rows.csv >out 2>err </dev/null || fail "mapped files: $(cat out err)"
  [ "$(grep -c ",streamed,.*,file," rows.csv)" = 1 ] || fail "rows.csv lacks mapped files: $(cat rows.csv)"
else
  expect_refused 'NVIDIA\|CUDA' --rounds=1
fi

finish

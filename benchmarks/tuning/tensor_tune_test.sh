#!/bin/sh
# tensor_tune as its user sees it: exit codes, and tables from made times.

program=$PWD/benchmarks/tuning/tensor_tune
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --count --count=0
expect_refused nothing.csv --times=nothing.csv
echo 'implementation,dtype' >other.csv
echo 'tensor_tile,bf16' >>other.csv
expect_refused status --times=other.csv
expect_exit 0 --kernels
grep -q 'tensor_k_parts' out || fail "no list of kernels: $(cat out)"

# A kernel that takes longer than predicted; rows of other kernels and types do not count.
{
  echo implementation,dtype,status,rows,cols,depth,batch,layout,beta,epilogue,kernel_ms_median
  awk 'BEGIN {
    for (i = 1; i <= 80; ++i) {
      print "tensor_tile,bf16,ok," 8 * i ",256,1024,,,,," 0.02 + 0.0001 * i
      print "tensor_general,bf16,ok," 8 * i ",256,1024,,,,,0.2"
      print "cublas,bf16,ok," 8 * i ",256,1024,,,,,0.001"
      print "tensor_tile,float,ok," 8 * i ",256,1024,,,,,0.001"
    }
  }'
} >made.csv
expect_exit 0 --times=made.csv --out=made.inc --count=3
grep -q '^80 products$' out || fail "it does not count products: $(cat out)"
[ "$(sed -n '/kTileCorrections\[\]/,/^};/p' made.inc | grep -c Feature::)" = 3 ] || fail "no three tables: $(head -5 made.inc)"
cp made.inc before.inc
expect_exit 0 --times=made.csv --out=made.inc --count=3
cmp -s made.inc before.inc || fail "the same times gave other tables"
expect_exit 0 --times=made.csv --out=two.inc --on_top=2
expect_exit 0 --times=made.csv --out=three.inc --on_top=3
expect_refused --on_top --times=made.csv --on_top=-1
expect_refused --of --times=made.csv --on_top=2 --of=no_such_kernel
expect_exit 0 --times=made.csv --out=others.inc --on_top=2 --of=tensor_general
tables_of_tile() { sed -n '/kTileCorrections\[\]/,/^};/p' "$1" | grep -c Feature::; }
[ "$(tables_of_tile three.inc)" = $(($(tables_of_tile two.inc) + 1)) ] || fail "no table more on top"
[ "$(tables_of_tile others.inc)" = $(($(tables_of_tile two.inc) - 2)) ] || fail "tensor_tile has more, too"
[ "$(tables_of_tile two.inc)" -gt 3 ] || fail "those built in are gone"
expect_refused --out --times=made.csv --out=no_such_folder/made.inc

finish

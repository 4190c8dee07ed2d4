#!/bin/sh
# stridewise_tune as its user sees it: exit codes, and a tuning from times of another machine. Runs with and without a GPU.

program=$PWD/benchmarks/tuning/stridewise_tune
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --count --count=3
expect_refused --seconds --seconds=0
expect_refused --kernels --kernels=no_such_kernel
expect_refused --on_top --on_top=-1
expect_refused --on_top --on_top=3
expect_refused nothing.csv --from_csv=nothing.csv
echo 'a,b' >other.csv
expect_refused other.csv --from_csv=other.csv
[ ! -e stridewise_tune.csv ] || fail "bad input wrote a file of times"

# Times of two kernels, of which tiny is the faster one up to m = 40.
{
  echo device,compute_capability,multiprocessors,memory_gbps,seed,number,family,m,n,k,layout,batch,kernel,workspace_bytes,samples,ms
  awk 'BEGIN {
    for (i = 0; i < 80; ++i) {
      shape = "a GPU,90,132,4917,1," i ",cube," i + 1 ",64,64,nn,1,"
      print shape "tiny,0,5," 0.001 * (i + 1)
      print shape "stream_k_32x32,0,5," 0.040
    }
  }'
} >made.csv
expect_exit 0 --from_csv=made.csv --tuning=made.tuning --regret_csv=regret.csv
grep -q '^stridewise_tuning 1$' made.tuning && grep -q '^kernel tiny$' made.tuning || fail "no tuning: $(cat made.tuning)"
[ "$(rows regret.csv)" = 6 ] || fail "regret.csv: $(cat regret.csv)"
grep -q '^held out' out || fail "it does not say how good it is: $(cat out)"
cp made.tuning before.tuning
expect_exit 0 --from_csv=made.csv --tuning=made.tuning
cmp -s made.tuning before.tuning || fail "the same times gave another tuning"
# Times of a kernel that was measured again, at the same products, take the place of those before.
sed 's/tiny,0,5,.*/tiny,0,5,9/' made.csv >older.csv
sed -n '1p; /tiny/p' made.csv >newer.csv
expect_exit 0 --from_csv=older.csv,newer.csv --tuning=made.tuning
cmp -s made.tuning before.tuning || fail "older times were fitted, too"
sed '2s/a GPU/another GPU/' made.csv >two.csv
expect_refused two.csv --from_csv=two.csv
expect_refused --tuning --from_csv=made.csv --tuning=no_such_folder/made.tuning
grep -q 'held out' out && fail "it fitted before it looked whether the tuning can be written"
expect_refused --regret_csv --from_csv=made.csv --regret_csv=no_such_folder/regret.csv
expect_refused two.csv --from_csv=two.csv --tuning=new.tuning
[ ! -e new.tuning ] || fail "bad times left a tuning file"

# The file that the variable names; a bad one is a line on standard error.
STRIDEWISE_TUNING=made.tuning
export STRIDEWISE_TUNING
expect_exit 0 --from_csv=made.csv
echo nonsense >bad.tuning
STRIDEWISE_TUNING=bad.tuning
expect_exit 0 --from_csv=made.csv
grep -q 'STRIDEWISE_TUNING: .*bad.tuning.*line 1' err out || fail "nothing is said about a bad tuning: $(cat err)"
unset STRIDEWISE_TUNING

expect_exit 0 --help
grep -q -e '--from_csv' out || fail "--help does not tell of the flags"

finish

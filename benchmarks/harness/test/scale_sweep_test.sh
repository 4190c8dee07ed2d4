#!/bin/sh
# What the sweep of a third operation gets from the harness: list, CSV, resuming, pairing, verdicts. Runs with and
# without a GPU.

program=$PWD/benchmarks/harness/test/scale_sweep
. "$PWD/benchmarks/harness/program_test.sh"

expect_exit 0 --list
grep -q '^  loop  *CPU  *1 ' out && grep -q '^  copy  *column pct_of_copy' out && grep -q '^  limits ' out ||
  fail "--list: $(cat out)"

expect_refused --shapes --shapes=3x4
expect_refused --types --types=double
expect_refused --kernels --kernels=nonsense
expect_refused --kernels --kernels=loop --implementations=loop
expect_refused --pair_with --pair_with=loop
expect_refused --limits_csv --limits_csv=limits.csv

expect_exit 0 --max_seconds=0.01
[ "$(rows scale_sweep.csv)" = 6 ] || fail "scale_sweep.csv: $(cat scale_sweep.csv)"
[ "$(grep -c ',scale,loop,float,,,1000,.*,ok,' scale_sweep.csv)" = 1 ] || fail "no row of the host: $(cat scale_sweep.csv)"
! grep -E ',(mismatch|error|unsupported),' scale_sweep.csv || fail "a row is wrong"
cp scale_sweep.csv before.csv
expect_exit 0 --max_seconds=0.01 --resume
cmp -s scale_sweep.csv before.csv || fail "--resume measured something again"
expect_exit 0 --max_seconds=0.01 --resume --shapes=5
[ "$(rows scale_sweep.csv)" = 9 ] || fail "--resume left $(rows scale_sweep.csv) rows"

# Shards measure every point once, with all that is measured there; one may be empty.
expect_refused --shard --shard=3/2
expect_exit 0 --shard=1/2 --sizes=10,20,30 --max_seconds=0.01 --csv=shard1.csv
expect_exit 0 --shard=2/2 --sizes=10,20,30 --max_seconds=0.01 --csv=shard2.csv
[ "$(rows shard1.csv) $(rows shard2.csv)" = "6 3" ] || fail "--shard: $(rows shard1.csv) and $(rows shard2.csv) rows"
[ "$(grep -c ',2/2,' shard2.csv)" = 3 ] || fail "no shard in $(cat shard2.csv)"
expect_exit 0 --shard=7/7 --sizes=10,20,30 --max_seconds=0.01 --csv=shard7.csv
[ "$(rows shard7.csv)" = 0 ] || fail "shard7.csv: $(cat shard7.csv)"

# Counters where they can be read; elsewhere one line says why not, and the rows are as without.
expect_refused --counters --counters=a=b
expect_exit 0 --max_seconds=0.01 --shapes=70000 --counters=smsp__inst_executed.sum,dram__bytes_read.sum --csv=counters.csv
[ "$(rows counters.csv)" = 3 ] || fail "counters.csv: $(cat counters.csv)"
grep -q ',scale,kernel,.*,smsp__inst_executed.sum=[1-9][0-9]*;dram__bytes_read.sum=[0-9.e+]*,' counters.csv ||
  [ "$(grep -c '^--counters: not read, ' out)" = 1 ] || fail "neither counters nor a reason: $(cat out counters.csv)"

# Those of the host, for its rows alone. What the operating system counts is there wherever it is permitted; what the
# machine may not have says so in one line, and nothing else of the list is read.
expect_refused --counters --counters=cpu.wishes
expect_exit 0 --max_seconds=0.01 --shapes=1000 --counters=cpu.task_clock,cpu.page_faults --csv=host_counters.csv
[ "$(rows host_counters.csv)" = 3 ] || fail "host_counters.csv: $(cat host_counters.csv)"
grep -q ',scale,loop,.*,cpu.task_clock=[1-9][0-9]*;cpu.page_faults=[0-9]*,' host_counters.csv ||
  [ "$(grep -c '^--counters: not read, perf events are not permitted' out)" = 1 ] || fail "neither: $(cat out host_counters.csv)"
! grep ',scale,kernel,.*cpu.task_clock' host_counters.csv || fail "the GPU has counters of the host"
expect_exit 0 --max_seconds=0.01 --shapes=1000 --counters=cpu.task_clock,cpu.cycles --csv=cycles.csv
grep -q ',scale,loop,.*,cpu.task_clock=[1-9][0-9]*;cpu.cycles=[1-9][0-9.e+]*,' cycles.csv ||
  [ "$(grep -c '^--counters: not read, ' out)" = 1 ] || fail "neither cycles nor a reason: $(cat out cycles.csv)"

# Both sides of a limit are measured; a limit that is not kept is a finding, not a failure.
expect_exit 0 --preset=limits --max_seconds=0.05 --csv=rows.csv --limits_csv=limits.csv
grep -q '^case,implementation,cols,dtype,batch,ratio_to_copy,floor,aim,verdict' limits.csv || fail "$(cat limits.csv)"
grep -q '^large,kernel,16777216,float,1,' limits.csv || fail "limits.csv: $(cat limits.csv)"
if grep -q ',scale,kernel,.*,ok,' rows.csv; then
  grep -q '^limits: . passed, . failed, 0 not measured' out || fail "no verdict: $(cat out)"
  grep -q '^Best at 16777216 float: kernel, .* % of a copy' out || fail "no conclusion: $(cat out)"
else
  grep -q '^limits: 0 passed, 0 failed, 1 not measured' out || fail "a verdict of nothing: $(cat out)"
fi

finish

#!/bin/sh
# executor_speed as its user sees it: a row for each kernel, number of cores and mode.

program=$PWD/benchmarks/profile/executor_speed
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --repeats --repeats=0
expect_refused no_such_folder --csv=no_such_folder/x.csv

expect_refused --kernels --kernels=eigen
expect_refused --implementations --implementations=eigen
expect_refused --kernels --kernels=copy_row --implementations=copy_row

expect_exit 0 --implementations=copy_row --repeats=1 --csv=speed.csv
for mode in all checks profile neither; do
  [ "$(grep -c ",1,$mode," speed.csv)" = 1 ] || fail "speed.csv lacks rows: $(cat speed.csv)"
done
! grep -q -e ',inf' -e ',nan' -e ',0,' speed.csv || fail "an unknown time or no events: $(cat speed.csv)"

finish

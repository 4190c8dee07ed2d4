#!/bin/sh
# profile as its user sees it: exit codes and rows. Runs with and without a GPU, with and without ncu.

program=$PWD/benchmarks/profile
. "$PWD/benchmarks/program_test.sh"

expect_refused --kernels --kernels=nonsense
expect_refused --blocks --blocks=64x32
expect_refused --blocks --blocks=0x32
expect_refused --types --types=half
expect_refused --sizes --sizes=-1
expect_refused --shapes --shapes=3
expect_refused --ncu --ncu=no_such_program
expect_refused --run_once --run_once --kernels='naive*' --sizes=4

# Without a GPU, or with one but without ncu, every configuration still has its row and the reason.
expect_exit 0 --kernels='naive_*,tile_square,cublas_geam' --sizes=0 --blocks=8x8,32x8 --csv=empty.csv
[ "$(rows empty.csv)" = 6 ] || fail "empty.csv has $(rows empty.csv) rows"
! grep -E ',(ok|mismatch|error),' empty.csv || fail "an empty matrix was profiled"

# What has no kernel is unsupported, and says so.
expect_exit 0 --kernels='cpu_*,eigen,memcpy' --sizes=4 --csv=none.csv
[ "$(rows none.csv)" = 5 ] || fail "none.csv has $(rows none.csv) rows"
[ "$(grep -c ',unsupported,it has no kernel' none.csv)" = 5 ] || fail "not unsupported: $(cat none.csv)"

# An older file, from before the last two columns, is refused with one clear line and stays.
expect_exit 0 --kernels=memcpy --sizes=4 --csv=old.csv
sed -i 's/,shared_efficiency,branch_efficiency//; s/,,\r$/\r/' old.csv
cp old.csv before.csv
expect_refused columns --kernels=memcpy --sizes=5 --csv=old.csv --resume
cmp -s old.csv before.csv || fail "--resume changed an older file"

expect_exit 0 --help
grep -q -e '--ncu' out || fail "--help does not tell of the flags"
expect_exit 0 --list
grep -q tile_square out || fail "--list does not tell of the kernels"

finish

#!/bin/sh
# Tests measure_all.sh in a bundle whose programs are one small script.

tools=$(dirname "$0")
[ -z "${TEST_SRCDIR:-}" ] || tools=$TEST_SRCDIR/$TEST_WORKSPACE/tools
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
bundle="$work/a bundle"
mkdir -p "$bundle/benchmarks"
cp "$tools/cuda_libraries.sh" "$tools/measure_all.sh" "$bundle"
echo g0123456789ab >"$bundle/COMMIT"
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# A program that writes its name and arguments to `calls`, and a row to its --csv.
cat >"$work/program" <<'SCRIPT'
#!/bin/sh
echo "${0##*/} $*" >>calls
for arg in "$@"; do
  case $arg in --csv=*) printf 'header\nrow\n' >>"${arg#*=}" ;; esac
done
[ ! -f slow ] || sleep 30
[ ! -f status ] || exit "$(cat status)"
SCRIPT
chmod +x "$work/program"
for program in block_search call_time ceilings executor_speed matmul_sweep permute_sweep profile stridewise_tune sustained transpose_sweep; do
  cp "$work/program" "$bundle/benchmarks/$program"
done
cp "$work/program" "$bundle/ncu_check.py"

# expect CODE ARGUMENTS...: runs the script in a folder that is not the bundle; its output in $work/out.
expect() {
  want=$1
  shift
  (cd "$work" && sh "$bundle/measure_all.sh" "$@") >"$work/out" 2>&1 </dev/null
  got=$?
  [ "$got" = "$want" ] || fail "measure_all.sh $* returned $got, not $want: $(cat "$work/out")"
}

# Bad arguments are one line that names them.
for bad in --nonsense no_such_name --part=x --part=99 --seconds=soon; do
  expect 2 --output="$work/bad" $bad
  [ "$(wc -l <"$work/out")" = 1 ] && grep -q -e "${bad#--*=}" "$work/out" || fail "$bad: $(cat "$work/out")"
done
expect 2
[ ! -e "$work/bad" ] || fail "bad arguments made a folder"

# Each part takes less than eight minutes, and names are unique.
expect 0 --list
awk '/^part [0-9]*: / { if ($3 >= 480) exit 1; ++parts } END { exit parts < 2 }' "$work/out" || fail "parts: $(cat "$work/out")"
[ -z "$(awk '$4 == "s" { print $5 }' "$work/out" | sort | uniq -d)" ] || fail "a name is there twice"
[ "$(grep -c '^part .* s  ' "$work/out")" -gt 30 ] || fail "--list: $(cat "$work/out")"

# By name; a finished measurement is not repeated.
expect 0 --output=out1 matmul_limits executor_speed
printf '%s\n' 'matmul_sweep --preset=limits --resume --csv=matmul_limits.csv --limits_csv=matmul_limits_verdicts.csv' \
  'executor_speed --csv=executor_speed.csv' | cmp -s - "$work/out1/calls" || fail "calls: $(cat "$work/out1/calls")"
grep -q '^matmul_limits 0 [0-9]* g0123456789ab$' "$work/out1/measure_all.log" || fail "no log"
expect 0 --output=out1 matmul_limits executor_speed
[ "$(wc -l <"$work/out1/calls")" = 2 ] || fail "measured again: $(cat "$work/out1/calls")"

# Two runs in one file.
expect 0 --output=out2 matmul_small_runs
[ "$(grep -c row "$work/out2/matmul_small_runs.csv")" = 2 ] || fail "$(cat "$work/out2/matmul_small_runs.csv")"

# All of it, part by part.
for part in 1 2 3 4 5 6 7; do expect 0 --output=out3 --part=$part; done
[ "$(wc -l <"$work/out3/measure_all.log")" = "$(sh "$bundle/measure_all.sh" --list | grep -c '^part .* s  ')" ] ||
  fail "something was left out"
expect 0 --output=out3
! grep -q === "$work/out" || fail "something was measured twice: $(cat "$work/out")"

# A wrong row is told and does not stop the rest; a program that cannot start its work is tried again.
mkdir "$work/out4" && echo 1 >"$work/out4/status"
expect 1 --output=out4 ceilings transpose_fast
[ "$(wc -l <"$work/out4/calls")" = 2 ] && grep -q 'ceilings returned 1' "$work/out" || fail "$(cat "$work/out")"
echo 2 >"$work/out4/status"
expect 1 --output=out4 matmul_rows
expect 1 --output=out4 matmul_rows
[ "$(wc -l <"$work/out4/calls")" = 4 ] || fail "bad arguments are finished: $(cat "$work/out4/calls")"

# Time is up: what was stopped is not finished, and the next call goes on there.
mkdir "$work/out5" && touch "$work/out5/slow"
expect 3 --output=out5 --seconds=1 matmul_rows
[ ! -s "$work/out5/measure_all.log" ] || fail "stopped and finished"
expect 3 --output=out5 --seconds=0
rm "$work/out5/slow"
expect 0 --output=out5 --seconds=60 matmul_rows

# Rows of two commits do not mix.
echo gba9876543210 >"$bundle/COMMIT"
expect 2 --output=out5 matmul_rows
grep -q g0123456789ab "$work/out" || fail "another commit: $(cat "$work/out")"

[ "$failures" = 0 ] && echo PASS
[ "$failures" = 0 ]

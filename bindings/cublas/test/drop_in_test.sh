#!/bin/bash
# drop_in_test.sh DROP_IN.so PROGRAM
# Runs a program on a fake cuBLAS with and without the drop-in, on no GPU: everything must be passed on as it came.

set -u
drop_in=$PWD/$1 program=$PWD/$2
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
run() {
  env CUDA_VISIBLE_DEVICES= "$@" "$program" 2>"$TEST_TMPDIR/stderr"
}

expected=$(run) || fail "the program fails without the drop-in"
[[ $(tail -1 <<<"$expected") == end ]] || fail "the program does not reach its end"

# compare WHAT SETTING...: what the fake library was called with must not change.
compare() {
  local what=$1 actual
  shift
  actual=$(run LD_PRELOAD="$drop_in" "$@") || fail "$what: the program fails"
  diff <(echo "$expected") <(echo "$actual") || fail "$what: cuBLAS is called otherwise (<: without the drop-in)"
}

# reasons: the number of calls that were passed on for each reason.
reasons() {
  sed -n 's/.*: passed on, \([^:]*\).*/\1/p' "$TEST_TMPDIR/stderr" | sort | uniq -c | sed 's/^ *//'
}

compare "on"
[[ ! -s $TEST_TMPDIR/stderr ]] || fail "the drop-in writes without being asked: $(cat "$TEST_TMPDIR/stderr")"

compare "verbose" STRIDEWISE_CUBLAS=verbose
diff - <(reasons) <<'END' || fail "verbose: other reasons (<: expected)"
9 TF32 or another reduced precision is allowed
3 a form that Stridewise does not have
11 alpha and beta are in device memory
12 no GPU that Stridewise was measured on
3 other types than FP32
END
grep -qx "stridewise: cublasSgemmStridedBatched tn 5x6x7 batch 4: passed on, no GPU that Stridewise was measured on" \
  "$TEST_TMPDIR/stderr" || fail "verbose: there is no such line for cublasSgemmStridedBatched"

compare "measure" STRIDEWISE_CUBLAS=measure
compare "off" STRIDEWISE_CUBLAS=off STRIDEWISE_CUBLAS_SUMMARY=1
grep -q "stridewise: 0 calls taken" "$TEST_TMPDIR/stderr" || fail "off: the summary does not say that nothing was taken"
grep -q "stridewise:   38: STRIDEWISE_CUBLAS is off" "$TEST_TMPDIR/stderr" || fail "off: $(cat "$TEST_TMPDIR/stderr")"

compare "a wrong value" STRIDEWISE_CUBLAS=maybe
grep -qx "stridewise: STRIDEWISE_CUBLAS is none of off, on, always, measure and verbose; taken for on" "$TEST_TMPDIR/stderr" ||
  fail "a wrong value is not mentioned: $(cat "$TEST_TMPDIR/stderr")"

exported=$(nm --dynamic --extern-only --defined-only --format=posix "$drop_in" | cut -d' ' -f1)
others=$(grep -v '^cublas' <<<"$exported") && fail "the drop-in exports $others"
needed=$(objdump -p "$drop_in" | sed -n 's/^ *NEEDED *//p')
for library in $needed; do
  [[ $library =~ ^(ld-linux-x86-64\.so\.2|lib(c|m|dl|pthread|rt)\.so\.[0-9]+)$ ]] || fail "the drop-in needs $library"
done

((failures == 0)) && echo "Everything was passed on as it came."
exit $((failures > 0))

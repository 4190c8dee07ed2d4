#!/bin/bash
# Runs the reference BLAS's testers of level 3 (Debian's libblas-test), and NumPy's linear algebra, with the library
# preloaded. Each part is skipped with a line where its package is not installed; NumPy's own tests, which take a minute,
# are run with --config=exhaustive.
#
#   hostblas_test.sh LIBRARY

set -u
library=$(realpath "$1") || exit 1
testers=${STRIDEWISE_BLAS_TESTERS:-/usr/lib/x86_64-linux-gnu/blas}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
# Built with --config=asan or tsan, the library needs a runtime that comes before all others. What NumPy leaves at its
# end is not ours.
runtime=$(ldd "$library" | awk '/lib[at]san/ { print $3; exit }')
preload="${runtime:+$runtime }$library"
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

fail() {
  echo "FAIL: $*"
  failed=1
}

# Prints the tester's input for a letter, S or D: that of the reference, with more sizes. Routines other than gemm are
# those of the BLAS underneath.
tester_input() {
  printf "'%s'\n6\n'SNAP'\n-1\nF\nF\nT\n16.0\n8\n0 1 2 3 5 9 35 65\n3\n0.0 1.0 0.7\n3\n0.0 1.0 1.3\n" "$2"
  for routine in GEMM SYMM TRMM TRSM SYRK SYR2K; do
    printf '%-6s %s\n' "$1$routine" T
  done
}

for letter in s d; do
  tester=$testers/xblat3$letter
  if [[ ! -x $tester ]]; then
    echo "skipped: $tester is not there; Debian's libblas-test has it"
    continue
  fi
  upper=${letter^^}
  tester_input "$upper" "$letter.out" >"$letter.in"
  LD_PRELOAD=$preload "$tester" <"$letter.in" >"$letter.log" 2>&1 || fail "xblat3$letter: $(cat "$letter.log")"
  cat "$letter".out* "$letter.log" >"$letter.all" 2>/dev/null
  grep -q "${upper}GEMM  *PASSED THE COMPUTATIONAL TESTS" "$letter.all" || fail "xblat3$letter: $(head -60 "$letter.all")"
  grep -q "${upper}GEMM  *PASSED THE TESTS OF ERROR-EXITS" "$letter.all" || fail "xblat3$letter: no error exits"
  grep -iE 'FAILED|\*{7}' "$letter.all" && fail "xblat3$letter"
done

if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  LD_PRELOAD=$preload /usr/bin/python3 - <<'PYTHON' || fail "NumPy"
import numpy

random = numpy.random.default_rng(7)
for kind, tolerance in ((numpy.float32, 2e-4), (numpy.float64, 1e-11)):
  for m, n, k in ((1, 1, 1), (7, 5, 3), (64, 64, 64), (129, 65, 257), (1, 300, 200), (300, 1, 200), (5, 400, 0)):
    a, b = (random.standard_normal(shape).astype(kind) for shape in ((m, k), (k, n)))
    for left, right in ((a, b), (numpy.asfortranarray(a), b), (a, numpy.asfortranarray(b))):
      numpy.testing.assert_allclose(left @ right, numpy.einsum("ik,kj->ij", a, b), atol=tolerance * max(k, 1))
  square = random.standard_normal((150, 150)).astype(kind)
  numpy.testing.assert_allclose(square @ numpy.linalg.inv(square), numpy.eye(150), atol=0.05 if kind == numpy.float32 else 1e-8)
PYTHON
  if [[ -z ${STRIDEWISE_EXHAUSTIVE:-} ]]; then
    echo "skipped: NumPy's own tests are run with --config=exhaustive"
  elif /usr/bin/python3 -c 'import hypothesis, pytest, numpy.linalg.tests' 2>/dev/null; then
    LD_PRELOAD=$preload /usr/bin/python3 -m pytest -q -x -p no:cacheprovider --pyargs numpy.linalg.tests.test_linalg \
      >numpy.log 2>&1 || fail "NumPy's tests: $(tail -30 numpy.log)"
    tail -1 numpy.log
  else
    echo "skipped: NumPy's own tests need python3-pytest and python3-hypothesis"
  fi
else
  echo "skipped: NumPy is not there; Debian's python3-numpy has it"
fi
exit $failed

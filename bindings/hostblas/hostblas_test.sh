#!/bin/bash
# Runs the reference BLAS's testers of level 3 (Debian's libblas-test), and the linear algebra of NumPy, R and Octave,
# with the library preloaded. Each part is skipped with a line where its package is not installed; NumPy's own tests, which take a minute,
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

# Runs a program of linear algebra in another language: with_library PACKAGE ROUTINES PROGRAM ARGUMENTS. It must succeed,
# and take each of the routines from the library.
with_library() {
  local package=$1 routines=$2
  shift 2
  if ! command -v "$1" >/dev/null; then
    echo "skipped: $1 is not there; Debian's $package has it"
    return
  fi
  LD_DEBUG=bindings LD_DEBUG_OUTPUT=$work/$1.bindings LD_PRELOAD=$preload "$@" >"$1.log" 2>&1 ||
    fail "$1: $(tail -20 "$1.log")"
  local routine
  for routine in $routines; do
    grep -q "to $library .*symbol .$routine'" "$1".bindings.* || fail "$1 does not call the library's $routine"
  done
}

cat >products.R <<'PROGRAM'
set.seed(7)
for (shape in list(c(1, 1, 1), c(7, 5, 3), c(129, 65, 257), c(300, 400, 200))) {
  a <- matrix(rnorm(shape[1] * shape[3]), shape[1])
  b <- matrix(rnorm(shape[3] * shape[2]), shape[3])
  sum <- matrix(0, shape[1], shape[2])
  for (i in seq_len(shape[3])) sum <- sum + a[, i] * rep(b[i, ], each = shape[1])
  stopifnot(max(abs(a %*% b - sum)) < 1e-11, max(abs(crossprod(t(a), b) - sum)) < 1e-11)
}
square <- matrix(rnorm(150 * 150), 150)
parts <- svd(square)
stopifnot(max(abs(square %*% solve(square) - diag(150))) < 1e-8,
          max(abs(parts$u %*% (parts$d * t(parts$v)) - square)) < 1e-10)
PROGRAM

cat >products.m <<'PROGRAM'
randn("seed", 7);
for kind = {"double", "single"}
  tolerance = 1e-11;
  if strcmp(kind{1}, "single") tolerance = 1e-2; end
  for shape = [1 1 1; 7 5 3; 129 65 257; 300 400 200]'
    a = cast(randn(shape(1), shape(3)), kind{1});
    b = cast(randn(shape(3), shape(2)), kind{1});
    total = zeros(shape(1), shape(2));
    for i = 1:shape(3) total += double(a(:, i)) .* double(b(i, :)); end
    assert(double(a * b), total, tolerance);
    left = a.';
    assert(double(left.' * b), total, tolerance);
  end
end
square = randn(150);
[u, d, v] = svd(square);
assert(square * inv(square), eye(150), 1e-8);
assert(u * d * v', square, 1e-10);
PROGRAM

with_library r-base-core dgemm_ Rscript products.R
with_library octave "dgemm_ sgemm_" octave-cli --no-init-file --quiet products.m
exit $failed

#!/bin/sh
# Runs the tests of the bundle that this script lies in (//:gpu_bundle); needs no Bazel and no compiler.
#
# Usage: run_gpu_tests.sh [--no-skips] [--filter=GLOB] [--wrapper=COMMAND]
#   --no-skips         A skipped test is a failure, as it should be on a machine with a GPU.
#   --filter=GLOB      Only the test binaries whose names match, such as 'common_*'.
#   --wrapper=COMMAND  Runs each binary under a command, such as
#                      --wrapper='compute-sanitizer --tool memcheck --error-exitcode 9'
#
# Prints a line for each binary and the output of those that failed, and ends with `N passed, N failed, N skipped`.
# Returns 1 when a test failed or none ran. Writes only to a temporary folder: the bundle may be read-only.

no_skips=
filter='*'
wrapper=
for arg in "$@"; do
  case $arg in
    --no-skips) no_skips=1 ;;
    --filter=*) filter=${arg#*=} ;;
    --wrapper=*) wrapper=${arg#*=} ;;
    *)
      echo "run_gpu_tests.sh: unknown argument '$arg'; there are --no-skips, --filter=GLOB and --wrapper=COMMAND" >&2
      exit 2
      ;;
  esac
done

bundle=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck source=tools/cuda_libraries.sh
. "$bundle/cuda_libraries.sh"

# run_test BINARY NAME: prints its line, and its output where that explains a failure.
run_test() {
  xml=$work/xml/$2.xml
  # The wrapper is a command and its arguments: it is meant to be split.
  # shellcheck disable=SC2086
  LD_LIBRARY_PATH=$libraries $wrapper "$1" --gtest_output="xml:$xml" >"$work/output" 2>&1 </dev/null
  status=$?

  counts=
  [ ! -f "$xml" ] || counts=$("$bundle/count_tests.sh" "$xml")
  case $counts in
    "" | *" 0 failed,"*)
      # Died before its end, could not start, or found guilty by the wrapper: the tests inside do not know.
      if [ "$status" != 0 ] || [ -z "$counts" ]; then
        echo "<testsuites><testsuite><error message=\"exit status $status\"/></testsuite></testsuites>" \
          >"$work/xml/$2.exit.xml"
        counts="${counts:-no test results}, exit status $status"
        outcome=FAIL
      elif [ "${counts##* 0 failed, }" = "0 skipped" ]; then
        outcome=PASS
      else
        outcome=${no_skips:+FAIL}
        skips=1
        case $counts in
          "0 passed,"*) outcome=${outcome:-SKIP} ;;
          *) outcome=${outcome:-PASS} ;;
        esac
      fi
      ;;
    *) outcome=FAIL ;;
  esac

  printf '%s  %s  (%s)\n' "$outcome" "$2" "$counts"
  [ "$outcome" != FAIL ] || sed 's/^/    /' "$work/output"
}

mkdir "$work/xml"
skips=
commit=$(cat "$bundle/COMMIT")
echo "Tests of commit ${commit:-unknown}"
for test in "$bundle"/tests/*; do
  name=${test##*/}
  # A glob is wanted here.
  # shellcheck disable=SC2254
  case $name in
    $filter) run_test "$test" "$name" ;;
  esac
done

echo
echo "Benchmarks in this bundle:"
for benchmark in "$bundle"/benchmarks/*; do
  echo "  $benchmark"
done
echo

if [ -n "$no_skips" ] && [ -n "$skips" ]; then
  echo "Tests were skipped, and --no-skips makes that a failure."
else
  skips=
fi
"$bundle/count_tests.sh" "$work/xml" && [ -z "$skips" ]

#!/bin/sh
# Counts test cases in the JUnit XML files (GoogleTest's and Bazel's) below the given files and folders, and prints
#
#   N passed, N failed, N skipped
#
# Usage: count_tests.sh DIR...
# Returns 1 when a test failed or when none ran. Disabled tests are not counted. An unfinished file, and a test binary
# that left no cases but an error, count as one failed test. Needs nothing but a POSIX shell with find and awk.

[ $# -gt 0 ] || {
  echo "usage: count_tests.sh DIR..." >&2
  exit 1
}

# Bazel keeps the earlier attempts of flaky tests in test_attempts: the last one, outside, decides.
find -H "$@" -name '*.xml' ! -path '*/test_attempts/*' \
  -exec sh -c 'for file; do cat "$file"; echo "<end-of-file>"; done' - {} + |
  awk '
    # One record is what follows a "<": a tag and the text after it. Attributes hold no "<" of their own.
    BEGIN { RS = "<" }

    function end_case() {
      if (in_case) {
        if (case_failed) failed++
        else if (case_skipped) skipped++
        else passed++
      }
      in_case = 0
    }

    { tag = $1; sub(/[\/>]+$/, "", tag) }

    tag == "end-of-file" {
      if (!closed) failed++
      in_case = in_cdata = closed = 0
      next
    }

    # Program output stands unescaped in CDATA sections and may look like anything.
    /^!\[CDATA\[/ { in_cdata = 1 }
    in_cdata { in_cdata = !index($0, "]]>"); next }

    tag == "testcase" {
      in_case = !/[ \t\n]status="notrun"/  # Disabled.
      case_skipped = /[ \t\n]result="skipped"/
      case_failed = 0
      if (/\/>[ \t\r\n]*$/) end_case()
    }
    tag == "failure" || tag == "error" {
      if (in_case) case_failed = 1
      else failed++
    }
    tag == "skipped" { case_skipped = 1 }
    tag == "/testcase" { end_case() }
    tag == "testsuites" || tag == "testsuite" { closed = /\/>[ \t\r\n]*$/ }
    tag == "/testsuites" || tag == "/testsuite" { closed = 1 }

    END {
      printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
      exit failed > 0 || passed == 0
    }
  '

#!/bin/sh
# Tests count_tests.sh. Each case writes files below a fresh folder and says what must be printed and returned.

count_tests=${TEST_SRCDIR:+$TEST_SRCDIR/$TEST_WORKSPACE/tools/}count_tests.sh
[ -n "${TEST_SRCDIR:-}" ] || count_tests=$(dirname "$0")/count_tests.sh
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mkdir "$work/case"
cases=0
wrong=0

# file NAME: standard input becomes a file of the present case.
file() {
  mkdir -p "$(dirname "$work/case/$1")"
  cat >"$work/case/$1"
}

# expect NAME STATUS LINE: ends the present case and begins the next.
expect() {
  output=$("$count_tests" "${folder:-$work/case}" 2>&1)
  status=$?
  cases=$((cases + 1))
  if [ "$status" != "$2" ] || [ "$output" != "$3" ]; then
    wrong=$((wrong + 1))
    printf '%s: returned %s and printed "%s"; expected %s and "%s"\n' "$1" "$status" "$output" "$2" "$3"
  fi
  rm -rf "$work/case"
  mkdir "$work/case"
}

expect "no files" 1 "0 passed, 0 failed, 0 skipped"

file test.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="5" failures="1" disabled="1" errors="0" time="0.002" timestamp="2022-01-01T00:00:00.000" name="AllTests">
  <testsuite name="Suite" tests="5" failures="1" disabled="1" skipped="1" errors="0" time="0.002">
    <testcase name="Passes" file="a.cc" line="3" status="run" result="completed" time="0" classname="Suite" />
    <testcase name="Fails" file="a.cc" line="4" status="run" result="completed" time="0" classname="Suite">
      <failure message="a.cc:5&#x0A;Expected: (1) &gt; (2)" type=""><![CDATA[a.cc:5
Expected: (1) > (2)]]></failure>
      <failure message="a.cc:6&#x0A;Failed" type=""><![CDATA[a.cc:6
Failed]]></failure>
    </testcase>
    <testcase name="Skips" file="a.cc" line="7" status="run" result="skipped" time="0" classname="Suite">
      <skipped message="a.cc:8&#x0A;no GPU"><![CDATA[a.cc:8
no GPU]]></skipped>
    </testcase>
    <testcase name="DISABLED_One" file="a.cc" line="9" status="notrun" result="suppressed" time="0" classname="Suite" />
    <testcase name="Records" file="a.cc" line="10" status="run" result="completed" time="0" classname="Suite">
      <properties>
        <property name="answer" value="42"/>
      </properties>
    </testcase>
  </testsuite>
</testsuites>
XML
expect "every outcome of GoogleTest" 1 "2 passed, 1 failed, 1 skipped"

file a/test.xml <<'XML'
<testsuites><testsuite><testcase name="A" status="run" result="completed" /></testsuite></testsuites>
XML
file b/c/other.xml <<'XML'
<testsuites><testsuite><testcase name="B" status="run" result="completed" /></testsuite></testsuites>
XML
file b/test_attempts/attempt_1.xml <<'XML'
<testsuites><testsuite><testcase name="B" status="run"><error message="flaky"></error></testcase></testsuite></testsuites>
XML
file b/test.log <<'XML'
<testsuites><testsuite><testcase name="Log" status="run" result="completed" /></testsuite></testsuites>
XML
expect "XML files at any depth; no logs, no earlier attempts" 0 "2 passed, 0 failed, 0 skipped"

file test.xml <<'XML'
<testsuites><testsuite><testcase name="A" status="run" result="completed" /><testcase name="B" status="run" result="completed"><failure message="m"/></testcase><testcase name="C" status="run" result="skipped"><skipped/></testcase><testcase name="D" status="run" result="completed"></testcase></testsuite></testsuites>
XML
expect "everything on one line" 1 "2 passed, 1 failed, 1 skipped"

file test.xml <<'XML'
<testsuites><testsuite>
<testcase name="&lt;testcase status=&quot;notrun&quot;&gt;" status="run" result="completed" />
<testcase name="Cdata" status="run" result="skipped"><skipped message="&lt;failure"><![CDATA[<failure message="m">
<testcase name="Printed" status="run" result="completed"> ]]>]]&gt;<![CDATA[ <error/> ]]></skipped></testcase>
</testsuite></testsuites>
XML
expect "messages that look like tags" 0 "1 passed, 0 failed, 1 skipped"

file test.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="common/crash_test" tests="1" failures="0" errors="1">
    <testcase name="common/crash_test" status="run" duration="0" time="0"><error message="exited with error code 139"></error></testcase>
      <system-out>
Generated test.log (if the file is not UTF-8, then this may be unreadable):
<![CDATA[[ RUN      ] Suite.Crashes
<testcase name="Printed" status="run" result="completed" />]]>
      </system-out>
    </testsuite>
</testsuites>
XML
expect "Bazel's file for a crashed test" 1 "0 passed, 1 failed, 0 skipped"

file test.xml <<'XML'
<testsuites>
  <testsuite name="tools/shell_test" tests="1" failures="0" errors="0">
    <testcase name="tools/shell_test" status="run" duration="0" time="0"></testcase>
      <system-out><![CDATA[]]></system-out>
    </testsuite>
</testsuites>
XML
expect "Bazel's file for a passing shell test" 0 "1 passed, 0 failed, 0 skipped"

file test.xml <<'XML'
<testsuites><testsuite><testcase name="A" status="run" result="completed" />
<testcase name="B" status="run" result="comp
XML
expect "an unfinished file is a failure" 1 "1 passed, 1 failed, 0 skipped"

: | file test.xml
expect "an empty file is a failure" 1 "0 passed, 1 failed, 0 skipped"

file test.xml <<'XML'
<testsuites><testsuite><error message="died outside any case"/></testsuite></testsuites>
XML
expect "an error outside the cases is a failure" 1 "0 passed, 1 failed, 0 skipped"

file test.xml <<'XML'
<testsuites><testsuite><testcase name="A" status="run" result="skipped"><skipped/></testcase></testsuite></testsuites>
XML
expect "nothing but skipped tests: none ran" 1 "0 passed, 0 failed, 1 skipped"

file test.xml <<'XML'
<testsuites tests="0" name="AllTests">
</testsuites>
XML
expect "a file without cases: none ran" 1 "0 passed, 0 failed, 0 skipped"

ln -s case "$work/link"
folder=$work/link
file test.xml <<'XML'
<testsuites><testsuite><testcase name="A" status="run" result="completed" /></testsuite></testsuites>
XML
expect "a symbolic link to the folder, as bazel-testlogs is" 0 "1 passed, 0 failed, 0 skipped"

echo "$cases cases, $wrong wrong"
[ "$wrong" = 0 ]

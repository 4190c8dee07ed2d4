#!/bin/sh
# Tests run_gpu_tests.sh on a bundle whose tests are small scripts.

tools=$(dirname "$0")
[ -z "${TEST_SRCDIR:-}" ] || tools=$TEST_SRCDIR/$TEST_WORKSPACE/tools
work=$(mktemp -d) && trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
bundle="$work/a bundle"
mkdir -p "$bundle/tests" "$bundle/benchmarks"
cp "$tools/count_tests.sh" "$tools/cuda_libraries.sh" "$tools/run_gpu_tests.sh" "$bundle"
echo g0123456789ab >"$bundle/COMMIT"
touch "$bundle/benchmarks/sweep"
wrong=0

# add_test NAME XML STATUS: a test binary that writes these cases ("" for no file) and ends with that status.
add_test() {
  cat >"$bundle/tests/$1" <<SCRIPT
#!/bin/sh
echo "output of $1"
cases='$2'
[ -z "\$cases" ] || echo "<testsuites><testsuite>\$cases</testsuite></testsuites>" >"\${1#--gtest_output=xml:}"
exit $3
SCRIPT
  chmod +x "$bundle/tests/$1"
}

passes='<testcase name="P" status="run" result="completed" />'
fails='<testcase name="F" status="run" result="completed"><failure message=""/></testcase>'
skips='<testcase name="S" status="run" result="skipped"><skipped message=""/></testcase>'

add_test good "$passes$passes" 0
add_test half_skipped "$passes$skips" 0
add_test skipped "$skips" 0
add_test failing "$passes$fails" 1
add_test crashing "" 139
add_test leaking "$passes" 23
add_test silent "" 0
chmod -R a-w "$bundle"

# run ARGUMENTS...: runs the script in another folder; keeps its output and status.
run() {
  output=$(cd / && "$bundle/run_gpu_tests.sh" "$@" 2>&1)
  status=$?
}

# expect NAME STATUS LAST_LINE PATTERN...: judges the last run; its output must match each pattern. A ! negates one.
expect() {
  name=$1
  last=$(printf '%s\n' "$output" | tail -n 1)
  bad=
  [ "$status" = "$2" ] || bad="$bad; returned $status"
  [ "$last" = "$3" ] || bad="$bad; ended with '$last'"
  shift 3
  for pattern in "$@"; do
    if printf '%s\n' "$output" | grep -q -- "${pattern#!}"; then
      [ "$pattern" = "${pattern#!}" ] || bad="$bad; printed '${pattern#!}'"
    else
      [ "$pattern" != "${pattern#!}" ] || bad="$bad; did not print '$pattern'"
    fi
  done
  [ -z "$bad" ] && return
  wrong=$((wrong + 1))
  printf '%s%s\n%s\n\n' "$name" "$bad" "$output"
}

run
expect "all" 1 "5 passed, 4 failed, 2 skipped" \
  "g0123456789ab" "benchmarks/sweep" \
  "^PASS  good " "^PASS  half_skipped " "^SKIP  skipped " \
  "^FAIL  failing " "^FAIL  crashing " "^FAIL  leaking " "^FAIL  silent " \
  "^    output of failing" "^    output of crashing" "!output of good"

run --filter=good
expect "one" 0 "2 passed, 0 failed, 0 skipped" "^PASS  good " "!skipped  "

run '--filter=*skipped'
expect "a glob; skips are allowed" 0 "1 passed, 0 failed, 2 skipped" "!FAIL"

run '--filter=*skipped' --no-skips
expect "skips are failures" 1 "1 passed, 0 failed, 2 skipped" "^FAIL  half_skipped" "^FAIL  skipped" "output of skipped"

run --filter=good --no-skips
expect "no skips to fail" 0 "2 passed, 0 failed, 0 skipped" "^PASS  good "

run --filter=nothing
expect "no such test" 1 "0 passed, 0 failed, 0 skipped"

run --filter=good --wrapper='env WRAPPED=1'
expect "a wrapper that works" 0 "2 passed, 0 failed, 0 skipped"

run --filter=good "--wrapper=$work/guilty --exit 9"
expect "a wrapper that cannot start" 1 "0 passed, 1 failed, 0 skipped" "^FAIL  good "

printf '#!/bin/sh\nshift\n"$@"\nexit 9\n' >"$work/guilty"
chmod +x "$work/guilty"
run --filter=good "--wrapper=$work/guilty --all"
expect "a wrapper that finds a fault" 1 "2 passed, 1 failed, 0 skipped" "^FAIL  good .*exit status 9"

run --no-such-flag
expect "an unknown flag" 2 "$output" "no-such-flag"

echo "$wrong wrong"
[ "$wrong" = 0 ]

# What the tests of programs share: source it with `program` set to the path of the program under test. Works in a fresh
# folder of its own, which is the current one afterwards.

name_of_program=$(basename "$program")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# expect_exit CODE ARGUMENTS...: runs the program, output in out and err.
expect_exit() {
  want=$1
  shift
  "$program" "$@" >out 2>err </dev/null
  got=$?
  [ "$got" = "$want" ] || fail "$name_of_program $* exits with $got, not $want: $(cat err)"
}

# expect_refused NAME ARGUMENTS...: exit 2, and one line that names the flag.
expect_refused() {
  name=$1
  shift
  expect_exit 2 "$@"
  [ "$(wc -l <err)" = 1 ] || fail "$name_of_program $* says more or less than one line: $(cat err)"
  grep -q -e "$name" err || fail "$name_of_program $* does not name $name: $(cat err)"
}

# The records of a CSV, the header not counted.
rows() { tail -n +2 "$1" | wc -l | tr -d ' '; }

# cells FILE COLUMN...: those cells of each record, with commas between them.
cells() {
  python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print(",".join(row[column] for column in sys.argv[2:]))' "$@"
}

# columns_before COLUMN FILE: the file as it was before that column and those behind it were added.
columns_before() {
  python3 -c 'import csv, sys
table = list(csv.reader(open(sys.argv[2], newline="")))
end = table[0].index(sys.argv[1])
csv.writer(sys.stdout).writerows(row[:end] for row in table)' "$@"
}

# The last command of a test.
finish() {
  [ "$failures" = 0 ] && echo "PASS"
  [ "$failures" = 0 ]
}

"""compare as its user sees it: exit codes, one line for bad input, the files that it writes."""

import contextlib
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from benchmarks.report import compare
from benchmarks.report.example_rows import csv_text, timed

SIZES = range(1, 41)


def rows_of(factor=1.0, **cells):
  return [{"rows": size, **timed(factor * size), **cells} for size in SIZES]


class CompareTest(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)
    before = os.getcwd()
    self.addCleanup(os.chdir, before)
    os.chdir(self.folder)
    self.write("a.csv", *rows_of())
    self.write("b.csv", *rows_of(1.2))

  def write(self, name, *rows):
    path = self.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(csv_text(*rows))

  def run_compare(self, want, *arguments):
    """Returns its standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
      try:
        code = compare.main(list(arguments))
      except SystemExit as end:
        code = end.code
    self.assertEqual(code, want, (arguments, out.getvalue(), err.getvalue()))
    return out.getvalue(), err.getvalue()

  def refused(self, word, *arguments):
    out, err = self.run_compare(2, *arguments)
    self.assertEqual((out, err.count("\n")), ("", 1), (arguments, out, err))
    self.assertIn(word, err)

  def last_line(self, want, *arguments):
    return self.run_compare(want, *arguments)[0].splitlines()[-1]

  def test_exit_codes(self):
    self.assertIn("40 same", self.last_line(0, "a.csv", "a.csv"))
    self.assertIn("40 slower", self.last_line(1, "a.csv", "b.csv"))
    self.assertIn("40 faster", self.last_line(0, "b.csv", "a.csv"))
    self.assertIn("40 slower", self.last_line(0, "a.csv", "b.csv", "--threshold=0.3"))
    self.assertIn("40 same", self.last_line(0, "a.csv", "b.csv", "--threshold=0.3", "--same=0.25"))
    self.assertIn("40 unclear", self.last_line(0, "a.csv", "b.csv", "--metric=total_ms"))

  def test_one_slow_row_of_many_is_found_and_named(self):
    rows = rows_of()
    rows[7] = {"rows": 8, **timed(8 * 1.1)}
    self.write("c.csv", *rows)
    last = self.last_line(1, "a.csv", "c.csv")
    self.assertIn("1 slower by more than 5 %", last)
    self.assertIn("naive float 8x64x64", last)

  def test_bad_input(self):
    self.write("other/none.txt")
    self.write("header.csv")
    self.write("elsewhere.csv", *rows_of(implementation="tiled"))
    self.write("hot.csv", *rows_of(l2="hot"))
    self.write("skipped.csv", *rows_of(status="skipped"))
    (self.folder / "limits.csv").write_text("case,verdict\n1,pass\n")
    (self.folder / "empty.csv").write_text("")
    for word, *arguments in (
        ("A, B",), ("B", "a.csv"), ("c.csv", "a.csv", "b.csv", "c.csv"), ("nowhere.csv", "a.csv", "nowhere.csv"),
        ("nowhere.csv", "a.csv,nowhere.csv", "b.csv"), ("other", "a.csv", "other"), ("header.csv", "a.csv", "header.csv"),
        ("limits.csv", "a.csv", "limits.csv"), ("empty.csv", "empty.csv", "a.csv"), ("tiled", "a.csv", "elsewhere.csv"),
        ("l2 keeps 40 rows", "a.csv", "hot.csv"), ("ok -> skipped", "a.csv", "skipped.csv"),
        ("skipped in both", "skipped.csv", "skipped.csv"), ("--unknown", "a.csv", "b.csv", "--unknown"),
        ("--thresh", "a.csv", "b.csv", "--thresh=0.1"), ("--metric", "a.csv", "b.csv", "--metric=gbps"),
        ("--limit", "a.csv", "b.csv", "--limit=-1"), ("--limit", "a.csv", "b.csv", "--limit=few"),
        ("--same=0.2", "a.csv", "b.csv", "--same=0.2"), ("--csv", "a.csv", "b.csv", "--csv=nowhere/out.csv"),
        ("--csv", "a.csv", "b.csv", "--csv=other"), ("--csv", "a.csv", "b.csv", "--csv=./b.csv")):
      with self.subTest(arguments):
        self.refused(word, *arguments)
    for value in ("5", "1", "-0.1", "5%", "nan", "inf", ""):
      with self.subTest(value):
        self.refused("--threshold", "a.csv", "b.csv", f"--threshold={value}")
        self.refused("--same", "a.csv", "b.csv", f"--same={value}")
    self.assertEqual((self.folder / "b.csv").read_text(), csv_text(*rows_of(1.2)))

  def test_help(self):
    out, err = self.run_compare(0, "--help")
    for flag in ("--metric", "--threshold", "--same", "--limit", "--csv"):
      self.assertIn(flag, out)
    self.assertEqual(err, "")

  def test_changes_of_status(self):
    for status, code in (("mismatch", 1), ("error", 1), ("out_of_memory", 0), ("skipped", 0)):
      with self.subTest(status):
        self.write("c.csv", *rows_of()[:-1], {"rows": SIZES[-1], "status": status})
        self.assertIn(f"ok -> {status}: 1 row", self.run_compare(code, "a.csv", "c.csv")[0])
    self.write("c.csv", *rows_of(status="error"))
    self.assertIn("40 wrong in B", self.last_line(1, "a.csv", "c.csv"))
    self.last_line(1, "a.csv", "c.csv", "--threshold=0.9")

  def test_rows_of_one_side_only(self):
    self.write("c.csv", *rows_of()[:30], *rows_of(implementation="tiled"))
    out, _ = self.run_compare(0, "a.csv", "c.csv")
    self.assertIn("only in A: 10 rows (naive float 31x64x64", out)
    self.assertIn("only in B: 40 rows (tiled float 1x64x64", out)

  def test_what_else_differs_is_told_first(self):
    self.write("c.csv", *rows_of(device="another GPU", driver="2", git_commit="g2", throttle_reason="power",
                                 sm_clock_mhz=1500))
    out, _ = self.run_compare(0, "a.csv", "c.csv")
    top = out[:out.index("verdict")]
    for words in ("a GPU -> another GPU", "driver: nothing -> 2", "g1 -> g2", "none -> power", "0.758", "40 of 40 rows"):
      self.assertIn(words, top)
    self.assertNotIn("Different", self.run_compare(1, "a.csv", "b.csv")[0])
    self.write("c.csv", *rows_of(sm_clock_mhz=1980 / 1.019))
    self.assertNotIn("sm_clock_mhz", self.run_compare(0, "a.csv", "c.csv")[0])

  def test_table(self):
    out, _ = self.run_compare(1, "a.csv", "b.csv", "--limit=5")
    self.assertEqual(sum(line.startswith("naive ") for line in out.splitlines()), 5)
    self.assertIn("35 more", out)
    out, _ = self.run_compare(1, "a.csv", "b.csv", "--limit=0")
    lines = [line for line in out.splitlines() if line.startswith("naive ")]
    self.assertEqual(len(lines), 40)
    self.assertEqual(len({line.index("1.200") for line in lines}), 1)

  def test_folders_and_several_files(self):
    for i, factor in enumerate((1.0, 1.2, 1.1)):
      self.write(f"runs/{i}.csv", *rows_of(factor))
    for several in ("runs", "runs/0.csv,runs/1.csv,runs/2.csv"):
      self.assertIn("40 unclear", self.last_line(0, several, "b.csv"))

  def test_csv_has_all_rows(self):
    self.write("c.csv", *rows_of(1.2)[1:], {"implementation": "new, here", "rows": 2**31})
    self.run_compare(1, "a.csv", "c.csv", "--csv=out.csv", "--limit=1")
    data = (self.folder / "out.csv").read_bytes()
    self.assertEqual(data.count(b"\n"), data.count(b"\r\n"))
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))
    self.assertEqual(len(rows), 41)
    verdicts = [row["verdict"] for row in rows]
    self.assertEqual({verdict: verdicts.count(verdict) for verdict in verdicts}, {"slower": 39, "missing": 1, "extra": 1})
    self.assertEqual((rows[0]["regression"], float(rows[0]["ratio"]), rows[0]["git_commit_a"]), ("1", 1.2, "g1"))
    (extra,) = [row for row in rows if row["verdict"] == "extra"]
    self.assertEqual((extra["implementation"], extra["rows"], extra["ratio"]), ("new, here", "2147483648", ""))

  def test_what_could_not_be_read_is_told(self):
    (self.folder / "c.csv").write_text(csv_text(*rows_of())[:-20])
    out, err = self.run_compare(0, "a.csv", "c.csv")
    self.assertIn("c.csv:41", err)
    self.assertIn("only in A: 1 row", out)

  def test_as_a_program(self):
    program = [sys.executable, "-m", "benchmarks.report.compare"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                   "BUILD_WORKING_DIRECTORY": str(self.folder)}
    for code, *arguments in ((0, "a.csv", "a.csv"), (1, "a.csv", "b.csv"), (2, "a.csv", "nowhere.csv"), (2,)):
      ended = subprocess.run([*program, *arguments], env=environment, cwd="/", capture_output=True, text=True, check=False)
      self.assertEqual(ended.returncode, code, ended.stderr)
      self.assertNotIn("Traceback", ended.stderr)


if __name__ == "__main__":
  unittest.main()

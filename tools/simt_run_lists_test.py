"""Tests of simt_run_lists.py with a simt_run that writes what the tests say."""

import contextlib
import csv
import io
import pathlib
import stat
import tempfile
import unittest

from tools import simt_run_counters
from tools import simt_run_lists

PROGRAM = """#define ROWS 1024  // of a GPU
int main() {
  int n = 1 << 24, m = 3;
  for (int n = 0; n < 4; ++n) f(n);
  const size_t k{7};
  int sizes[] = {1, 2, 3};
  Kernel<<<1, 32>>>(n);
}
"""

# Writes a profile with one launch that loads as often as the program's source says behind "loads", and fails where it says so.
SIMT_RUN = """#!/bin/sh
for argument; do
  case $argument in
    --csv=*) csv=${argument#--csv=} ;;
    *.cu) source=$argument ;;
  esac
done
grep -q "fails" $source && { echo "simt_run: it fails"; exit 2; }
loads=$(sed -n 's/.*loads \\([0-9]*\\).*/\\1/p' $source)
{
  echo "kernel,at,grid,block,launches,order,HEAD"
  echo "Kernel,a.cu:7,1,32,1,0,$loads,4,1,4,0,0"
} > $csv
""".replace("HEAD", ",".join(simt_run_counters.COUNTERS))


class SizesTest(unittest.TestCase):

  def test_pairs(self):
    self.assertEqual(simt_run_lists.sizes_of("N=8 M=9"), [("N", "8"), ("M", "9")])
    self.assertEqual(simt_run_lists.sizes_of("n=1 << 7;S={1, 2}"), [("n", "1 << 7"), ("S", "{1, 2}")])
    self.assertEqual(simt_run_lists.sizes_of(""), [])

  def test_what_is_replaced(self):
    for name, value, before, after in (
        ("ROWS", "64", "#define ROWS 1024  // of a GPU\n", "#define ROWS 64\n"),
        ("n", "99", "int n = 1 << 24, m = 3;", "int n = 99, m = 3;"),
        ("m", "5", "m = 3;", "m = 5;"),
        ("k", "9", "k{7};", "k{9};"),
        ("sizes", "{4, 5}", "{1, 2, 3}", "{4, 5}"),
    ):
      self.assertEqual(simt_run_lists.with_size(PROGRAM, name, value), PROGRAM.replace(before, after), name)

  def test_what_is_no_size(self):
    for text in ("// n = 3;\n", "if (n == 3);\n", "for (int n = 0;;) {}\n", "a.n = 3;\n", "int nn = 3;\n", "#define f(n) 3\n"):
      self.assertIsNone(simt_run_lists.with_size(text, "n", "4"), text)

  def test_a_size_that_is_given_twice_is_the_next_one(self):
    once = simt_run_lists.with_size("int n = 1;\nint n = 2;\n", "n", "4")
    self.assertEqual(once, "int n = 4;\nint n = 2;\n")
    self.assertEqual(simt_run_lists.with_size(once, "n", "4"), "int n = 4;\nint n = 4;\n")


class TakeTest(unittest.TestCase):

  def test_each_row_has_its_launches_by_their_order(self):
    extent = simt_run_counters.extent
    launches = [{"kernel": "K(int)", "at": None, "grid": extent("1"), "block": extent(block), "taken": False, "number": number}
                for number, block in enumerate(("32", "64", "32", "32"))]
    common = {"kernel": "K", "grid": "1", "block": "32", "second": ""}
    rows = [{**common, "at": "a.cu:1", "launches": "2", "order": "0 3"}, {**common, "at": "a.cu:2", "launches": "1", "order": "2"}]
    taken = [[launch["number"] for launch in simt_run_counters.take(launches, row, rows)] for row in rows]
    self.assertEqual(taken, [[0, 3], [2]])
    self.assertEqual(simt_run_counters.indices("0-2 7"), [0, 1, 2, 7])


class RecountTest(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)
    self.sources = self.folder / "sources/owner/name/src"
    self.sources.mkdir(parents=True)
    self.simt_run = self.folder / "simt_run"
    self.simt_run.write_text(SIMT_RUN, encoding="ascii")
    self.simt_run.chmod(self.simt_run.stat().st_mode | stat.S_IXUSR)
    (self.folder / "ncu").mkdir()

  def program(self, name, text, sizes="", arguments="1 {values:3}", headers=""):
    (self.sources / f"{name}.cu").write_text(text, encoding="ascii")
    with (self.folder / "list.csv").open("a", encoding="ascii") as file:
      if file.tell() == 0:
        file.write("program,repository,sources,sizes,arguments,headers\n")
      file.write(f"{name},owner/name@abc,src/{name}.cu,{sizes},{arguments},{headers}\n")

  def measured(self, name, *loads):
    metrics = list(simt_run_counters.COUNTERS.values())
    rows = ['"Kernel Name","Block Size","Grid Size",' + ",".join(f'"{m}"' for m in metrics), '"","","",' + ",".join('""' for _ in metrics)]
    rows += [f'"Kernel(int)","(32, 1, 1)","(1, 1, 1)","{count}","4","1","4","0","0"' for count in loads]
    (self.folder / f"ncu/ncu_{name}.csv").write_text("\n".join(rows) + "\n", encoding="ascii")

  def run_on(self, *arguments):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
      simt_run_lists.main([f"--list={self.folder}/list.csv", f"--sources={self.folder}/sources", f"--work={self.folder}/work", f"--simt_run={self.simt_run}",
                           f"--csv={self.folder}/out.csv", f"--ncu={self.folder}/ncu", *arguments])
    return said.getvalue()

  def test_equal_unequal_failed_and_missing_launches(self):
    self.program("same", "// loads 7\n")
    self.program("other", "// loads 8\n")
    self.program("broken", "fails\n")
    self.program("uncounted", "// loads 1\n")
    for name, loads in (("same", (7,)), ("other", (9, 9)), ("broken", (1,))):
      self.measured(name, *loads)
    said = self.run_on()
    with (self.folder / "out.csv").open(newline="", encoding="ascii") as file:
      rows = {row["program"]: row for row in csv.DictReader(file)}
    self.assertEqual({name: row["compiled_exact"] for name, row in rows.items()}, {"same": "6", "other": "5"})
    self.assertEqual(rows["other"]["ncu_global_load_requests"], "9")
    self.assertIn("broken, source: exit code 2, simt_run: it fails", said)
    self.assertIn("not in a profile: broken Kernel(int)", said)
    self.assertIn("not in a profile: other Kernel(int)", said)
    self.assertIn("1 of 2 launches have all counters equal, compiled accesses", said)

  def test_sizes_reach_the_copy_and_not_the_checkout(self):
    self.program("sized", "const int n = 5;  // loads 3\n", "n=2 other=4")
    self.measured("sized", 3)
    self.assertIn("sized: other=4 is a macro", self.run_on())
    copy = (self.folder / "work/programs/sized/src/sized.cu").read_text(encoding="ascii")
    self.assertEqual(copy, "#define other 4\n#line 1\nconst int n = 2;  // loads 3\n")
    self.assertIn("n = 5", (self.sources / "sized.cu").read_text(encoding="ascii"))
    self.assertEqual((self.folder / "work/programs/sized/file_1").read_text(encoding="ascii"), "300.5\n301.5\n302.5\n")

  def test_prepare_lists_all_programs(self):
    self.program("one", "// loads 7\n")
    self.run_on("--prepare")
    self.assertEqual((self.folder / "work/programs.txt").read_text(encoding="ascii"), "one\tsrc/one.cu\tsrc/one.cu\t1 ../file_1\n")

  def test_files_of_the_checkout_and_headers_of_another(self):
    other = self.folder / "sources/them/samples/Common"
    other.mkdir(parents=True)
    (other / "timer.h").write_text("timer", encoding="ascii")
    (self.sources / "data.txt").write_text("12", encoding="ascii")
    self.program("one", "// loads 7\n", arguments="{file:src/data.txt}", headers="them/samples@abc/Common")
    self.run_on("--prepare")
    work = self.folder / "work/programs"
    self.assertEqual((work / "one/file_0").read_text(encoding="ascii"), "12")
    self.assertEqual((work / "one/headers/timer.h").read_text(encoding="ascii"), "timer")
    program = simt_run_lists.Program({"program": "one", "repository": "owner/name@abc", "sources": "src/one.cu", "sizes": "", "arguments": "",
                                      "headers": "them/samples@abc/Common"}, self.folder / "sources", self.folder / "work")
    self.assertIn(str(work / "one/headers"), program.command()[0])


if __name__ == "__main__":
  unittest.main()

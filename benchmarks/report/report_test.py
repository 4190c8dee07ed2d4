import contextlib
import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

from benchmarks.report import example_rows
from benchmarks.report import page
from benchmarks.report import report

_FLOAT_ROWS = [example_rows.timed(n ** 3 * slower * 1e-8, implementation=name, rows=n, cols=n, depth=n, gflops=200 / slower)
               for n in (64, 128, 256, 512) for name, slower in (("naive", 2), ("tiled", 1))]
_ROWS = [{**row, "dtype": "double"} for row in _FLOAT_ROWS]  # These have fewer charts.


class ReportTest(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)
    self.addCleanup(os.chdir, os.getcwd())
    self.put("in/a.csv", example_rows.csv_text(*_ROWS))

  def put(self, name, text):
    path = self.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

  def run_report(self, *arguments):
    """Runs the report from another folder, as `bazel run` does. Returns the exit code, standard output and standard error."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), \
         mock.patch.dict(os.environ, BUILD_WORKING_DIRECTORY=str(self.folder)):
      try:
        code = report.main(list(arguments))
      except SystemExit as left:
        code = left.code
    return code, out.getvalue(), errors.getvalue()

  def written(self, output="report"):
    root = self.folder / output
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}

  def test_writes_page_workbook_and_charts(self):
    self.put("in/a.csv", example_rows.csv_text(*_FLOAT_ROWS))
    code, out, errors = self.run_report("in/a.csv")
    self.assertEqual((code, errors), (0, ""))
    files = self.written()
    self.assertLessEqual({"report.html", "report.xlsx"}, files)
    charts = {name for name in files if name.startswith("charts/")}
    self.assertEqual(files - charts, {"report.html", "report.xlsx"})
    self.assertTrue(charts)
    self.assertEqual({name[:-4] for name in charts if name.endswith(".png")},
                     {name[:-4] for name in charts if name.endswith(".svg")})
    for name in ("report/report.html", "report/report.xlsx", "report/charts"):
      self.assertIn(name, out)
    page = (self.folder / "report/report.html").read_text(encoding="utf-8")
    for part in ("a GPU", "tiled", "naive", "<svg"):
      self.assertIn(part, page)

  def test_only(self):
    for only, expected in (("html", {"report.html"}), ("xlsx", {"report.xlsx"}),
                           ("html,xlsx", {"report.html", "report.xlsx"})):
      with self.subTest(only):
        self.assertEqual(self.run_report("in", f"--only={only}", f"--output=out-{only}")[0], 0)
        self.assertEqual(self.written(f"out-{only}"), expected)
    self.assertEqual(self.run_report("in", "--only=charts", "--output=c")[0], 0)
    self.assertEqual({name.split("/")[0] for name in self.written("c")}, {"charts"})

  def test_a_cut_table_refers_only_to_a_workbook_that_is_written(self):
    rows = [{**_ROWS[0], "implementation": f"kernel{i}", "status": "error"} for i in range(page.MOST_ROWS + 1)]
    self.put("in/many.csv", example_rows.csv_text(*rows))
    for only, refers in (("html", False), ("html,xlsx", True)):
      with self.subTest(only):
        self.assertEqual(self.run_report("in", f"--only={only}")[0], 0)
        text = (self.folder / "report/report.html").read_text(encoding="utf-8")
        self.assertIn(f"of {len(rows)} rows", text)
        self.assertEqual("report.xlsx" in text, refers)

  def test_a_folder_is_its_csv_files(self):
    self.put("in/b.csv", example_rows.csv_text({**_ROWS[0], "implementation": "from_b"}))
    self.put("in/deeper/c.csv", example_rows.csv_text({**_ROWS[0], "implementation": "from_c"}))
    self.put("in/notes.txt", "not CSV")
    self.assertEqual(self.run_report("in", "--only=html")[0], 0)
    page = (self.folder / "report/report.html").read_text(encoding="utf-8")
    self.assertIn("from_b", page)
    self.assertNotIn("from_c", page)

  def test_title(self):
    self.run_report("in", "--only=html", "--title=Mine & <b>")
    self.assertIn("<title>Mine &amp; &lt;b&gt;</title>", (self.folder / "report/report.html").read_text(encoding="utf-8"))

  def test_problems_are_told_and_the_rest_is_reported(self):
    text = example_rows.csv_text(*_ROWS)
    self.put("in/a.csv", text[:-5])
    code, _, errors = self.run_report("in", "--only=html")
    self.assertEqual(code, 0)
    self.assertEqual(errors.count("\n"), 1)
    self.assertIn("a.csv:9", errors)
    self.assertIn("a.csv:9", (self.folder / "report/report.html").read_text(encoding="utf-8"))

  def test_rows_that_failed_make_a_page_too(self):
    self.put("in/a.csv", example_rows.csv_text({**_ROWS[0], "status": "out_of_memory", "message": "<b>no memory"}))
    self.assertEqual(self.run_report("in")[0], 0)
    page = (self.folder / "report/report.html").read_text(encoding="utf-8")
    self.assertIn("out_of_memory", page)
    self.assertNotIn("<b>no", page)

  def test_mistakes_of_the_caller(self):
    self.put("empty.csv", "")
    self.put("folder/readme.txt", "")
    self.put("file", "")
    for arguments, part in (
        ([], "FILE_OR_FOLDER"), (["none.csv"], "none.csv"), (["empty.csv"], "empty.csv"), (["folder"], "folder"),
        (["in", "--only=pdf"], "pdf"), (["in", "--only="], "--only"), (["in", "--outptu=x"], "--outptu"),
        (["in", "--output=file"], "--output=file"), (["in", "--output=file/x"], "--output=file/x")):
      with self.subTest(arguments):
        code, out, errors = self.run_report(*arguments)
        self.assertEqual((code, out, errors.count("\n")), (2, "", 1), errors)
        self.assertIn(part, errors)

  def test_a_file_in_the_way(self):
    (self.folder / "report/report.xlsx").mkdir(parents=True)
    code, _, errors = self.run_report("in", "--only=xlsx")
    self.assertEqual((code, errors.count("\n")), (2, 1), errors)
    self.assertIn("report.xlsx", errors)


if __name__ == "__main__":
  unittest.main()

"""Tables and figures that are filled from CSVs, and what is wrong with a page in one line."""

import unittest

from tools import docs_pages_fixture, docs_tables
from tools.docs import figures

RUNS = """implementation,rows,cols,ms,gbps,verdict,message
copy,64,64,0.5,400,pass,
copy,128,128,2,800,pass,
slow,64,64,1.5,100.26,FAIL,
slow,128,128,8,200,FAIL,
slow,256,256,,,FAIL,
"a; b",64,64,0.25,1234.5,pass,
half,64,64,0.001,,,
half,128,128,0.01,,,
"""
OTHER = "implementation,rows,cols,ms\ncopy,64,64,0.4\n"


class DocsTablesTest(docs_pages_fixture.PagesTest):

  results = {"runs.csv": RUNS, "other.csv": OTHER}

  def page(self, text=None):
    page = self.root / "docs" / "page.md"
    if text is not None:
      page.write_text(text)
    return page.read_text()

  def figure(self, written, title):
    """What the tool makes of a figure, or what it says is wrong."""
    self.page(f"[{written}](results/runs.csv \"{title}\")\n")
    wrong = docs_tables.update(self.root, check=False)
    return wrong[0] if wrong else self.page().partition("]")[0][1:]

  def test_figures_are_filled(self):
    slow = "where implementation=slow, rows=64"
    for written, title, filled in (
        ("0", f"gbps; {slow}", "100"),
        ("0.0 GB/s", f"gbps; {slow}", "100.3 GB/s"),
        ("about **7.77** ms", f"ms; {slow}", "about **1.50** ms"),
        ("1,000", "gbps; where implementation=a; b", "1,234"),
        ("0.00", f"ms / gbps; {slow}", "0.01"),
        ("0", "times 1000 ms; where implementation=copy, rows=64", "500"),
        ("0.000", "min ms; where rows=64|128", "0.001"),
        ("0.00", "max ms; where rows<=128", "8.00"),
        ("0.0", "median gbps; where rows>=64, rows<=128, verdict=FAIL", "150.1"),
        ("0.0", "geomean ms; where implementation=copy", "1.0"),
        ("0.00", "sum ms; where implementation=copy", "2.50"),
        ("0", "count; where verdict=FAIL", "3"),
        ("0", "count", "8"),
        ("0", "count; where rows==cols, message=", "8"),
        ("0", "count; where implementation=none", "0"),
        ("0.0", f"ms; {slow}; over ms; where implementation=copy, rows=64", "3.0"),
        ("0 %", "percent_less ms; where implementation=copy, rows=64; over ms; " + slow, "67 %"),
        ("0 %", f"percent_more ms; {slow}; over ms; where implementation=copy, rows=64", "200 %"),
        ("0 %", "percent_apart ms; where implementation=copy, rows=64; over ms; " + slow, "67 %"),
        ("0 %", "percent count; where verdict=pass; over count", "38 %"),
        ("0.00", "ms; where implementation=copy, rows=64; over ms in other.csv; where implementation=copy", "1.25"),
        # Each row of slow over the one of the same problem of copy; the larger of the quotients.
        ("0.0", "max ms; where implementation=slow, rows<=128; over ms; where implementation=copy", "4.0"),
        ("0.0", "max ms; where implementation=slow, rows<=128; over max ms; where implementation=copy", "4.0"),
        ("0.0", "min ms; where implementation=slow, rows<=128; over ms; where implementation=copy", "3.0"),
        ("0", "crossover ms; where implementation=copy; over gbps; where implementation=slow, rows<=128", "64"),
        ("0", "crossover ms / gbps; where implementation=copy; over ms; where implementation=half", "128"),
        ("7 MB", "given: a data sheet", "7 MB"),
        ("0.0 MB", "computed: (8192 * 8192 * 4 - 1) / 1e6 ** 1", "268.4 MB"),
    ):
      with self.subTest(title):
        self.assertEqual(self.figure(written, title), filled)

  def test_commits_are_filled(self):
    (self.root / "docs" / "results" / "runs.csv").write_text(
        "git_commit,rows\nga3f6ebcfb4b,64\nga3f6ebcfb4b,128\n019357a8761a-dirty,256\n,512\nunknown,1024\n")
    for title, filled in (
        ("commit; where rows<=128", "a3f6ebc"),
        ("commit; where rows<=256", "a3f6ebc and 019357a"),
        ("commit; where rows=1", "docs/page.md:1: [`x`]: no rows"),
        ("commit; where rows=512", "docs/page.md:1: [`x`]: a row without its git_commit"),
        ("commit", "docs/page.md:1: [`x`]: a row without its git_commit"),
        ("commit; where rows=64; over rows", "docs/page.md:1: [`x`]: not of the form commit; where CONDITIONS"),
    ):
      with self.subTest(title):
        self.assertEqual(self.figure("`x`", title), filled)

  def test_what_is_wrong_with_a_figure(self):
    for written, title, wrong in (
        ("1", "ms; where implementation=none", "no rows"),
        ("1", "ms; where implementation=slow, rows=64|128", "2 rows, whose values differ: add conditions"),
        ("1", "ms; where rows=256", "ms is empty, not a number"),
        ("1 %", "percent_more ms; where implementation=copy, rows=64; over ms; where implementation=slow, rows=64",
         "percent_more is -67 %: the sentence says the opposite of the file"),
        ("1", "verdict; where rows=256", "verdict is FAIL, not a number"),
        ("1", "speed", "no column speed"),
        ("1", "ms; where speed=1", "no column speed"),
        ("1", "ms; where rows~1", "not a condition: rows~1"),
        ("1", "ms; where rows>=many", "rows>=many: not a number"),
        ("1", "ms of it", "not a value: ms of it"),
        ("1", "ms; rows=64", "not of the form VALUE; where CONDITIONS; over VALUE; where CONDITIONS"),
        ("1", "ms; where implementation=copy, rows=64; over ms in none.csv", "there is no such file"),
        ("1", "max ms; where implementation=copy; over ms; where rows=64",
         "several rows to divide by for 64x64: add conditions"),
        ("1", "max ms; where implementation=copy, rows=64; over ms; where rows=128, implementation=slow",
         "no rows of the same problem"),
        ("1", "crossover ms; where implementation=slow, rows<=128; over ms; where implementation=copy",
         "the ratio is not below 1 at the largest size"),
        ("1", "crossover ms; where implementation=copy", "crossover of what? There is no over"),
        ("1", "count; where rows=64; over count; where rows=1", "division by zero"),
        ("1 to 2", "count", "2 numbers in the text, not one"),
        ("many", "count", "0 numbers in the text, not one"),
        ("1", "computed: 2 * x", "not arithmetic: 2 * x"),
        ("1", "computed: 1 / 0", "not arithmetic: 1 / 0"),
        ("1", "computed: 2 *", "not arithmetic: 2 *"),
        ("1", "given:", "given: by what?"),
    ):
      with self.subTest(title):
        self.assertEqual(self.figure(written, title), f"docs/page.md:1: [{written}]: {wrong}")

  def test_check_changes_nothing(self):
    stale = "# Page\n\n[2](results/runs.csv \"count\") rows, [8](results/runs.csv \"count\") rows\n"
    self.page(stale)
    self.assertEqual(docs_tables.update(self.root, check=True),
                     ["docs/page.md:3: stale, tools/docs_tables.py updates it"])
    self.assertEqual(self.page(), stale)
    self.assertEqual(docs_tables.update(self.root, check=False), [])
    self.assertEqual(self.page(), stale.replace("[2]", "[8]"))
    self.assertEqual(docs_tables.update(self.root, check=True), [])

  def test_a_measured_figure_needs_a_source(self):
    for text, found in (
        ("It takes 12 us.", ["12 us"]),
        ("It takes **3 ms** of\n4 s, 5\nGB/s, 6 TFLOP/s and 7 %.", ["3 ms", "4 s", "5 GB/s", "6 TFLOP/s", "7 %"]),
        ("It uses 700 W at 1980 MHz.", ["700 W", "1980 MHz"]),
        ("It is 3 times as fast, 4 times the speed, 2 times faster.", ["3 times as", "4 times the speed", "2 times faster"]),
        ("It is 1.5 of it, or 0.9. A factor of 20.", ["1.5", "0.9", "factor of 20."]),
        ("It has 5 to 7 % and 1 of cuBLAS.", ["5 to 7 %", "1 of cuBLAS"]),
        ("It has 2 to [7 %](a.md \"given: x\").", ["2 to"]),
        ("| a | 1.5 |\n", ["1.5"]),
        ("[1.5](a.md) [2.5](a.md \"a title\")", ["1.5", "2.5"]),
        # No measured figures.
        ("A tile of 128x128, 32 lanes, 100 columns, 16 bytes, 48 KB, n = 4096, 3 stages.", []),
        ("It is 64 times and over 32 times the instructions; 2^23, sm_90a, 1/32 of the peak.", []),
        ("CUDA 13.0, compute capability 9.0, Bazel 4.2.3, the 95 % confidence interval.", []),
        ("See [1.5 of it](a.md \"given: x\") and [a](b_1.5.md).", []),
        ("`1.5 ms` <!-- 1.5 ms -->\n\n    1.5 ms\n\n```\n1.5 ms\n```\n\n## 1.5 ms\n", []),
        ("<!-- table a.csv; columns b -->\n| b |\n| 1.5 |\n<!-- end of table -->\n", []),
        ("https://a.b/1.5 arXiv:2301.03598 10.1145/1.5", []),
    ):
      with self.subTest(text):
        self.assertCountEqual([figure for _, figure in figures.unmarked(text)], found)

  def test_an_unmarked_figure_is_named_with_its_line(self):
    self.page("# Page\n\nIt takes\n12 us.\n")
    for check in (True, False):
      self.assertEqual(docs_tables.update(self.root, check), ["docs/page.md:4: 12 us: a figure without a source"])

  def test_links_of_the_front_page_are_relative_to_it(self):
    (self.root / "README.md").write_text("[0](docs/results/runs.csv \"count\")\n")
    self.assertEqual(docs_tables.update(self.root, check=False), [])
    self.assertEqual((self.root / "README.md").read_text(), "[8](docs/results/runs.csv \"count\")\n")

  def test_tables(self):
    marker = "<!-- table results/runs.csv; where rows>=64, rows<=64; columns implementation as kernel, ms, gbps -->\n"
    end = "<!-- end of table -->\n"
    self.page(marker + end)
    self.assertEqual(docs_tables.update(self.root, check=False), [])
    self.assertEqual(self.page(), marker + "| kernel | ms | gbps |\n| --- | ---: | ---: |\n| copy | 0.5 | 400 |\n"
                     "| slow | 1.5 | 100.3 |\n| a; b | 0.25 | 1234 |\n| half | 0.001 |  |\n" + end)
    for text, wrong in (
        ("<!-- table results/runs.csv; where rows=1; columns ms -->", "no rows of results/runs.csv"),
        ("<!-- table results/runs.csv; where implementation=copy|cpoy; columns ms -->", "no row has implementation=cpoy"),
        ("<!-- table results/runs.csv; and results/other.csv; where rows=1; columns ms -->", "no rows of results/other.csv"),
        ("<!-- table results/other.csv; columns ms over row 2 -->", "no column ms over row 2"),
        ("<!-- table results/runs.csv; columns ms, speed -->", "no column speed"),
        ("<!-- table results/none.csv; columns ms -->", "there is no such file"),
    ):
      with self.subTest(text):
        self.page(f"\n{text}\n{end}")
        self.assertEqual(docs_tables.update(self.root, check=True), [f"docs/page.md:2: {text}: {wrong}"])

  def test_tables_of_several_files_and_ratios(self):
    marker = ("<!-- table results/other.csv; and results/runs.csv; where implementation=copy|a; b, rows=64; "
              "columns implementation, ms, ms over row 1 as ratio, gbps over row 3 as speed -->\n")
    self.page(marker + "<!-- end of table -->\n")
    self.assertEqual(docs_tables.update(self.root, check=False), [])
    self.assertEqual(self.page().splitlines()[1:-1], [
        "| implementation | ms | ratio | speed |", "| --- | ---: | ---: | ---: |", "| copy | 0.4 | 1 |  |",
        "| copy | 0.5 | 1.25 | 0.324 |", "| a; b | 0.25 | 0.625 | 1 |"])


if __name__ == "__main__":
  unittest.main()

"""Tables that put a document's figures beside ours."""

import unittest

from tools import docs_pages_fixture, docs_tables

STUDIES = """study,table,implementation,rows,cols,block_x,block_y,l1,ms,iterations,gbps,load_gbps,speedup,remark
1,times,copy,64,64,16,16,on,2,10,100,7,,
1,times,slow,64,64,16,16,on,4,10,50,,2.1,a slip
1,times,slow,64,64,8,32,on,,,,,,no time
1,other,slow,64,64,8,32,on,9,,,,,
2,times,copy,64,64,16,16,on,1,,,,,
"""
RUNS = """implementation,rows,cols,block_x,block_y,kernel_ms_median,gbps,load_transactions,status,batch
copy,64,64,16,16,0.5,400,1e6,ok,
slow,64,64,16,16,2,100,4e6,ok,
slow,64,64,8,32,8,25,,error,
slow,64,64,8,32,7,25,,ok,3
slow,128,128,16,16,3,75,,ok,
"""
END = "<!-- end of table -->\n"


class StudyTablesTest(docs_pages_fixture.PagesTest):

  results = {"runs.csv": RUNS, "studies.csv": STUDIES}

  def table(self, which, columns):
    """The rows that the tool writes, as lists of cells without those of the rule, or what it says is wrong."""
    page = self.root / "docs" / "page.md"
    page.write_text(f"<!-- study {which} beside results/runs.csv; columns {columns} -->\n{END}")
    wrong = docs_tables.update(self.root, check=False)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.read_text().split("\n")[1:-2]]
    return wrong[0].split(" -->: ")[1] if wrong else rows[:1] + rows[2:]

  def test_both_sides_and_rows_without_ours(self):
    self.assertEqual(self.table("1 table times", "ms: kernel_ms_median, gbps, remark"), [
        ["kernel", "block", "their ms", "our kernel_ms_median", "their gbps", "our gbps", "remark"],
        ["copy", "16x16", "2", "0.5", "100", "400", ""],
        ["slow", "16x16", "4", "2", "50", "100", "a slip"],
        ["slow", "8x32", "", "", "", "", "no time"]])

  def test_one_side(self):
    self.assertEqual(self.table("1 table times blocks 16x16", "all_ms:, : gbps"),
                     [["kernel", "block", "their all_ms", "our gbps"], ["copy", "16x16", "20", "400"],
                      ["slow", "16x16", "40", "100"]])

  def test_shares_steps_and_gains(self):
    self.assertEqual(self.table("1 table times blocks 16x16", "ms: kernel_ms_median % of copy, speedup: step kernel_ms_median"),
                     [["kernel", "block", "their % of copy", "our % of copy", "their speedup", "our speedup"],
                      ["copy", "16x16", "100", "100", "", ""], ["slow", "16x16", "50", "25", "2.1", "0.25"]])
    self.assertEqual([row[-1] for row in self.table("1 table times", ": gain kernel_ms_median")],
                     ["our gain kernel_ms_median", "", "0.25", ""])

  def test_throughput_is_that_of_the_sectors(self):
    self.assertEqual(self.table("1 table times blocks 16x16", "load_gbps")[1:],
                     [["copy", "16x16", "7", "64"], ["slow", "16x16", "", "64"]])

  def test_another_size(self):
    self.assertEqual(self.table("1 table times blocks 16x16 at 128", "gbps")[1:],
                     [["copy", "16x16", "100", ""], ["slow", "16x16", "50", "75"]])

  def test_what_is_wrong(self):
    self.assertEqual(self.table("1 table other", "gbps"), "results/runs.csv has no row of this study")
    self.assertEqual(self.table("1 table times", "speed"), "no column speed")


if __name__ == "__main__":
  unittest.main()

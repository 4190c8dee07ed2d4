"""Heat maps."""

import math
import unittest

from benchmarks.report import fake_rows
from benchmarks.report.charts import blocks
from benchmarks.report.charts import copy_shares
from benchmarks.report.charts import vendor_shares
from benchmarks.report.fake_groups import group_of, transpose_rows

gpu, transpose = fake_rows.gpu_row, fake_rows.transpose_row


class MapsTest(unittest.TestCase):

  def test_copy_shares(self):
    figure, = copy_shares.figures(group_of(transpose_rows()))
    self.assertEqual(figure.rows, ["64 x 64", "7 x 1000", "512 x 512", "2048 x 2048"])
    column = figure.columns.index("auto")
    self.assertAlmostEqual(figure.values[0][column], 100 / 1.1)
    self.assertEqual(figure.values[1][column], 50)
    self.assertTrue(math.isnan(figure.values[1][figure.columns.index("memcpy")]))

  def test_copy_shares_keep_what_was_measured_most(self):
    rows = [transpose("naive_row", n, 1, pct_of_copy=9) for n in range(1, 41)]
    rows += [transpose(f"kernel{index}", n, 1, pct_of_copy=9) for index in range(20) for n in (30, 40)]
    figure, = copy_shares.figures(group_of(rows))
    self.assertEqual((len(figure.columns), len(figure.rows)), (16, 24))
    self.assertIn("naive_row", figure.columns)
    self.assertIn("30 x 30", figure.rows)
    self.assertTrue(any("16 of 21 kernels" in note for note in figure.notes))
    self.assertTrue(any("24 of 40 shapes" in note for note in figure.notes))

  def test_vendor_shares_are_of_other_shapes_and_paired_where_they_can_be(self):
    rows = [gpu("cublas", 64, 1, cols=8), gpu("naive", 64, 4, cols=8), gpu("auto", 64, 4, cols=8, vs_cublas=0.3),
            gpu("auto", 64, 1), gpu("cublas", 64, 1), gpu("naive", 64, 4, cols=9)]
    figure, = vendor_shares.figures(group_of(rows))
    self.assertEqual((figure.rows, figure.columns), (["64 x 8 x 64"], ["naive", "auto"]))
    self.assertEqual(figure.values, [[25, 30]])

  def test_blocks_from_four_up(self):
    def rows(count):
      return [gpu("naive", n, 1 + x, block_x=x, block_y=8) for n in (64, 128) for x in range(1, count + 1)]
    self.assertEqual(blocks.figures(group_of(rows(3))), [])
    figure, = blocks.figures(group_of(rows(4) + [gpu("naive", 64, 1, block_x=1, block_y=16)]))
    self.assertIn("64 x 64 x 64", figure.title)  # Where most blocks were measured.
    self.assertEqual((figure.rows, figure.columns), (["16", "8"], ["1", "2", "3", "4"]))
    self.assertTrue(math.isnan(figure.values[0][1]))
    self.assertAlmostEqual(figure.values[0][0], 2 * figure.values[1][0])
    self.assertTrue(any("1 x 16" in note for note in figure.notes))


if __name__ == "__main__":
  unittest.main()

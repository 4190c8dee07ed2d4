import math
import unittest

from benchmarks.report import fake_rows
from benchmarks.report import results
from benchmarks.report import scaling

gpu, transpose = fake_rows.gpu_row, fake_rows.transpose_row


def on(grid, row, **cells):
  """Returns a row of a grid of GPUs."""
  p, q = grid.split("x")
  return {**row, "grid": grid, "ranks": int(p) * int(q), "grid_block": 2048, "l2": "", "host_memory": "", **cells}


_ROWS = [
    gpu("auto", 1000, 10), gpu("cublas", 1000, 9), gpu("tiled", 1000, 8),
    on("1x1", gpu("summa", 1000, 10.5)),
    on("1x2", gpu("summa", 1000, 5.2), vs_cublas=1.2, communication_ms=1.0, overlap_pct=90.0),
    on("2x1", gpu("summa", 1000, 5.1)), on("2x1", gpu("summa", 1000, 5.0), grid_block=4096),
    on("2x2", gpu("summa", 1000, 2.7)), on("2x2", gpu("cublasmp", 1000, 3.5)),
    on("1x2", gpu("summa", 1414, 14.5)),  # Twice the elements of 1000: 2.83 times the work on two GPUs.
]


def _sections(rows, machine="GPU"):
  return scaling.make_sections(results.Results(fake_rows.frame(rows, machine), {}, []))


def _charts(rows):
  section, = _sections(rows)
  return {chart.title: {series.name: dict(zip(series.x, series.y)) for series in chart.series} for chart in section.figures}


class ScalingTest(unittest.TestCase):

  def test_speed_ups_are_of_the_fastest_grid_over_auto(self):
    lines = _charts(_ROWS)["Strong scaling: matmul, float"]
    self.assertEqual(set(lines), {"summa, n = 1000", "cublasmp, n = 1000", "as many times as GPUs"})
    for ranks, speed_up in ((1, 10 / 10.5), (2, 2), (4, 10 / 2.7)):
      self.assertAlmostEqual(lines["summa, n = 1000"][ranks], speed_up)
    self.assertAlmostEqual(lines["cublasmp, n = 1000"][4], 10 / 3.5)
    self.assertEqual(lines["cublasmp, n = 1000"][1], 1)  # No grid of one GPU was measured.
    self.assertEqual(lines["as many times as GPUs"], {1: 1, 2: 2, 4: 4})

  def test_weak_scaling_is_of_as_many_elements_of_a_gpu(self):
    lines = _charts(_ROWS)["Weak scaling: matmul, float"]
    self.assertEqual(set(lines), {"summa, from n = 1000", "as fast as one GPU"})
    one, two = 2 * 1000**3 / 10, 2 * 1414**3 / 14.5
    self.assertAlmostEqual(lines["summa, from n = 1000"][2], two / 2 / one)
    self.assertEqual(set(lines["summa, from n = 1000"]), {1, 2})

  def test_without_auto_a_grid_of_one_gpu_is_compared_with(self):
    lines = _charts([row for row in _ROWS if row["implementation"] != "auto"])["Strong scaling: matmul, float"]
    self.assertAlmostEqual(lines["summa, n = 1000"][2], 10.5 / 5)

  def test_without_one_gpu_there_is_a_table_only(self):
    section, = _sections([row for row in _ROWS if row.get("ranks", 0) > 1])
    self.assertEqual(section.figures, [])
    self.assertEqual(len(section.tables[0].rows), 6)
    self.assertNotIn("speed-up", section.tables[0].columns)

  def test_the_table_has_all_grids_and_blocks(self):
    table = _sections(_ROWS)[0].tables[0]
    self.assertEqual(len(table.rows), 7)
    row = next(dict(zip(table.columns, row)) for row in table.rows if row[table.columns.index("grid")] == "1x2")
    self.assertAlmostEqual(row["efficiency"], 10 / 5.2 / 2)
    self.assertEqual((row["rate over cuBLASMp's"], row["communication ms"], row["hidden %"]), (1.2, 1, 90))

  def test_operations_and_types_have_charts_of_their_own(self):
    rows = _ROWS + [transpose("auto", 64, 2), on("1x2", transpose("exchange", 64, 1.5)),
                    on("1x2", transpose("exchange", 64, 3, dtype="double"))]
    section, = _sections(rows)
    self.assertIn("Strong scaling: transpose, float", _charts(rows))
    self.assertEqual(len(section.tables), 3)

  def test_one_gpu_is_no_section(self):
    self.assertEqual(_sections(_ROWS[:4]), [])

  def test_rows_of_other_problems_are_left_out(self):
    others = [on("1x2", gpu("summa", 1000, 0.1, **cells)) for cells in
              ({"cols": 32}, {"status": "mismatch"}, {"beta": 1.0}, {"kernel_ms_median": math.nan})]
    self.assertEqual(_charts(_ROWS + others), _charts(_ROWS))


if __name__ == "__main__":
  unittest.main()

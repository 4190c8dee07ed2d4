"""What holds for every chart."""

import unittest

from benchmarks.report import charts
from benchmarks.report import fake_rows
from benchmarks.report import model
from benchmarks.report.charts import phases
from benchmarks.report.charts import roofline
from benchmarks.report.fake_groups import copy_row, group_of, matmul_rows, transpose_rows

gpu, cpu, transpose = fake_rows.gpu_row, fake_rows.cpu_row, fake_rows.transpose_row


class AllChartsTest(unittest.TestCase):

  def test_every_chart_has_a_figure_of_one_of_the_examples(self):
    examples = [group_of(matmul_rows()), group_of(transpose_rows())]
    for module in charts.CHARTS:
      with self.subTest(module.__name__):
        self.assertTrue(any(module.figures(group) for group in examples))

  def test_figures_are_as_promised(self):
    for rows in (matmul_rows(), transpose_rows()):
      group = group_of(rows)
      figures = [figure for module in charts.CHARTS for figure in module.figures(group)]
      self.assertEqual(len({figure.slug for figure in figures}), len(figures))
      for figure in figures:
        with self.subTest(figure.slug):
          self.assertRegex(figure.slug, "^[a-z0-9-]+$")
          self.assertIn("GPU, 2026", figure.subtitle)
          self.assertIn("g1", figure.subtitle)
          self.assertTrue(figure.notes)
          self._check_map(figure) if isinstance(figure, model.HeatMap) else self._check_chart(figure)

  def _check_map(self, figure):
    self.assertEqual(len(figure.values), len(figure.rows))
    for values in figure.values:
      self.assertEqual(len(values), len(figure.columns))

  def _check_chart(self, figure):
    self.assertLessEqual(len([series for series in figure.series if not series.is_reference]), 8)
    self.assertRegex(figure.y.label, r"\(.*\)|/s")
    for series in figure.series:
      self.assertTrue(series.x)
      for values in (series.y, series.low, series.high, series.labels):
        self.assertTrue(values is None or len(values) == len(series.x))
      if series.low is not None:
        for low, y, high in zip(series.low, series.y, series.high):
          self.assertLess(low, y)
          self.assertLess(y, high)

  def test_nothing_of_too_little(self):
    for rows in ([gpu("naive", 64, 1)], [cpu("eigen", 64, 1)], [gpu("naive", 64, 1, cols=7, samples=1)],
                 [gpu("naive", 64, 1, dtype="double")], [transpose("naive_row", 64, 1)], [copy_row("memcpy", 64, 1)],
                 [transpose("naive_row", 64, 1, cols=7)]):
      group = group_of(rows)
      for module in charts.CHARTS:
        with self.subTest(f"{rows} {module.__name__}"):
          for figure in module.figures(group):
            self.assertIn(module, (phases, roofline))  # Which are of use with one row.


if __name__ == "__main__":
  unittest.main()

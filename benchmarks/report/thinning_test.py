import math
import unittest

from benchmarks.report import model
from benchmarks.report import thinning


def _figure(*series, kind=model.Kind.LINES, log=True):
  return model.Chart("s", "T", "where", kind, model.Axis("n", log), model.Axis("ms"), list(series), notes=["First."])


def _thinned(x, most, log=True, **more):
  """The series of 10 x and its chart."""
  figure = thinning.thinned(_figure(model.Series("a", x, [10 * value for value in x], **more), log=log), most)
  return figure.series[0], figure


class ThinningTest(unittest.TestCase):

  def test_both_ends_and_what_stands_out(self):
    for log, lowest, highest in ((True, 25, 600), (False, 25, 600)):
      with self.subTest(log=log):
        x = list(range(1, 1001))
        y = [1 if value == lowest else 3 if value == highest else 2 for value in x]
        figure = thinning.thinned(_figure(model.Series("a", x, y), log=log), 10)
        series = figure.series[0]
        self.assertEqual((series.x[0], series.x[-1]), (1, 1000))
        self.assertIn((lowest, 1), zip(series.x, series.y))
        self.assertIn((highest, 3), zip(series.x, series.y))
        self.assertEqual(figure.notes[0], "First.")
        self.assertIn(f"{len(series.x)} of 1000 points", figure.notes[1])

  def test_spread_over_the_axis(self):
    # The lowest and the highest of a line that rises are the ends of each stretch.
    self.assertEqual(_thinned(list(range(1, 1001)), 6, log=True)[0].x, [1, 31, 32, 1000])
    self.assertEqual(_thinned(list(range(1, 1001)), 6, log=False)[0].x, [1, 500, 501, 1000])

  def test_never_more_and_hardly_fewer(self):
    for x in (list(range(1, 4167)), [1 + 10 * i for i in range(500)], [5.0] * 300, [2.0 ** i for i in range(300)]):
      series, _ = _thinned(x, 200)
      self.assertLessEqual(len(series.x), 200)
      self.assertEqual((min(series.x), max(series.x)), (min(x), max(x)))
    self.assertEqual(len(_thinned([2.0 ** i for i in range(300)], 200)[0].x), 198)

  def test_few_points_stay(self):
    for x in ([], [1], [3, 1, 2]):
      figure = _figure(model.Series("a", x, x))
      self.assertIs(thinning.thinned(figure, 3), figure)

  def test_all_values_of_a_point_stay_together_in_their_order(self):
    x = [8, 1, 2, 4, 16]
    series, _ = _thinned(x, 3, low=[9 * value for value in x], high=[11 * value for value in x])
    self.assertEqual((series.x, series.y, series.low, series.high),
                     ([1, 16], [10, 160], [9, 144], [11, 176]))

  def test_what_the_axis_cannot_show_goes_first(self):
    self.assertEqual(_thinned([math.nan, 0, -1, 1, 4, 16], 3)[0].x, [1, 4, 16])
    self.assertEqual(_thinned([math.nan, 0, 4], 2)[0].x, [4])
    self.assertEqual(len(_thinned([0, -1, -2], 2)[0].x), 3)

  def test_bars_and_labelled_points_stay(self):
    bars = _figure(model.Series("a", list("abc"), [1, 2, 3]), kind=model.Kind.BARS)
    labelled = _figure(model.Series("a", [1, 2, 3], [1, 2, 3], labels=["x", "", "z"]), kind=model.Kind.POINTS)
    heat_map = model.HeatMap("h", "T", "where", "x", "y", "ms", list("abc"), ["1"], [[1, 2, 3]])
    for figure in (bars, labelled, heat_map):
      self.assertIs(thinning.thinned(figure, 2), figure)


if __name__ == "__main__":
  unittest.main()

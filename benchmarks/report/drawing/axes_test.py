import math
import unittest

from matplotlib import figure
import numpy

from benchmarks.report import model
from benchmarks.report.drawing import axes


def _axis(values, log, from_zero=False):
  ax = figure.Figure().add_subplot()
  axis = model.Axis("time (ms)", log)
  axes.set_axis(ax, "y", axis, axes.drawable(values, axis), from_zero)
  return ax


class AxesTest(unittest.TestCase):

  def test_what_an_axis_cannot_show_is_nan(self):
    values = [1, 0, -2, math.nan, math.inf, None]
    for log, expected in ((True, [1]), (False, [1, 0, -2])):
      drawable = axes.drawable(values, model.Axis("", log))
      self.assertEqual(drawable[numpy.isfinite(drawable)].tolist(), expected)
      self.assertEqual(len(drawable), len(values))

  def test_log_ticks(self):
    for name, limits, values, expected in (
        ("decades", (0.9, 5500), [1, 11, 5001], [1, 10, 100, 1000]),
        ("powers of two", (60, 1100), [64, 128, 256, 512, 1024, 1000], [64, 128, 256, 512, 1024]),
        ("few powers of two", (60, 1100), [64, 100, 300, 1000], [100, 200, 500, 1000]),
        ("less than a decade", (110, 190), [120, 180], [120, 140, 160, 180]),
        ("part of a decade", (9, 110), [10, 100], [10, 20, 50, 100])):
      with self.subTest(name):
        self.assertEqual(axes.log_ticks(limits, numpy.array(values, dtype=float)), expected)

  def test_log_ticks_are_neither_few_nor_many(self):
    for low in (1e-7, 0.003, 1, 97, 4096):
      for ratio in (1.1, 1.5, 2, 4, 10, 1e3, 1e8, 1e20):
        ticks = axes.log_ticks((low, low * ratio), numpy.array([low, low * ratio]))
        with self.subTest(low=low, ratio=ratio):
          self.assertTrue(2 <= len(ticks) <= 12, ticks)
          self.assertTrue(all(low * 0.999 <= tick <= low * ratio * 1.001 for tick in ticks), ticks)

  def test_limits_hold_all_values(self):
    for values in ([3], [0], [-1, 5], [1e-6, 1e6], [], [math.nan], [7, 7]):
      for log in (False, True):
        for from_zero in (False, True):
          with self.subTest(values=values, log=log, from_zero=from_zero):
            low, high = _axis(values, log, from_zero).get_ylim()
            self.assertLess(low, high)
            for value in axes.drawable(values, model.Axis("", log)):
              self.assertFalse(value < low or value > high)

  def test_from_zero(self):
    self.assertEqual(_axis([3, 5], False, from_zero=True).get_ylim()[0], 0)
    self.assertLess(_axis([-3, 5], False, from_zero=True).get_ylim()[0], -3)
    self.assertGreater(_axis([30, 50], False).get_ylim()[0], 0)


if __name__ == "__main__":
  unittest.main()

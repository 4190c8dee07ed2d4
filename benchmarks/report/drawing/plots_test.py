"""What lines, bars and heat maps draw, and that their texts do not overlap."""

import itertools
import math
import unittest

import matplotlib.style
from matplotlib import colors
import numpy

from benchmarks.report import model
from benchmarks.report.drawing import bars
from benchmarks.report.drawing import contrast
from benchmarks.report.drawing import fake_figures
from benchmarks.report.drawing import frame
from benchmarks.report.drawing import heat_map
from benchmarks.report.drawing import lines
from benchmarks.report.drawing import style
from benchmarks.report.drawing.fake_figures import SIZES, chart


def _frame(figure):
  with matplotlib.style.context([frame.RC], after_reset=True):
    return lines.draw(figure, style.assign_styles([figure]))


def _overlaps(boxes):
  return [(one, other) for one, other in itertools.combinations(boxes, 2) if one.overlaps(other)]


class LinesTest(unittest.TestCase):

  def test_a_missing_value_leaves_a_gap_in_line_and_spread(self):
    series = model.Series("a", [4, 1, 2, 3], [4.0, 1.0, math.nan, 3.0], [3.5, 0.5, 1.5, 2.5], [4.5, 1.5, 2.5, 3.5])
    ax = _frame(chart(series=[series], log=False)).ax
    line = next(line for line in ax.lines if len(line.get_xdata()) == 4)
    self.assertEqual(line.get_xdata().tolist(), [1, 2, 3, 4])
    numpy.testing.assert_equal(line.get_ydata(), [1, math.nan, 3, 4])
    corners = numpy.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    self.assertNotIn(2.0, corners[:, 0])
    self.assertEqual((corners[:, 1].min(), corners[:, 1].max()), (0.5, 4.5))

  def test_bounds_are_dashed_and_measurements_are_not(self):
    ax = _frame(chart()).ax
    dashed = [line.is_dashed() for line in ax.lines if len(line.get_xdata()) == len(SIZES)]
    self.assertEqual(sorted(dashed), [False, False, True])

  def test_the_spread_is_within_the_plot(self):
    low, high = _frame(chart()).ax.get_ylim()
    self.assertLess(low, 0.5)
    self.assertGreater(high, 9)

  def test_labels_of_marks_do_not_overlap(self):
    marks = [model.Mark(x, f"kernel{x} wins from {x}") for x in (64, 65, 66, 128, 130, 300, 505, 512)]
    picture = _frame(chart(marks=[*marks, model.Mark(9999, "outside"), model.Mark(math.nan, "nowhere")]))
    texts = [text for text in picture.ax.texts if "wins" in text.get_text()]
    self.assertEqual(len(texts), len(marks))
    boxes = [picture.extent(text) for text in texts]
    self.assertEqual(_overlaps(boxes), [])
    plot = picture.extent(picture.ax)
    for box in boxes:
      self.assertTrue(plot.x0 - 1 <= box.x0 and box.x1 <= plot.x1 + 1 and box.y0 >= plot.y1, box)
    self.assertFalse([text for text in picture.ax.texts if text.get_text() in ("outside", "nowhere")])

  def test_no_pole_of_a_mark_runs_through_a_label(self):
    for xs in ((64, 65, 66, 128, 130, 300, 505, 512), (480, 500, 512), (90, 440, 512), (64, 100)):
      with self.subTest(xs):
        picture = _frame(chart(marks=[model.Mark(x, f"kernel{x} wins from {x}") for x in xs]))
        plot = picture.extent(picture.ax)
        labels = [picture.extent(text) for text in picture.ax.texts if "wins" in text.get_text()]
        poles = [picture.extent(line) for line in picture.ax.lines if picture.extent(line).y0 >= plot.y1 - 1]
        self.assertEqual(len(poles), len(xs))
        for pole, label in itertools.product(poles, labels):
          through = label.x0 + 1 < pole.x0 < label.x1 - 1 and pole.y1 > label.y0 + 2
          self.assertFalse(through, (pole, label))

  def test_labels_of_points_do_not_overlap(self):
    y = [100.0, 101.0, 102.0, 100.5, 50.0, 50.1]
    names = [f"kernel_number_{index}" for index in range(len(y))]
    figure = chart(model.Kind.POINTS, [model.Series("kernels", [500.0] * len(y), y, labels=names),
                                        model.Series("limit", [1, 1000], [110.0, 110.0], is_reference=True)])
    picture = _frame(figure)
    boxes = [picture.extent(text) for text in picture.ax.texts]
    self.assertEqual(len(boxes), len(y) + 1)
    self.assertEqual(_overlaps(boxes), [])

  def test_many_series_have_their_legend_beside_the_plot(self):
    series = [model.Series(f"a_kernel_with_a_long_name_{index}", SIZES, [1, 2, 3, 4]) for index in range(9)]
    picture = _frame(chart(series=series))
    legend, = picture.figure.legends
    self.assertGreater(picture.extent(legend).x0, picture.extent(picture.ax).x1)
    self.assertLessEqual(picture.extent(legend).x1, picture.figure.bbox.x1)


class BarsTest(unittest.TestCase):

  def _draw(self, kind, series):
    figure = chart(kind, series)
    with matplotlib.style.context([frame.RC], after_reset=True):
      return bars.draw(figure, style.assign_styles([figure]))

  def test_stacks_begin_where_the_one_below_ends(self):
    picture = self._draw(model.Kind.STACKED_BARS, [model.Series("alloc", ["a", "b"], [1.0, 2.0]),
                                                   model.Series("h2d", ["b", "a"], [3.0, math.nan]),
                                                   model.Series("kernel", ["a", "b"], [5.0, 7.0])])
    found = [[(bar.get_x(), bar.get_x() + bar.get_width()) for bar in container] for container in picture.ax.containers]
    numpy.testing.assert_equal(found, [[(0, 1), (0, 2)], [(1, math.nan), (2, 5)], [(1, 6), (5, 12)]])
    self.assertEqual([label.get_text() for label in picture.ax.get_yticklabels()], ["a", "b"])
    self.assertGreater(picture.ax.get_xlim()[1], 12)

  def test_bars_side_by_side_do_not_overlap(self):
    picture = self._draw(model.Kind.BARS, [model.Series(name, ["a", "b"], [1.0, 2.0]) for name in ("x", "y", "z")])
    spans = sorted((bar.get_y(), bar.get_y() + bar.get_height()) for container in picture.ax.containers for bar in container)
    for (_, end), (begin, _) in zip(spans, spans[1:]):
      self.assertLessEqual(end, begin + 1e-9)
    self.assertEqual(len(spans), 6)

  def test_labels_are_within_the_plot(self):
    for log in (False, True):
      figure = model.Chart("s", "t", "", model.Kind.BARS, model.Axis("step"), model.Axis("GFLOP/s", log), [
          model.Series("speed", ["a", "b", "c"], [1.0, 90.0, 100.0], [1.0, 80.0, 90.0], [1.0, 95.0, 120.0],
                       labels=["", "a label of some length", None])])
      with matplotlib.style.context([frame.RC], after_reset=True):
        picture = bars.draw(figure, style.assign_styles([figure]))
      label, = (text for text in picture.ax.texts if text.get_text())
      self.assertLessEqual(picture.extent(label).x1, picture.extent(picture.ax).x1)
      self.assertGreater(picture.extent(label).x0, picture.ax.transData.transform((95, 0))[0])

  def test_bounds_are_dashed_and_named(self):
    picture = self._draw(model.Kind.BARS, [model.Series("speed", ["a", "b"], [1.0, 2.0]),
                                           model.Series("peak", ["a", "b"], [3.0, 3.0], is_reference=True)])
    self.assertTrue([line for line in picture.ax.lines if line.is_dashed() and set(line.get_xdata()) == {3.0}])
    self.assertIn("peak", [text.get_text() for text in picture.ax.texts])


class HeatMapTest(unittest.TestCase):

  def test_numbers_can_be_read(self):
    for map_name in ("cividis", "cividis_r"):
      cells = matplotlib.colormaps[map_name](numpy.linspace(0, 1, 256))
      for cell in cells:
        text = max(contrast.ratio(colors.to_rgb(color), cell) for color in (heat_map.DARK_TEXT, heat_map.LIGHT_TEXT))
        self.assertGreaterEqual(text, 4.5)
      # A cell of a theme's colour would change with the theme, under text that does not.
      self.assertFalse({colors.to_hex(cell) for cell in cells} & set(style.LIGHT.values()))

  def test_brighter_is_better(self):
    for higher_is_better in (True, False):
      with matplotlib.style.context([frame.RC], after_reset=True):
        picture = heat_map.draw(fake_figures.heat_map([[1.0, 100.0]], higher_is_better=higher_is_better))
      first, second = (contrast.ratio(cell.get_facecolor(), (0, 0, 0)) for cell in picture.ax.patches)
      self.assertEqual(second > first, higher_is_better)

  def test_text_stands_out_from_its_cell(self):
    with matplotlib.style.context([frame.RC], after_reset=True):
      picture = heat_map.draw(fake_figures.heat_map([[float(value) for value in range(20)]]))
    for cell, text in zip(picture.ax.patches, picture.ax.texts):
      self.assertGreaterEqual(contrast.ratio(cell.get_facecolor(), colors.to_rgb(text.get_color())), 4.5)

  def test_wide_map_stays_legible(self):
    with matplotlib.style.context([frame.RC], after_reset=True):
      picture = heat_map.draw(fake_figures.heat_map([[12345.6 + value for value in range(40)]] * 3))
    self.assertEqual(_overlaps([picture.extent(text) for text in picture.ax.texts]), [])


if __name__ == "__main__":
  unittest.main()

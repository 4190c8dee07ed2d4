import itertools
import unittest

from matplotlib import colors

from benchmarks.report import model
from benchmarks.report.drawing import contrast
from benchmarks.report.drawing import style


def _chart(names, bounds=()):
  series = [model.Series(name, [1], [1]) for name in names]
  series += [model.Series(name, [1], [1], is_reference=True) for name in bounds]
  return model.Chart("s", "t", "", model.Kind.LINES, model.Axis("x"), model.Axis("y"), series)


class StyleTest(unittest.TestCase):

  def test_same_in_all_charts_and_different_within_one(self):
    names = [f"kernel{index}" for index in range(30)]
    charts = [_chart(names[first:first + 8]) for first in range(0, 23, 3)] + [_chart(names[::4])]
    styles = style.assign_styles(charts)
    for one in charts:
      shown = [styles[series.name].color for series in one.series]
      self.assertLessEqual(len(shown), 8)
      looks = [styles[series.name] for series in one.series]
      self.assertEqual(len(set(looks)), len(looks))

  def test_first_eight_names_differ_in_color(self):
    styles = style.assign_styles([_chart("abcd"), _chart("efgh")])
    self.assertEqual(len({look.color for look in styles.values()}), 8)

  def test_more_series_than_colors(self):
    styles = style.assign_styles([_chart(map(str, range(20)))])
    self.assertEqual(len(set(styles.values())), 20)
    # Points have no dashes: colour and marker alone tell them apart.
    self.assertEqual(len({(look.color, look.marker) for look in styles.values()}), 20)

  def test_bounds_and_heat_maps_take_no_color(self):
    heat_map = model.HeatMap("h", "t", "", "x", "y", "v", [1], [1], [[1]])
    self.assertEqual(list(style.assign_styles([heat_map, _chart("a", bounds="b")])), ["a"])

  def test_does_not_depend_on_anything_but_the_figures(self):
    charts = [_chart("abc"), _chart("cde")]
    self.assertEqual(style.assign_styles(charts), style.assign_styles(charts))

  def test_contrast(self):
    for theme, name in itertools.product((style.LIGHT, style.DARK), ("ink", "muted", "series-0")):
      with self.subTest(paper=theme["paper"], text=name):  # series-0 is that of links.
        self.assertGreaterEqual(contrast.ratio(*map(colors.to_rgb, (theme[name], theme["paper"]))), 4.5)
    for theme in (style.LIGHT, style.DARK):
      for name, color in theme.items():
        if name.startswith("series-"):
          with self.subTest(paper=theme["paper"], line=name):
            self.assertGreaterEqual(contrast.ratio(*map(colors.to_rgb, (color, theme["paper"]))), 2.5)

  def test_themes_have_the_same_names_and_colors_are_unique(self):
    self.assertEqual(list(style.LIGHT), list(style.DARK))
    self.assertEqual(len(set(style.LIGHT.values())), len(style.LIGHT))  # svg.py goes from colour to name.


if __name__ == "__main__":
  unittest.main()

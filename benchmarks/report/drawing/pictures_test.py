"""Pictures of every kind of figure: their words, bytes, ids, colours and sizes."""

import itertools
import math
import os
import re
import struct
import unittest
from xml.etree import ElementTree

import matplotlib
import numpy

from benchmarks.report import model
from benchmarks.report.drawing import pictures
from benchmarks.report.drawing import style
from benchmarks.report.drawing.fake_figures import SIZES, chart, heat_map


def _texts(svg):
  return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


class DrawTest(unittest.TestCase):

  def test_every_kind_says_what_where_and_in_which_units(self):
    figures = [chart(kind) for kind in model.Kind] + [heat_map([[1.0, 2.0], [3.0, math.nan]])]
    for figure in figures:
      with self.subTest(figure):
        picture = pictures.draw(figure)
        for svg in (picture.svg, picture.page_svg):
          words = " ".join(_texts(svg))
          shown = [figure.title, "NVIDIA H200", "2026-11-21", "g0123", "cold L2"]
          if isinstance(figure, model.HeatMap):
            shown += ["% of copy", "shape", "kernel", "c1", "r1"]
          else:
            shown += ["time (ms)", "first", "second", "limit"]
          for part in shown:
            self.assertIn(part, words)
        self.assertEqual(picture.png[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(struct.unpack(">I", picture.png[16:20])[0], 1300)  # Pixels of width.

  def test_same_input_same_bytes(self):
    figures = [chart(slug="a"), chart(model.Kind.BARS, slug="b"), heat_map([[1.0, 2.0]])]
    first, second = pictures.draw_all(figures), pictures.draw_all(figures)
    self.assertEqual(first, second)
    with matplotlib.rc_context({"xtick.direction": "in", "axes.titlesize": 30, "legend.fancybox": False}):  # As of a user.
      self.assertEqual(first["a"], pictures.draw(figures[0], style.assign_styles(figures), prefix="p0"))

  def test_ids_are_unique_among_pictures(self):
    drawings = pictures.draw_all([chart(slug="a"), chart(slug="b"), chart(model.Kind.POINTS, slug="c")], with_png=False)
    ids = [name for picture in drawings.values() for name in re.findall(r'\bid="([^"]*)"', picture.page_svg)]
    self.assertEqual(len(ids), len(set(ids)))
    self.assertTrue(ids)
    self.assertIsNone(drawings["a"].png)

  def test_page_follows_the_theme(self):
    for figure in [chart(kind) for kind in model.Kind]:
      page = pictures.draw(figure, with_png=False).page_svg
      self.assertEqual([color for color in re.findall(r"#[0-9a-f]{6}", page) if color in style.LIGHT.values()], [])
      for name in ("ink", "paper", "grid", "series-0"):
        self.assertIn(f"var(--{name})", page)

  def test_leaves_the_process_as_it_was(self):
    before = dict(matplotlib.rcParams)
    pictures.draw(chart())
    self.assertEqual(dict(matplotlib.rcParams), before)

  def test_names_from_outside(self):
    names = ["<script>alert(1)</script>", "$x_1$ and $y$", "100 %", "a & b", "tile \\ 2", "\u00fcber"]
    figure = chart(series=[model.Series(name, SIZES, [1, 2, 3, 4]) for name in names], title="<b> & $t$", subtitle='"s"')
    picture = pictures.draw(figure)
    words = _texts(picture.page_svg)
    for name in [*names, "<b> & $t$", '"s"']:
      self.assertIn(name, words)
    self.assertNotIn("<script", picture.page_svg)

  def test_what_cannot_be_drawn_leaves_a_picture(self):
    nan = math.nan
    for series in ([], [model.Series("a", [], [])], [model.Series("a", [64], [nan], [nan], [nan], labels=["b"])],
                   [model.Series("a", [0, -1, nan], [0, 1, 2])], [model.Series("a", [64], [math.inf])],
                   [model.Series("a", [64], [nan], is_reference=True)], [model.Series("a", [64], [3.0], [2.0], [4.0])]):
      for kind, log in itertools.product(model.Kind, (False, True)):
        with self.subTest(series=series, kind=kind, log=log):
          self.assertIn("time (ms)", _texts(pictures.draw(chart(kind, series, log), with_png=False).svg))
    for values in ([[nan]], [[0.0]], [[-1.0, 5.0]], [[3.0, 3.0]], [[math.inf, 1.0]]):
      with self.subTest(values=values):
        self.assertIn("kernel", _texts(pictures.draw(heat_map(values)).svg))
    self.assertIn("no values", _texts(pictures.draw(chart(series=[])).svg))

  @unittest.skipUnless(os.environ.get("STRIDEWISE_EXHAUSTIVE") == "1", "takes half of the time of all tests here")
  def test_long_names_and_many_bars_leave_a_plot(self):
    long = [f"a name that is far longer than any kernel's name should be, for some reason, {index}" for index in range(3)]
    many = [f"kernel {index}" for index in range(1500)]  # Higher than 65536 dots at the usual resolution.
    for name, figure in (("bars", chart(model.Kind.BARS, [model.Series(word, long, [1.0, 2.0, 3.0]) for word in long])),
                         ("lines", chart(series=[model.Series(word, SIZES, [1, 2, 3, 4]) for word in long])),
                         ("heat map", model.HeatMap("h", "t", "", "x", "y", "v", long, long, [[1.0, 2.0, 3.0]] * 3)),
                         ("many", chart(model.Kind.BARS, [model.Series("a", many, [1.0] * len(many))]))):
      with self.subTest(name):
        picture = pictures.draw(figure, with_png=name == "many")
        width, height = map(float, ElementTree.fromstring(picture.page_svg).get("viewBox").split()[2:])
        self.assertLess(width, 2500)
        self.assertGreater(height, 100)
        # The first path is the picture's background, the second the plot's.
        plot = re.findall(r'd="M ([-\d. ]+) z"', picture.page_svg)[1].split()
        begin, end = float(plot[0]), float(plot[2])
        self.assertGreater(end - begin, 100)

  def test_many_points_stay_small(self):
    sizes = list(range(1, 5001, 10))
    noise = numpy.random.default_rng(7)
    series = []
    for index in range(8):
      time = 1e-3 + 1e-9 * (index + 1) * numpy.array(sizes) ** 2.6 * noise.uniform(0.95, 1.05, len(sizes))
      series.append(model.Series(f"kernel{index}", sizes, list(time), list(time * 0.97), list(time * 1.03)))
    for kind in (model.Kind.LINES, model.Kind.POINTS):
      picture = pictures.draw(chart(kind, series))
      self.assertLess(len(picture.page_svg), 500_000 if kind is model.Kind.POINTS else 250_000)
      self.assertLess(len(picture.png), 300_000)


if __name__ == "__main__":
  unittest.main()

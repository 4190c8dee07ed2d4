"""Draws the figures of model.py: as SVG within a page, and as SVG and PNG files."""

import concurrent.futures
import dataclasses
import io
import os

import matplotlib.style
from matplotlib.backends import backend_agg
from matplotlib.backends import backend_svg
import numpy
from PIL import Image

from benchmarks.report import model
from benchmarks.report.drawing import bars
from benchmarks.report.drawing import frame
from benchmarks.report.drawing import heat_map
from benchmarks.report.drawing import lines
from benchmarks.report.drawing import style
from benchmarks.report.drawing import svg

_PNG_DOTS_PER_INCH = 160
_PNG_COMPRESSION = 3  # The usual 6 takes 1.5 times as long for files that are 8 % smaller.
_MOST_PNG_DOTS = 30000  # Of a side; matplotlib cannot draw 65536.


@dataclasses.dataclass(frozen=True)
class Picture:
  """A drawn figure. The same figure makes the same bytes."""
  page_svg: str  # Part of an HTML page, with colours from CSS variables that are named as in style.LIGHT.
  svg: str  # A file of its own, in light colours.
  png: bytes  # On white; None where none was requested.


def draw_all(figures, with_png=True, meanwhile=lambda: None):
  """Returns the Picture of each Chart and HeatMap, by slug. A series has the same colour in all of them. Uses all cores, and
  calls `meanwhile` while other processes draw."""
  styles = style.assign_styles(figures)
  jobs = [(figure, styles, with_png, f"p{index}") for index, figure in enumerate(figures)]
  workers = min(len(os.sched_getaffinity(0)), len(jobs))
  if workers < 2:
    meanwhile()
    pictures = [_draw(job) for job in jobs]
  else:
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
      drawing = pool.map(_draw, jobs)
      meanwhile()
      pictures = list(drawing)
  return {figure.slug: picture for figure, picture in zip(figures, pictures)}


def draw(figure, styles=None, with_png=True, prefix="p"):
  """Returns the Picture of one Chart or HeatMap. styles: from style.assign_styles(), to have the same colours as others.
  prefix: of the ids in the SVG, different for each picture in a page."""
  if styles is None:
    styles = style.assign_styles([figure])
  # The defaults of matplotlib with ours on top, regardless of the user's matplotlibrc; restored at the end.
  with matplotlib.style.context([frame.RC], after_reset=True):
    if isinstance(figure, model.HeatMap):
      picture = heat_map.draw(figure)
    elif figure.kind in (model.Kind.LINES, model.Kind.POINTS):
      picture = lines.draw(figure, styles)
    else:
      picture = bars.draw(figure, styles)
    text = io.StringIO()
    backend_svg.FigureCanvasSVG(picture.figure).print_svg(text)
    file_svg, page_svg = svg.make_svgs(text.getvalue(), prefix, f"{figure.title}. {figure.subtitle}")
    return Picture(page_svg, file_svg, _png(picture.figure) if with_png else None)


def _draw(job):
  return draw(*job)


def _png(figure):
  data = io.BytesIO()
  figure.set_dpi(min(_PNG_DOTS_PER_INCH, _MOST_PNG_DOTS / max(figure.get_size_inches())))
  canvas = backend_agg.FigureCanvasAgg(figure)
  canvas.draw()
  # The paper is opaque: dropping the alpha channel leaves a quarter less to compress.
  picture = Image.fromarray(numpy.asarray(canvas.buffer_rgba())).convert("RGB")
  picture.save(data, "png", compress_level=_PNG_COMPRESSION, dpi=(figure.dpi, figure.dpi))
  return data.getvalue()

"""Heat maps: a coloured cell with its number for each row and column, brighter for better."""

import math

import matplotlib
from matplotlib import colors
from matplotlib import patches
import numpy

from benchmarks.report import digits
from benchmarks.report.drawing import contrast
from benchmarks.report.drawing import frame

# Cells have the same colours on paper and on dark screens, and so has their text: a white that is not style.PAPER.
DARK_TEXT, LIGHT_TEXT = "#000000", "#fffffe"
_CELL_HEIGHT, _LEAST_CELL_WIDTH, _MOST_CELL_WIDTH = 19, 40, 90
_CHARACTER = 5.4  # Width of a character of frame.LABEL_SIZE, with some space.
_LOG_FROM = 30  # From this ratio of the largest to the smallest value, colours follow the logarithm.


def draw(figure):
  """Returns the Frame of a model.HeatMap."""
  rows, columns = len(figure.rows), len(figure.columns)
  values = numpy.array(figure.values, dtype=float).reshape(rows, columns)
  values[~numpy.isfinite(values)] = math.nan
  numbers = [[digits.significant(value, 3) for value in row] for row in values.tolist()]
  cell_width = max(_LEAST_CELL_WIDTH, 6 + _CHARACTER * _longest(number for row in numbers for number in row))
  column_names = _CHARACTER * _longest(figure.columns)
  plot_width = max(columns, 1) * min(max(cell_width, column_names), _MOST_CELL_WIDTH)
  width = max(frame.WIDTH, 80 + 6 * _longest(figure.rows) + columns * cell_width)
  picture = frame.Frame(figure.title, f"{figure.value_label}; brighter is better. {figure.subtitle}",
                        max(rows, 1) * _CELL_HEIGHT, width, plot_width)
  ax = picture.ax
  ax.grid(visible=False)
  ax.spines[:].set_visible(False)
  ax.tick_params(length=0)
  turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if column_names > cell_width else {}
  ax.set_xticks(range(columns), figure.columns, **turned)
  ax.set_yticks(range(rows), figure.rows)
  ax.set(xlim=(-0.5, max(columns, 1) - 0.5), ylim=(max(rows, 1) - 0.5, -0.5), xlabel=figure.x_label, ylabel=figure.y_label)
  if numpy.isfinite(values).any():
    _fill_cells(ax, values, numbers, matplotlib.colormaps["cividis" if figure.higher_is_better else "cividis_r"])
  else:
    picture.say_empty()
  picture.place_plot()
  return picture


def _fill_cells(ax, values, numbers, color_map):
  low, high = numpy.nanmin(values), numpy.nanmax(values)
  scale = (colors.LogNorm if 0 < low * _LOG_FROM < high else colors.Normalize)(low, high)
  for (row, column), value in numpy.ndenumerate(values):
    if not numpy.isfinite(value):
      continue
    color = color_map(scale(value))
    ax.add_patch(patches.Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=color, linewidth=0))
    ax.text(column, row, numbers[row][column], size=frame.LABEL_SIZE, color=_text_color(color), ha="center", va="center")


def _text_color(color):
  return max((DARK_TEXT, LIGHT_TEXT), key=lambda text: contrast.ratio(colors.to_rgb(text), color))


def _longest(words):
  return max((len(str(word)) for word in words), default=0)

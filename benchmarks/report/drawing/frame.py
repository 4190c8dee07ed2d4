"""The frame of every picture: title, subtitle, legend, and the plot in the room that these leave.

A Figure has 72 dots per inch while it is laid out, so that a pixel is a point (pt), the unit of all lengths here.
"""

import textwrap

from matplotlib import figure as mpl_figure
from matplotlib.backends import backend_agg

from benchmarks.report.drawing import style

WIDTH = 660
LABEL_SIZE = 8
_LEAST_PLOT_WIDTH = 240  # However long the names beside it are.
_TITLE_SIZE, _SUBTITLE_SIZE = 11, 8
_PADDING, _GAP = 10, 6

# Replaces the user's matplotlibrc.
RC = {
    "font.family": "DejaVu Sans", "font.size": 9, "text.parse_math": False, "text.color": style.INK,
    "axes.edgecolor": style.MUTED, "axes.labelcolor": style.INK, "axes.labelpad": 6, "axes.linewidth": 0.8,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": style.GRID, "grid.linewidth": 0.6,
    "xtick.color": style.MUTED, "ytick.color": style.MUTED, "xtick.labelcolor": style.INK, "ytick.labelcolor": style.INK,
    "figure.facecolor": style.PAPER, "axes.facecolor": style.PAPER, "savefig.facecolor": style.PAPER,
    "lines.linewidth": 1.6, "lines.markersize": 4.5, "path.simplify_threshold": 0.2,
    "svg.fonttype": "none", "svg.hashsalt": "report",
}


class Frame:
  """A matplotlib Figure with title, subtitle and one Axes, `ax`, which place_plot() positions."""

  def __init__(self, title, subtitle, plot_height, width=WIDTH, most_plot_width=None):
    self._width, self._plot_height, self._most_plot_width = width, plot_height, most_plot_width or width
    # Higher than needed until place_plot() knows the height, so that everything fits while it is measured.
    self.figure = mpl_figure.Figure(figsize=(width / 72, (plot_height + 300) / 72), dpi=72)
    self._renderer = backend_agg.FigureCanvasAgg(self.figure).get_renderer()
    self.ax = self.figure.add_axes((0.2, 0.2, 0.6, plot_height / (plot_height + 300)))
    self._hung = []  # Items positioned from the upper edge: (function that puts the item at a fraction, distance).
    self._top = _PADDING
    self._right = _PADDING
    self._add_text(title, _TITLE_SIZE, style.INK, "bold")
    self._add_text(subtitle, _SUBTITLE_SIZE, style.MUTED, "normal")

  def extent(self, artist):
    return artist.get_window_extent(self._renderer)

  def add_legend(self, handles, names):
    """Adds a legend, in a row above the plot where it fits, otherwise in a column on its right. Call before place_plot()."""
    legend = self._legend(handles, names, len(names))
    if self.extent(legend).width <= self._width - 2 * _PADDING:
      self._hang(lambda y: legend.set_bbox_to_anchor((_PADDING / self._width, y)), self.extent(legend).height)
      return
    legend.remove()
    legend = self._legend(handles, names, 1)
    extent = self.extent(legend)
    self._right += extent.width + 2 * _GAP
    self._plot_height = max(self._plot_height, extent.height)
    self._hung.append((lambda y: legend.set_bbox_to_anchor((1 - (self._right - 2 * _GAP) / self._width, y)), self._top))

  def say_empty(self):
    self.ax.text(0.5, 0.5, "no values", color=style.MUTED, ha="center", va="center", transform=self.ax.transAxes)

  def place_plot(self, add_above=None):
    """Sets the size of the picture and the position of the plot. add_above: called when the plot has its width; adds what is
    directly above the plot and returns its height."""
    around, plot = self.ax.get_tightbbox(self._renderer), self.extent(self.ax)
    left, right, bottom = plot.x0 - around.x0, around.x1 - plot.x1, plot.y0 - around.y0
    left, right, bottom = _PADDING + left, self._right + max(right, 0), _PADDING + bottom
    self._width = max(self._width, left + min(_LEAST_PLOT_WIDTH, self._most_plot_width) + right)
    right = max(right, self._width - left - self._most_plot_width)
    self._place(left, right, bottom)
    if add_above:
      self._top += add_above()
      self._place(left, right, bottom)

  def _place(self, left, right, bottom):
    height = self._top + _GAP + self._plot_height + bottom
    self.figure.set_size_inches(self._width / 72, height / 72)
    self.ax.set_position((left / self._width, bottom / height, (self._width - left - right) / self._width,
                          self._plot_height / height))
    for put, distance in self._hung:
      put(1 - distance / height)

  def _add_text(self, words, size, color, weight):
    text = self.figure.text(_PADDING / self._width, 1, words, size=size, color=color, weight=weight, va="top")
    excess = self.extent(text).width / (self._width - 2 * _PADDING)
    if excess > 1:
      text.set_text("\n".join(textwrap.wrap(words, int(0.95 * len(words) / excess))))
    self._hang(lambda y: text.set_position((_PADDING / self._width, y)), self.extent(text).height)

  def _hang(self, put, height):
    self._hung.append((put, self._top))
    self._top += height + _GAP

  def _legend(self, handles, names, columns):
    return self.figure.legend(handles, names, ncol=columns, loc="upper left", frameon=False, borderaxespad=0, borderpad=0,
                              fontsize=LABEL_SIZE, handlelength=2.2, columnspacing=1.5, labelspacing=0.6)

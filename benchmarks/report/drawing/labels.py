"""Places words in a plot so that they hide neither each other nor the data."""

import numpy

from benchmarks.report.drawing import frame
from benchmarks.report.drawing import style

_DISTANCES = (4, 13, 25, 40)
_DIRECTIONS = ((1, 0), (1, 1), (1, -1), (0, 1), (0, -1), (-1, 0), (-1, 1), (-1, -1))
_ALONG = (0.98, 0.8, 0.6, 0.4, 0.2, 0.02)  # Parts of a line's visible length at which its label may be.
_HORIZONTAL, _VERTICAL = {1: "left", 0: "center", -1: "right"}, {1: "bottom", 0: "center", -1: "top"}
_ROW_HEIGHT = 12
_MARKER = 2  # Radius of a point.
# The box behind a label, over the data that it hides.
BACKGROUND = {"facecolor": style.PAPER, "edgecolor": "none", "alpha": 0.75, "pad": 0.5}


class Labels:
  """Places labels one by one in the plot of `picture`, a Frame after place_plot()."""

  def __init__(self, picture):
    self._picture, self._ax = picture, picture.ax
    self._plot = picture.extent(picture.ax)
    self._points = numpy.empty((0, 2))  # Points that labels should not hide, in pixels.
    self._taken = []  # The boxes of the labels placed: x0, y0, x1, y1 in pixels.

  def keep_free(self, x, y, joined):
    """Keeps labels off the points of the data x and y and, if joined, off the line through them."""
    points = self._ax.transData.transform(numpy.column_stack((x, y)))
    if joined and len(points) > 1:
      length = numpy.concatenate(([0], numpy.cumsum(numpy.hypot(*numpy.diff(points, axis=0).T))))
      on_line = numpy.arange(0, length[-1], 3)
      points = numpy.column_stack([numpy.interp(on_line, length, values) for values in points.T])
    self._points = numpy.concatenate((self._points, points))

  def add_beside(self, x, y, words):
    """Adds a label beside the point (x, y) in data; where there is no room, farther away with a line that leads to it."""
    at = self._ax.transData.transform((x, y))
    candidates = [(at + numpy.multiply(direction, distance), direction, distance)
              for distance in _DISTANCES for direction in _DIRECTIONS]
    anchor, direction, distance = self._add(words, candidates)
    if distance > _DISTANCES[0]:
      ends = self._ax.transAxes.inverted().transform([at, anchor])
      self._ax.plot(*ends.T, transform=self._ax.transAxes, color=style.MUTED, linewidth=0.5)

  def add_along(self, x, y, words):
    """Adds a label above or below the line through the data x and y, at its end if possible."""
    line = self._ax.transData.transform(numpy.column_stack((x, y)))
    first, last = max(line[0, 0], self._plot.x0), min(line[-1, 0], self._plot.x1)
    candidates = []
    for part in _ALONG:
      at = first + part * (last - first)
      direction = -1 if part > 0.5 else 1
      candidates += [((at, numpy.interp(at, *line.T) + 3 * up), (direction, up), 0) for up in (1, -1)]
    self._add(words, candidates)

  def _add(self, words, candidates):
    """Adds a label at the best of `candidates`, (anchor, direction, distance), and returns this one."""
    text = self._ax.text(0, 0, words, size=frame.LABEL_SIZE, transform=self._ax.transAxes, bbox=BACKGROUND)
    extent = self._picture.extent(text)
    boxes = [_box(anchor, direction, extent.width, extent.height) for anchor, direction, _ in candidates]
    best = min(range(len(candidates)), key=lambda index: (self._cost(boxes[index]), index))
    self._taken.append(boxes[best])
    anchor, (right, up), _ = candidates[best]
    text.set_position(self._ax.transAxes.inverted().transform(anchor))
    text.set(ha=_HORIZONTAL[right], va=_VERTICAL[up])
    return candidates[best]

  def _cost(self, box):
    """Returns how bad a label in `box` is: worst outside the plot or on another label, then by the points that it hides."""
    x0, y0, x1, y1 = box
    outside = max(self._plot.x0 - x0, x1 - self._plot.x1, self._plot.y0 - y0, y1 - self._plot.y1, 0)
    overlap = sum(max(min(x1, other[2]) - max(x0, other[0]), 0) * max(min(y1, other[3]) - max(y0, other[1]), 0)
                  for other in self._taken)
    x, y = self._points.T
    hidden = numpy.count_nonzero((x > x0 - _MARKER) & (x < x1 + _MARKER) & (y > y0 - _MARKER) & (y < y1 + _MARKER))
    return 100 * (outside + overlap) + hidden


def add_marks(picture, marks):
  """Adds a vertical line for each model.Mark, and its label above the plot. Returns the height of the labels, for
  Frame.place_plot()."""
  low, high = picture.ax.get_xlim()
  marks = [mark for mark in marks if low <= mark.x <= high]
  for mark in marks:
    picture.ax.axvline(mark.x, color=style.MUTED, linewidth=0.8, zorder=1.5)
  return add_words_above(picture, [(mark.x, mark.label) for mark in marks])


def add_words_above(picture, flags):
  """Adds words above the plot, each like a flag on a pole at its x in data, in the number of rows that they need. Returns the
  height of these rows. flags: (x, words). Flags point to the right. Near the right edge they point to the left, and so do
  their neighbours whose words would reach these poles, so that no pole crosses a word."""
  ax, plot = picture.ax, picture.extent(picture.ax)
  to_the_right, to_the_left, edge = [], [], plot.x1
  for x, words in sorted(flags, reverse=True):
    text = ax.annotate(words, (x, 1), (0, 0), xycoords=ax.get_xaxis_transform(), textcoords="offset points",
                       size=frame.LABEL_SIZE)
    at, width = ax.transData.transform((x, 1))[0], picture.extent(text).width
    if at + width <= edge:
      to_the_right.append((x, at, at, at + width, text))
    else:
      edge = at
      to_the_left.insert(0, (x, at, max(at - width - 2, plot.x0), at, text))
  placed = []  # Row, pole, begin and end of the word.
  for x, at, begin, end, text in to_the_right + to_the_left:
    row = 0
    while any(begin < other_end + 8 and other_begin < end + 8 if other_row == row else other_row > row and begin < pole < end
              for other_row, pole, other_begin, other_end in placed):
      row += 1
    placed.append((row, at, begin, end))
    text.set_position((begin - at, 4 + row * _ROW_HEIGHT))
    ax.axvline(x, 1, 1 + row * _ROW_HEIGHT / plot.height, color=style.MUTED, linewidth=0.8, clip_on=False)
  return max((row + 1 for row, *_ in placed), default=0) * _ROW_HEIGHT


def _box(anchor, direction, width, height):
  x, y = (start + size * (side - 1) / 2 for start, side, size in zip(anchor, direction, (width, height)))
  return x, y, x + width, y + height

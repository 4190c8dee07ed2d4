"""Charts whose x is a number: lines with a band for the spread, points with error bars, dashed references."""

from matplotlib import lines as mpl_lines
import numpy

from benchmarks.report import model
from benchmarks.report.drawing import axes
from benchmarks.report.drawing import frame
from benchmarks.report.drawing import labels
from benchmarks.report.drawing import style

_PLOT_HEIGHT = 270
_FEW_POINTS = 40  # A line with more points has markers at some of them only, evenly spread.
_MANY_POINTS = 300  # A chart of more points, without lines, has smaller ones.
_REFERENCE_DASHES = ((6, 3), (2, 2), (8, 2, 2, 2), (4, 2))


def draw(figure, styles):
  """Returns the Frame of a model.Chart of LINES or POINTS. styles: Style by series name."""
  picture = frame.Frame(figure.title, figure.subtitle, _PLOT_HEIGHT)
  series = [_Drawable(series, figure) for series in figure.series]
  axes.set_axis(picture.ax, "x", figure.x, _all(one.x[numpy.isfinite(one.y)] for one in series))
  axes.set_axis(picture.ax, "y", figure.y, _all(y for one in series for y in (one.low, one.y, one.high)), from_zero=True)
  references = [one for one in series if one.is_reference]
  handles = {one.name: _draw_series(picture.ax, one, styles[one.name], figure) for one in series if not one.is_reference}
  for index, reference in enumerate(references):
    dashes = _REFERENCE_DASHES[index % len(_REFERENCE_DASHES)]
    picture.ax.plot(reference.x, reference.y, color=style.INK, linewidth=1, dashes=dashes)
  if _needs_legend([one for one in series if not one.is_reference]):
    picture.add_legend(list(handles.values()), list(handles))
  if not any(numpy.isfinite(one.y).any() for one in series):
    picture.say_empty()
  picture.place_plot(lambda: labels.add_marks(picture, figure.marks))
  _add_labels(picture, series, joined=figure.kind is model.Kind.LINES)
  return picture


class _Drawable:
  """A series in order of x, without x that the axis cannot show; missing y are gaps."""

  def __init__(self, series, figure):
    x = axes.drawable(series.x, figure.x)
    order = numpy.argsort(x, kind="stable")[:numpy.count_nonzero(numpy.isfinite(x))]
    self.name, self.is_reference, self.x = series.name, series.is_reference, x[order]
    self.y = axes.drawable(series.y, figure.y)[order]
    # The spread; equal to y where there is none, NaN without y.
    self.low, self.high = (numpy.where(numpy.isnan(self.y), numpy.nan, axes.drawable(ends, figure.y)[order])
                           for ends in (series.y if series.low is None else series.low,
                                        series.y if series.high is None else series.high))
    self.has_spread = series.low is not None
    self.labels = [series.labels[index] for index in order] if series.labels else []


def _draw_series(ax, series, look, figure):
  if figure.kind is model.Kind.POINTS:
    return _draw_points(ax, series, look, small=sum(len(one.x) for one in figure.series) > _MANY_POINTS)
  if series.has_spread:
    ax.fill_between(series.x, series.low, series.high, color=look.color, alpha=0.22, linewidth=0)
  every = 1 if len(series.x) <= _FEW_POINTS else 0.12
  line, = ax.plot(series.x, series.y, look.dash, color=look.color, marker=look.marker, markevery=every, clip_on=False)
  return line


def _draw_points(ax, series, look, small):
  if series.has_spread:
    # All error bars are one line with gaps, a tenth of the SVG that matplotlib's errorbar() makes.
    ends = numpy.column_stack((series.low, series.high, numpy.full(len(series.x), numpy.nan)))
    ax.plot(numpy.repeat(series.x, 3), ends.ravel(), color=look.color, linewidth=1, alpha=0.7)
  markers = {"linestyle": "none", "color": look.color, "marker": look.marker, "markeredgewidth": 0}
  ax.plot(series.x, series.y, markersize=3 if small else 6, clip_on=False, **markers)
  return mpl_lines.Line2D([], [], markersize=6, **markers)


def _needs_legend(measured):
  """Returns whether a legend is needed: not where the only series has labels, or labels contain their series' names."""
  if len(measured) == 1:
    return not any(measured[0].labels)
  return not all(series.labels and all(words and series.name in words for words in series.labels) for series in measured)


def _add_labels(picture, all_series, joined):
  placing = labels.Labels(picture)
  shown = [(series, numpy.isfinite(series.y)) for series in all_series]
  for series, finite in shown:
    placing.keep_free(series.x[finite], series.y[finite], joined or series.is_reference)
  for series, finite in shown:
    if series.is_reference and finite.any():
      placing.add_along(series.x[finite], series.y[finite], series.name)
  for series, finite in shown:
    for x, y, words, is_finite in zip(series.x, series.y, series.labels, finite):
      if words and is_finite:
        placing.add_beside(x, y, words)


def _all(arrays):
  arrays = list(arrays)
  return numpy.concatenate(arrays) if arrays else numpy.empty(0)

"""Thins the lines of a chart to the number of points that can be told apart, and keeps every peak."""

import dataclasses

import numpy

from benchmarks.report import model


def thinned(figure, most):
  """Returns `figure` with at most `most` points of each series, and a note that says so. They are the first and the last
  point, and the lowest and the highest of each of the equal intervals into which the x axis is divided, so that no peak is
  lost. Heat maps, bars and points with labels are returned unchanged."""
  if isinstance(figure, model.HeatMap) or figure.kind in (model.Kind.BARS, model.Kind.STACKED_BARS):
    return figure
  series = [_thinned(one, figure.x, most) for one in figure.series]
  shown, all_points = (sum(len(one.x) for one in some) for some in (series, figure.series))
  if shown == all_points:
    return figure
  note = (f"{shown} of {all_points} points are shown, at most {most} of a series: the first, the last, and between them the "
          f"lowest and the highest of equal intervals of the {'logarithmic ' if figure.x.log else ''}x axis.")
  return dataclasses.replace(figure, series=series, notes=[*figure.notes, note])


def _thinned(series, axis, most):
  if len(series.x) <= most or series.labels:
    return series
  x, y = (numpy.asarray(values, dtype=float) for values in (series.x, series.y))
  positions = numpy.log(numpy.where(x > 0, x, numpy.nan)) if axis.log else x
  shown = numpy.flatnonzero(numpy.isfinite(positions) & numpy.isfinite(y))
  if not len(shown):
    return series
  kept = shown if len(shown) <= most else shown[_outstanding(positions[shown], y[shown], most)]
  cut = {name: [values[index] for index in kept] for name, values in (
      ("x", series.x), ("y", series.y), ("low", series.low), ("high", series.high)) if values is not None}
  return dataclasses.replace(series, **cut)


def _outstanding(positions, y, most):
  """Returns the indices, ascending, of the first and last of `positions`, and of the least and greatest `y` in each of the
  equal intervals between them."""
  kept = [positions.argmin(), positions.argmax()]
  count = (most - 2) // 2
  if count:
    first, last = positions[kept[0]], positions[kept[1]]
    interval = numpy.minimum((positions - first) / ((last - first) or 1) * count, count - 1).astype(int)
    order = numpy.lexsort((y, interval))
    ends = numpy.flatnonzero(numpy.diff(interval[order], prepend=-1))  # Where an interval begins.
    kept.extend(order[[*ends, *(ends[1:] - 1), -1]])
  return numpy.unique(kept)

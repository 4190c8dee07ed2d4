"""Fewer points of a chart's lines than were measured: no more than can be told apart, and all that stands out."""

import dataclasses

import numpy

from benchmarks.report import chart


def thinned(figure, most):
  """`figure` with at most `most` points of each series: the first and the last, and of as many equal stretches of the x axis
  as that leaves room for the lowest and the highest, so that no peak is lost. A note says so. Heat maps, bars and
  points with words beside them stay as they are."""
  if isinstance(figure, chart.HeatMap) or figure.kind in (chart.Kind.BARS, chart.Kind.STACKED_BARS):
    return figure
  series = [_thinned(one, figure.x, most) for one in figure.series]
  shown, all_points = (sum(len(one.x) for one in some) for some in (series, figure.series))
  if shown == all_points:
    return figure
  note = (f"{shown} of {all_points} points: at most {most} of a series, the first, the last, and between them the lowest "
          f"and the highest of stretches that are equally long on the {'logarithmic ' if figure.x.log else ''}x axis.")
  return dataclasses.replace(figure, series=series, notes=[*figure.notes, note])


def _thinned(series, axis, most):
  if len(series.x) <= most or series.labels:
    return series
  x, y = (numpy.asarray(values, dtype=float) for values in (series.x, series.y))
  places = numpy.log(numpy.where(x > 0, x, numpy.nan)) if axis.log else x
  shown = numpy.flatnonzero(numpy.isfinite(places) & numpy.isfinite(y))
  if not len(shown):
    return series
  kept = shown if len(shown) <= most else shown[_outstanding(places[shown], y[shown], most)]
  cut = {name: [values[index] for index in kept] for name, values in (
      ("x", series.x), ("y", series.y), ("low", series.low), ("high", series.high)) if values is not None}
  return dataclasses.replace(series, **cut)


def _outstanding(places, y, most):
  """Indices, in ascending order, of the first and last of `places`, and of the least and greatest `y` of each stretch."""
  kept = [places.argmin(), places.argmax()]
  count = (most - 2) // 2
  if count:
    first, last = places[kept[0]], places[kept[1]]
    stretch = numpy.minimum((places - first) / ((last - first) or 1) * count, count - 1).astype(int)
    order = numpy.lexsort((y, stretch))
    ends = numpy.flatnonzero(numpy.diff(stretch[order], prepend=-1))  # Where a stretch begins; the one before has ended.
    kept.extend(order[[*ends, *(ends[1:] - 1), -1]])
  return numpy.unique(kept)

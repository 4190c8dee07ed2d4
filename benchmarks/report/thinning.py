"""Fewer points of a chart's lines than were measured: no more than can be told apart."""

import dataclasses

import numpy

from benchmarks.report import chart


def thinned(figure, most):
  """`figure` with at most `most` points of each series, at least two: those nearest to places that are spread evenly along
  the x axis, the first and the last among them. A note says so. Bars and points with words beside them stay as they are."""
  if figure.kind in (chart.Kind.BARS, chart.Kind.STACKED_BARS):
    return figure
  series = [_thinned(one, figure.x, most) for one in figure.series]
  shown, all_points = (sum(len(one.x) for one in some) for some in (series, figure.series))
  if shown == all_points:
    return figure
  note = (f"{shown} of {all_points} points: at most {most} of a series, spread evenly along x"
          f"{' on its logarithmic axis' if figure.x.log else ''}, the first and the last among them.")
  return dataclasses.replace(figure, series=series, notes=[*figure.notes, note])


def _thinned(series, axis, most):
  if len(series.x) <= most or series.labels:
    return series
  x = numpy.asarray(series.x, dtype=float)
  places = numpy.log(numpy.where(x > 0, x, numpy.nan)) if axis.log else x
  finite = numpy.flatnonzero(numpy.isfinite(places))
  if not len(finite):
    return series
  order = finite[numpy.argsort(places[finite], kind="stable")]
  kept = numpy.sort(order[_nearest(places[order], numpy.linspace(places[order[0]], places[order[-1]], most))])
  cut = {name: [values[index] for index in kept] for name, values in (
      ("x", series.x), ("y", series.y), ("low", series.low), ("high", series.high)) if values is not None}
  return dataclasses.replace(series, **cut)


def _nearest(values, wanted):
  """Indices into `values`, in ascending order, of those nearest to each of `wanted`; each once."""
  after = numpy.clip(numpy.searchsorted(values, wanted), 1, len(values) - 1)
  return numpy.unique(numpy.where(wanted - values[after - 1] <= values[after] - wanted, after - 1, after))

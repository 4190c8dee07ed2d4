"""Label, limits and ticks of an axis."""

import math

from matplotlib import ticker
import numpy

from benchmarks.report import digits

_MOST_TICKS = 10
_LOG_MARGIN = 0.04  # Part of the axis, on both sides.


def drawable(values, axis):
  """Returns `values` as an array of floats, NaN where `axis` cannot show them."""
  array = numpy.array(values, dtype=float)
  array[~numpy.isfinite(array)] = math.nan
  if axis.log:
    array[~(array > 0)] = math.nan
  return array


def set_axis(ax, which, axis, values, from_zero=False):
  """Sets up the axis `which` ("x" or "y") of the matplotlib Axes `ax` for drawable `values`. from_zero: a linear axis without
  negative values begins at 0."""
  values = values[numpy.isfinite(values)]
  low, high = (values.min(), values.max()) if values.size else (1.0, 1.0)
  if axis.log:
    low, high = (low / 2, high * 2) if low == high else (low, high)
    margin = (high / low) ** _LOG_MARGIN
    limits = low / margin, high * margin
    ax.set(**{f"{which}label": axis.label, f"{which}scale": "log", f"{which}lim": limits})
    _set_log_ticks(ax.xaxis if which == "x" else ax.yaxis, limits, values)
    return
  margin = 0.05 * (high - low if high > low else abs(high) or 1)
  limits = (0 if from_zero and low >= 0 else low - margin), high + margin
  ax.set(**{f"{which}label": axis.label, f"{which}lim": limits})
  mpl_axis = ax.xaxis if which == "x" else ax.yaxis
  mpl_axis.set_major_locator(ticker.MaxNLocator(_MOST_TICKS - 2, steps=[1, 2, 5, 10], integer=_are_integers(values)))
  mpl_axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: digits.tick(value)))


def _set_log_ticks(mpl_axis, limits, values):
  ticks = log_ticks(limits, values)
  mpl_axis.set_major_locator(ticker.FixedLocator(ticks))
  mpl_axis.set_major_formatter(ticker.FixedFormatter([digits.tick(tick) for tick in ticks]))
  # Between decades, minor ticks at 2, 3, ... 9 show that the axis is logarithmic; between other ticks they would mislead.
  decades = all(math.log10(tick).is_integer() for tick in ticks) and limits[1] / limits[0] < 1e6
  mpl_axis.set_minor_locator(ticker.LogLocator(subs=range(2, 10)) if decades else ticker.NullLocator())
  mpl_axis.set_minor_formatter(ticker.NullFormatter())


def log_ticks(limits, values):
  """Returns ticks within `limits`: powers of two where at least half of the `values` are such, otherwise 1, 10, 100, or
  1, 2, 5, 10 where those are too few."""
  if _are_powers_of_two(values):
    ticks = _powers(2, limits)
    if len(ticks) >= 3:
      return ticks
  ticks = _powers(10, limits)
  if len(ticks) >= 3:
    return ticks
  first, last = (math.floor(math.log10(limit)) for limit in limits)
  ticks = [factor * 10.0 ** exponent for exponent in range(first, last + 1) for factor in (1, 2, 5)]
  ticks = [tick for tick in ticks if limits[0] <= tick <= limits[1]]
  if len(ticks) >= 3:
    return ticks
  ticks = ticker.MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(*limits)
  return [tick for tick in ticks if limits[0] <= tick <= limits[1]]


def _powers(base, limits):
  """Returns every power of `base` within `limits`, or every second, third ... where that would be too many."""
  first, last = (math.log(limit, base) for limit in limits)
  exponents = range(math.ceil(first), math.floor(last) + 1)
  step = math.ceil(len(exponents) / _MOST_TICKS) or 1
  return [float(base) ** exponent for exponent in exponents if exponent % step == 0]


def _are_integers(values):
  return bool(values.size and (values == numpy.round(values)).all())


def _are_powers_of_two(values):
  distinct = numpy.unique(values)
  mantissas, _ = numpy.frexp(distinct)
  return bool(distinct.size and (distinct >= 1).all() and (mantissas == 0.5).mean() >= 0.5)

"""Names of points on logarithmic axes, where there is room for them."""

import numpy

# Two names whose points are closer than both of these, as fractions of the plot, would overlap.
_WIDTH = 0.1
_HEIGHT = 0.035


def names_with_room(names, xs, ys):
  """Returns a label for each point; "" for a point too close to an earlier one that has its label."""
  positions = numpy.column_stack([_fraction_of_range(xs) / _WIDTH, _fraction_of_range(ys) / _HEIGHT])
  labels, written = [], []
  for name, position in zip(names, positions):
    crowded = any(numpy.abs(position - other).max() < 1 for other in written)
    labels.append("" if crowded else name)
    if not crowded:
      written.append(position)
  return labels


def _fraction_of_range(values):
  logs = numpy.log(numpy.asarray(values, dtype=float))
  span = numpy.ptp(logs)
  return (logs - logs.min()) / span if span else logs * 0

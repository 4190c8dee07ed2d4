"""Names beside points on logarithmic axes, where there is room for them."""

import numpy

# As parts of the plot: closer than these in both directions, two names would be written over each other.
_WIDTH = 0.1
_HEIGHT = 0.035


def names_with_room(names, xs, ys):
  """A label for each point, "" for those too near to one before: the first points go first."""
  places = numpy.column_stack([_part_of_range(xs) / _WIDTH, _part_of_range(ys) / _HEIGHT])
  labels, written = [], []
  for name, place in zip(names, places):
    crowded = any(numpy.abs(place - other).max() < 1 for other in written)
    labels.append("" if crowded else name)
    if not crowded:
      written.append(place)
  return labels


def _part_of_range(values):
  logs = numpy.log(numpy.asarray(values, dtype=float))
  span = numpy.ptp(logs)
  return (logs - logs.min()) / span if span else logs * 0

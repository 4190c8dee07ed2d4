"""Common parts of the charts over the size: a line for each name, and the notes that tell which rows are shown."""

from benchmarks.report import model
from benchmarks.report import operations
from benchmarks.report import roles
from benchmarks.report import wording

INTERVAL_NOTE = "The spread is the 95 % confidence interval of the median; with fewer than six samples, minimum to maximum."
_NEAR = 1.001  # Sizes of a smaller ratio cannot be told apart on the axis.


def size_axis(group, log=True):
  return model.Axis(group.operation.size_label, log=log)


def kernel_time_line(name, rows, per_ms=1):
  """Returns the median kernel time of a name's rows over n, with its interval, in milliseconds times `per_ms`."""
  low, high = rows["kernel_ms_ci_low"] * per_ms, rows["kernel_ms_ci_high"] * per_ms
  return model.Series(name, rows["n"].tolist(), (rows["kernel_ms_median"] * per_ms).tolist(), low.tolist(), high.tolist())


def total_time_line(name, rows, per_ms=1):
  """Returns the time of a whole call over n; it has too few passes for an interval."""
  rows = rows[rows["total_ms"].notna()]
  return model.Series(name, rows["n"].tolist(), (rows["total_ms"] * per_ms).tolist())


def rate_line(name, rows):
  """Returns the rate at the median kernel time over n, with the rates at the ends of the time's interval."""
  return model.Series(name, rows["n"].tolist(), rows["rate"].tolist(), rows["rate_low"].tolist(), rows["rate_high"].tolist())


def copy_bounds(rows, make_line):
  """Returns reference lines of the copies that bound the operation; make_line(name, rows) makes a Series."""
  copies = rows[rows["implementation"].isin(operations.BOUNDS)]
  measured = [make_line(name, of_name) for name, of_name in copies.groupby("name", sort=False)]
  return [model.Series(series.name, series.x, series.y, is_reference=True) for series in measured]


@roles.once_for_each_group
def distinct_sizes(group):
  """Returns the rows of roles.by_size() without sizes such as 8191 and 8193 beside 8192, at which a line would become a
  vertical stroke: of such neighbours it keeps the size with the most names. Where most sizes are neighbours it keeps all."""
  rows = roles.by_size(group)
  names = rows.groupby("n").size()
  sizes = names.index.to_series()
  is_near = sizes / sizes.shift() < _NEAR
  if is_near.sum() > len(sizes) / 2:
    return rows
  most_first = names.sort_values(ascending=False, kind="stable").index
  return rows[rows["n"].isin(most_first[~(~is_near).cumsum()[most_first].duplicated()])]


def selection_notes(group, rows, shown):
  """Returns notes on the rows of `group` that are missing in a chart of the names `shown` of `rows`, from distinct_sizes()."""
  notes = []
  names = roles.computing(rows)["name"].nunique()
  if len(shown) < names:
    notes.append(f"{len(shown)} of {names} implementations are shown: {roles.CHOICE}.")
  squares = roles.squares(group)
  other_shapes = len(group.rows) - len(squares)
  if other_shapes:
    notes.append(f"Of square shapes only: {wording.counted(other_shapes, 'row')} of other shapes are not shown.")
  blocks = squares[["name", "n", "block_x", "block_y"]][squares["name"].isin(shown)].drop_duplicates()
  several = sorted(blocks["name"][blocks.duplicated(["name", "n"])].unique())
  if several:
    notes.append(f"Shown with the fastest of several blocks at each size: {', '.join(several)}.")
  left_out = sorted(set(squares["n"]) - set(rows["n"]))
  if left_out:
    notes.append(f"Not shown: {wording.counted(len(left_out), 'size')} too close to another one, such as {left_out[0]:.0f}.")
  return notes

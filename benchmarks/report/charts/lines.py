"""What the charts over the size share: a line of a name's rows, and the sentences on which rows are shown."""

from benchmarks.report import chart
from benchmarks.report import roles
from benchmarks.report import wording

INTERVAL_NOTE = "The spread is the 95 % confidence interval of the median; with fewer than six samples, minimum and maximum."
_NEAR = 1.001  # A ratio of sizes that no eye can tell apart on the axis.


def size_axis():
  return chart.Axis("n, of n x n matrices", log=True)


def kernel_time_line(name, rows, per_ms=1):
  """The median kernel time of one name's rows by n, with its interval, in milliseconds times `per_ms`."""
  low, high = rows["kernel_ms_ci_low"] * per_ms, rows["kernel_ms_ci_high"] * per_ms
  return chart.Series(name, rows["n"].tolist(), (rows["kernel_ms_median"] * per_ms).tolist(), low.tolist(), high.tolist())


def total_time_line(name, rows, per_ms=1):
  """What a caller waits for, by n; passes are too few for an interval."""
  rows = rows[rows["total_ms"].notna()]
  return chart.Series(name, rows["n"].tolist(), (rows["total_ms"] * per_ms).tolist())


def rate_line(name, rows):
  """The rate at the median kernel time by n, with that at the ends of the time's interval."""
  return chart.Series(name, rows["n"].tolist(), rows["rate"].tolist(), rows["rate_low"].tolist(), rows["rate_high"].tolist())


def copy_bounds(rows, make_line):
  """Dashed lines of the copies that bound transposes; make_line(name, rows) makes a Series."""
  copies = rows[rows["implementation"].isin(roles.COPIES_THAT_BOUND)]
  measured = [make_line(name, of_name) for name, of_name in copies.groupby("name", sort=False)]
  return [chart.Series(series.name, series.x, series.y, is_bound=True) for series in measured]


@roles.once_for_each_group
def distinct_sizes(group):
  """The rows of roles.by_size without sizes such as 8191 and 8193 beside 8192, which would make a line a vertical stroke: of
  sizes so near that with the most names. All where most sizes are so near."""
  rows = roles.by_size(group)
  names = rows.groupby("n").size()
  sizes = names.index.to_series()
  is_near = sizes / sizes.shift() < _NEAR
  if is_near.sum() > len(sizes) / 2:
    return rows
  most_first = names.sort_values(ascending=False, kind="stable").index
  return rows[rows["n"].isin(most_first[~(~is_near).cumsum()[most_first].duplicated()])]


def selection_notes(group, rows, shown):
  """Which rows of `group` a chart leaves out that shows the names `shown` of `rows`, those of distinct_sizes()."""
  notes = []
  names = roles.computing(rows)["name"].nunique()
  if len(shown) < names:
    notes.append(f"{len(shown)} of {names} implementations: {roles.CHOICE}.")
  squares = roles.squares(group)
  other_shapes = len(group.rows) - len(squares)
  if other_shapes:
    notes.append(f"Squares only: {wording.counted(other_shapes, 'row')} of other shapes not shown.")
  blocks = squares[["name", "n", "block_x", "block_y"]][squares["name"].isin(shown)].drop_duplicates()
  several = sorted(blocks["name"][blocks.duplicated(["name", "n"])].unique())
  if several:
    notes.append(f"Of several blocks the fastest at each size: {', '.join(several)}.")
  left_out = sorted(set(squares["n"]) - set(rows["n"]))
  if left_out:
    notes.append(f"Not shown: {wording.counted(len(left_out), 'size')} too near to another one, such as {left_out[0]:.0f}.")
  return notes

"""The roles of a group's implementations: the fastest on the CPU, the baseline, the vendor's library, this project's best.

A chart has room for about eight lines; `chosen` selects them by these roles.
"""

import dataclasses
import functools

from benchmarks.report import operations

LIBRARY_CALL = "auto"  # The implementation that this project's library call runs.
MOST_LINES = 8  # More lines in one chart cannot be told apart.
CHOICE = ("the fastest on the CPU, the naive kernel, this project's library call, the vendor's library, then those measured "
          "at the most sizes, the fastest first")

_ROLE_COLUMNS = ["name", "operation", "implementation", "is_cpu", "n", "kernel_ms_median"]


@dataclasses.dataclass(frozen=True)
class Roles:
  """Names as in column `name`; None where no implementation has the role."""
  cpu: str
  baseline: str
  own: str  # The library call; without one, this project's kernel that is closest to the fastest at its sizes.
  vendor: str

  def all(self):
    """Returns the names that are not None, each once."""
    return list(dict.fromkeys(name for name in dataclasses.astuple(self) if name is not None))


def with_names(rows, operation):
  """Returns `rows` with further columns: `name`, the implementation with its math or host memory where it was measured with
  several; `is_cpu`; `rate` in the operation's unit, and `rate_low` and `rate_high` at the ends of the time's confidence
  interval, NaN where a row has none. The columns `math`, `host_memory` and `device` are dropped."""
  name = rows["implementation"]
  for column in ("math", "host_memory"):
    distinct = rows.loc[rows[column] != "", ["implementation", column]].drop_duplicates()
    several = distinct["implementation"][distinct["implementation"].duplicated()]
    name = name.where(~rows["implementation"].isin(several), name + " (" + rows[column] + ")")
  rate = rows[operation.rate]
  work = rate * rows["kernel_ms_median"]
  is_cpu = rows["device"] == ""
  return rows.drop(columns=["math", "host_memory", "device"]).assign(
      name=name, is_cpu=is_cpu, rate=rate, rate_low=work / rows["kernel_ms_ci_high"],
      rate_high=work / rows["kernel_ms_ci_low"])


def fastest_blocks(rows):
  """Returns of each name and problem the row with the fastest block."""
  ordered = rows.sort_values("kernel_ms_median", kind="stable")
  return ordered.drop_duplicates(["name", "operation", "rows", "cols", "depth"]).sort_index()


# Tables that all charts of a group share are made once; they must not be changed.
once_for_each_group = functools.lru_cache(maxsize=2)


@once_for_each_group
def all_rows(group):
  """Returns the group's rows with_names()."""
  return with_names(group.rows, group.operation)


@once_for_each_group
def squares(group):
  """Returns those of all_rows() that are square problems, with their size `n` and all blocks."""
  return group.squares(all_rows(group))


@once_for_each_group
def by_size(group):
  """Returns the group's square problems: one row for each name and size `n`, in order of n."""
  return fastest_blocks(squares(group)).sort_values("n", kind="stable")


def computing(rows):
  """Returns `rows` without the copies, which only bound the transposes."""
  is_copy = rows["operation"] == operations.COPY
  return rows[~is_copy] if is_copy.any() else rows


def is_vendor(rows):
  """Returns which rows are of the vendor's library, in any mode."""
  names = rows["implementation"].unique()
  return rows["implementation"].isin([name for name in names if name.startswith(operations.VENDORS)])


def closeness(rows):
  """Returns how close each name comes to the fastest: a table by name of `share`, the median of the fastest time over its
  own at the sizes that others were measured at too, and the number of `sizes`. The closest is first; of equals the one with
  more sizes. Names that share no size with another come last."""
  times = rows.groupby("n")["kernel_ms_median"]
  share = (times.transform("min") / rows["kernel_ms_median"]).where(times.transform("size") > 1)
  table = share.groupby(rows["name"]).median().to_frame("share").assign(sizes=rows.groupby("name").size())
  return table.sort_values(["share", "sizes"], ascending=False, kind="stable")


def find_roles(rows):
  """Returns the Roles in `rows` of by_size()."""
  rows = computing(rows[_ROLE_COLUMNS])
  gpu = rows[~rows["is_cpu"] & ~is_vendor(rows)]
  return Roles(cpu=_closest(rows[rows["is_cpu"]]), baseline=_closest(gpu[gpu["implementation"].isin(operations.BASELINES)]),
               own=_closest(gpu[gpu["implementation"] == LIBRARY_CALL]) or _closest(gpu),
               vendor=_closest(rows[rows["implementation"].isin(operations.VENDORS)]))


def chosen(rows):
  """Returns at most MOST_LINES names by the rule CHOICE, in the order of the files; without copies."""
  rows = computing(rows[_ROLE_COLUMNS])
  others = closeness(rows).sort_values("sizes", ascending=False, kind="stable").index
  return _first_in_files(rows, [*find_roles(rows).all(), *others])


def fastest(rows):
  """Returns at most MOST_LINES names of kernels: this project's best, the vendor's library, and the closest to the fastest."""
  rows = computing(rows[_ROLE_COLUMNS])
  who = find_roles(rows)
  best = [name for name in (who.own, who.vendor) if name is not None]
  return _first_in_files(rows, [*best, *closeness(rows[~rows["is_cpu"]]).index])


def largest_common_size(rows):
  """Returns the size at which the most names were measured, of several the largest; None without rows."""
  names = rows.groupby("n")["name"].nunique()
  return None if names.empty else names.index[names == names.max()].max()


def _first_in_files(rows, names):
  kept = list(dict.fromkeys(names))[:MOST_LINES]
  return [name for name in rows["name"].sort_index().unique() if name in kept]


def _closest(rows):
  return closeness(rows).index[0] if len(rows) else None

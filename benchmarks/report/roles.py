"""Who is who among a group's implementations: the fastest CPU, the first step, the vendor's library, this project's best.

Charts have room for about eight lines; `chosen` says which, and why.
"""

import dataclasses
import functools

VENDORS = ("cublas", "cublas_geam")  # In their default mode: what one gets without asking.
BASELINES = ("naive", "naive_row")  # What one writes first.
LIBRARY_CALL = "auto"  # What this project's library call runs.
COPIES_THAT_BOUND = ("memcpy", "copy_vector")
MOST_LINES = 8  # More in one chart cannot be told apart.
CHOICE = ("the fastest on the CPU, the naive kernel, the library call, the vendor's, and then those with the most sizes, of "
          "equals the fastest")


_WHO = ["name", "operation", "implementation", "is_cpu", "n", "kernel_ms_median"]  # What tells who is who.


@dataclasses.dataclass(frozen=True)
class Roles:
  """Names, as in column `name`; None for a role that nobody has."""
  cpu: str
  baseline: str
  own: str  # The library call, or else the kernel that is nearest to the fastest at its sizes.
  vendor: str

  def all(self):
    """The names without None; one that has two roles once."""
    return list(dict.fromkeys(name for name in dataclasses.astuple(self) if name is not None))


def with_names(rows):
  """`rows` with `name`, which tells apart what one implementation does with several maths or host memories, and `is_cpu`, in
  place of `math`, `host_memory` and `device`; and with `rate`, in rate_unit(), and `rate_low` and `rate_high` at the ends of
  the time's interval, NaN where a row has none."""
  name = rows["implementation"]
  for column in ("math", "host_memory"):
    distinct = rows.loc[rows[column] != "", ["implementation", column]].drop_duplicates()
    several = distinct["implementation"][distinct["implementation"].duplicated()]
    name = name.where(~rows["implementation"].isin(several), name + " (" + rows[column] + ")")
  rate = rows["gflops"].where(rows["operation"] == "matmul", rows["gbps"])
  work = rate * rows["kernel_ms_median"]
  is_cpu = rows["device"] == ""
  return rows.drop(columns=["math", "host_memory", "device"]).assign(
      name=name, is_cpu=is_cpu, rate=rate, rate_low=work / rows["kernel_ms_ci_high"],
      rate_high=work / rows["kernel_ms_ci_low"])


def rate_unit(group):
  return "GFLOP/s" if group.operation == "matmul" else "GB/s"


def fastest_blocks(rows):
  """Of a name's rows for the same problem, which differ in their blocks, the fastest."""
  ordered = rows.sort_values("kernel_ms_median", kind="stable")
  return ordered.drop_duplicates(["name", "operation", "rows", "cols", "depth"]).sort_index()


# What all charts share is made once for each group, and not to be changed.
once_for_each_group = functools.lru_cache(maxsize=2)


@once_for_each_group
def all_rows(group):
  """The group's rows with_names()."""
  return with_names(group.rows)


@once_for_each_group
def squares(group):
  """Those of all_rows() that are of square problems, by size `n`, all blocks."""
  return group.squares(all_rows(group))


@once_for_each_group
def by_size(group):
  """The group's square problems, a row for each name and size `n`, in order of n."""
  return fastest_blocks(squares(group)).sort_values("n", kind="stable")


def computing(rows):
  """Without the copies, which are bounds of transposes."""
  is_copy = rows["operation"] == "copy"
  return rows[~is_copy] if is_copy.any() else rows


def is_vendor(rows):
  """In any mode."""
  names = rows["implementation"].unique()
  return rows["implementation"].isin([name for name in names if name.startswith(VENDORS)])


def closeness(rows):
  """How near each name is to the fastest: the median, over the sizes where there was anything to compare with, of the
  fastest time over its own. A table of `share` and the number of `sizes` by name, from the nearest on; where equal, the one
  with more sizes first. Names that were never measured beside another one come last."""
  times = rows.groupby("n")["kernel_ms_median"]
  share = (times.transform("min") / rows["kernel_ms_median"]).where(times.transform("size") > 1)
  table = share.groupby(rows["name"]).median().to_frame("share").assign(sizes=rows.groupby("name").size())
  return table.sort_values(["share", "sizes"], ascending=False, kind="stable")


def find_roles(rows):
  """The Roles in `rows` of by_size."""
  rows = computing(rows[_WHO])
  gpu = rows[~rows["is_cpu"] & ~is_vendor(rows)]
  return Roles(cpu=_nearest(rows[rows["is_cpu"]]), baseline=_nearest(gpu[gpu["implementation"].isin(BASELINES)]),
               own=_nearest(gpu[gpu["implementation"] == LIBRARY_CALL]) or _nearest(gpu),
               vendor=_nearest(rows[rows["implementation"].isin(VENDORS)]))


def chosen(rows):
  """At most MOST_LINES names by the rule CHOICE, in the order in which they first come in the files; without copies."""
  rows = computing(rows[_WHO])
  others = closeness(rows).sort_values("sizes", ascending=False, kind="stable").index
  return _first_in_files(rows, [*find_roles(rows).all(), *others])


def fastest(rows):
  """At most MOST_LINES names of kernels: this project's best, the vendor's, and the nearest to the fastest."""
  rows = computing(rows[_WHO])
  who = find_roles(rows)
  best = [name for name in (who.own, who.vendor) if name is not None]
  return _first_in_files(rows, [*best, *closeness(rows[~rows["is_cpu"]]).index])


def largest_common_size(rows):
  """The largest of the sizes at which the most names were measured; None without rows."""
  names = rows.groupby("n")["name"].nunique()
  return None if names.empty else names.index[names == names.max()].max()


def _first_in_files(rows, names):
  kept = list(dict.fromkeys(names))[:MOST_LINES]
  return [name for name in rows["name"].sort_index().unique() if name in kept]


def _nearest(rows):
  return closeness(rows).index[0] if len(rows) else None

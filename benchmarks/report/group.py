"""Groups of rows that can stand in one chart: one machine, operation, element type and L2 mode.

The copies that bound transposes are in the transposes' group. Of products only the plain form (nn, alpha 1, beta 0, no batch, with a
workspace, no epilogue, on one GPU, floats multiplied in FP32) is in a group; tables of limits compare the other forms, and precisions.py
the precisions. Rows of other builds are in none, as nothing in a row
tells them from the usual build's.
"""

import dataclasses
import math

import pandas

from benchmarks.report import columns
from benchmarks.report import operations
from benchmarks.report import results

# The columns that charts, tables and sentences use and that differ within a group; a group's rows have no others. Each
# selection of rows copies all columns, which would take longer than anything else for 100,000 rows.
COLUMNS = ("source", "line", "timestamp_utc", "git_commit", "device", "operation", "implementation", "step", "math", "rows",
           "cols", "depth", "block_x", "block_y", "l2", "host_memory", "throttle_reason", "samples", "init_ms", "alloc_ms",
           "h2d_ms", "kernel_ms_min", "kernel_ms_median", "kernel_ms_ci_low", "kernel_ms_ci_high", "kernel_ms_p95",
           "empty_kernel_ms", "d2h_ms", "free_ms", "total_ms", "gbps", "pct_of_copy", "pct_of_peak", "gflops",
           "relative_error", "max_error_over_bound", "sm_clock_mhz", "bound_ms", "vs_cublas")
# The part of columns.CONFIGURATION that differs within a group.
CONFIGURATION = tuple(name for name in columns.CONFIGURATION if name in COLUMNS)
# The columns from which peaks.py derives a machine's limits.
_OF_MACHINE = ("is_arithmetic", "dtype", "kernel_ms_median", "gbps", "gflops", "pct_of_peak", "bound_ms")


@dataclasses.dataclass(frozen=True, eq=False)  # By identity: tables cannot be compared.
class Group:
  """rows: the rows that are ok, with COLUMNS; where a configuration was measured more than once, the latest. repeats: the
  same with all measurements. machine_rows: the machine's rows of all groups, with the columns that tell of its limits."""
  machine: str
  operation: operations.Operation
  dtype: str
  l2: str  # "cold" or "hot"; rows of the CPU, which have no mode, are in both.
  rows: pandas.DataFrame
  repeats: pandas.DataFrame
  machine_rows: pandas.DataFrame

  def slug(self, name):
    """Returns a slug for a chart's name that is unique in the report."""
    words = "-".join([name, self.operation.name, self.dtype, self.machine] + ([self.l2] if self.l2 == "hot" else []))
    return "".join(c if c.isalnum() else "-" for c in words.lower())

  def title(self, words):
    """Returns the title of a chart or table of these rows."""
    return f"{words}: {self.operation.name}, {self.dtype}"

  def subtitle(self, rows=None):
    """Returns where, when and at which commits `rows` were measured; all of the group's rows unless given."""
    rows = (self.rows if rows is None else rows)[["timestamp_utc", "git_commit", "l2"]]
    rows = rows.sort_values("timestamp_utc", kind="stable")
    parts = [self.machine, _range(rows["timestamp_utc"].str[:10]), _commits(rows["git_commit"])]
    if (rows["l2"] != "").any():
      parts.append(f"{self.l2} L2")
    return ", ".join(part for part in parts if part)

  def squares(self, rows=None):
    """Returns the rows of square problems, with their size in column `n` and in order of it, with all blocks; of `rows`, or
    of all the group's rows. A problem of one column is square."""
    rows = self.rows if rows is None else rows
    n = rows[self.operation.problem[0]]
    square = n > 0
    for column in self.operation.problem[1:]:
      square &= rows[column] == n
    return rows[square].assign(n=n[square]).sort_values("n", kind="stable")


def make_groups(rows):
  """Returns the groups of Results.rows that have any, those of one machine together, in order of their operations' names."""
  rows = rows[is_timed(rows)]
  of_names = operations.find_operations(rows)
  by_name = {operation.name: operation for operation in of_names.values()}
  is_arithmetic = rows["operation"].map({name: operation.is_arithmetic for name, operation in of_names.items()})
  of_machines = dict(tuple(rows.assign(is_arithmetic=is_arithmetic.astype(bool)).groupby("machine")[[*_OF_MACHINE]]))
  rows = rows[rows["layout"].eq("nn") & rows["precision"].eq("fp32") & is_plain(rows)]
  keys = [rows["machine"], rows["operation"].map({name: operation.name for name, operation in of_names.items()}),
          rows["dtype"]]
  groups = []
  for (machine, operation, dtype), of_type in rows[[*COLUMNS]].groupby(keys, sort=True):
    modes = sorted(set(of_type["l2"]) - {""}) or ["cold"]
    for mode in modes:
      repeats = of_type[of_type["l2"].isin((mode, ""))]
      groups.append(Group(machine, by_name[operation], dtype, mode, latest(repeats, CONFIGURATION), repeats,
                          of_machines[machine]))
  return groups


def is_timed(rows):
  """Returns which of Results.rows tell the time of a usual build."""
  return (rows["status"].eq("ok") & rows["kernel_ms_median"].gt(0) & rows["kernel_ms_median"].lt(math.inf)
          & ~results.is_profilers(rows) & ~rows["is_other_build"])


def is_plain(rows):
  """Returns which of Results.rows are one problem, without scaling, epilogue or a workspace withheld."""
  return (rows["alpha"].eq(1) & rows["beta"].eq(0) & rows["batch"].eq(1) & rows["workspace"].eq("asked")
          & rows["epilogue"].eq("none") & rows["grid"].eq(""))


def latest(rows, configuration=columns.CONFIGURATION):
  """Returns of each configuration the row that was measured last."""
  ordered = rows.sort_values("timestamp_utc", kind="stable")
  return ordered.drop_duplicates(list(configuration), keep="last").sort_index()


def _range(days):
  first, last = days.min(), days.max()
  return first if first == last else f"{first} to {last}"


def _commits(commits):
  """Returns the commits in the order in which they were measured; "" where no row has one."""
  names = [name for name in dict.fromkeys(commits) if name]
  if len(names) < 2:
    return f"commit {names[0]}" if names else ""
  return f"{len(names)} commits ({names[0]} to {names[-1]})"

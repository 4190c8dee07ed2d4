"""Rows that may stand in one chart: one machine, operation, element type and L2 mode.

Copies belong to transpose: they are its bounds. Only the plain form of a product (nn, alpha 1, beta 0, no batch) is in a
group; the others are compared in the limits tables. Rows of another build are in none, as nothing tells them from the usual.
"""

import dataclasses
import math

import pandas

from benchmarks.report import results

# What charts, tables and sentences look at, and what differs within a group; its rows have no other columns. Every selection
# of rows copies all of them: of 100,000 rows that takes longer than anything else.
COLUMNS = ("source", "line", "timestamp_utc", "git_commit", "device", "operation", "implementation", "math", "rows", "cols",
           "depth", "block_x", "block_y", "l2", "host_memory", "throttle_reason", "samples", "init_ms", "alloc_ms", "h2d_ms",
           "kernel_ms_min", "kernel_ms_median", "kernel_ms_ci_low", "kernel_ms_ci_high", "kernel_ms_p95",
           "empty_kernel_ms", "d2h_ms", "free_ms", "total_ms", "gbps", "pct_of_copy", "pct_of_peak", "gflops",
           "relative_error", "max_error_over_bound", "sm_clock_mhz", "bound_ms", "vs_cublas")
# Of CONFIGURATION, what tells rows of a group apart.
CONFIGURATION = tuple(name for name in results.CONFIGURATION if name in COLUMNS)
# What tells of a machine's limits, see peaks.py.
_OF_MACHINE = ("operation", "dtype", "kernel_ms_median", "gbps", "gflops", "pct_of_peak", "bound_ms")


@dataclasses.dataclass(frozen=True, eq=False)  # Tables do not compare; a group is itself.
class Group:
  """rows: those that are ok, with COLUMNS; of a configuration measured more than once the latest. repeats: those too that
  were replaced."""
  machine: str
  operation: str  # "matmul" or "transpose".
  dtype: str
  l2: str  # "cold" or "hot"; rows of the CPU, which have no mode, are in both.
  rows: pandas.DataFrame
  repeats: pandas.DataFrame
  machine_rows: pandas.DataFrame  # Those of other groups too, with the columns that tell of the machine's limits.

  def slug(self, name):
    """Unique in the report for a chart's name."""
    words = "-".join([name, self.operation, self.dtype, self.machine] + ([self.l2] if self.l2 == "hot" else []))
    return "".join(c if c.isalnum() else "-" for c in words.lower())

  def subtitle(self, rows=None):
    """Where, when and of which commits: of `rows`, or of all."""
    rows = (self.rows if rows is None else rows)[["timestamp_utc", "git_commit", "l2"]]
    rows = rows.sort_values("timestamp_utc", kind="stable")
    parts = [self.machine, _range(rows["timestamp_utc"].str[:10]), _commits(rows["git_commit"])]
    if (rows["l2"] != "").any():
      parts.append(f"{self.l2} L2")
    return ", ".join(part for part in parts if part)

  def squares(self, rows=None):
    """Those of square problems, by size in column `n`, all blocks: of `rows`, or of all."""
    rows = self.rows if rows is None else rows
    square = rows["rows"] == rows["cols"]
    if self.operation == "matmul":
      square &= rows["rows"] == rows["depth"]
    return rows[square & (rows["rows"] > 0)].assign(n=lambda frame: frame["rows"]).sort_values("n", kind="stable")


def make_groups(rows):
  """The groups of Results.rows, those of one machine together, matmul first; empty ones left out."""
  usable = rows[rows["status"].eq("ok") & rows["kernel_ms_median"].gt(0) & rows["kernel_ms_median"].lt(math.inf)
                & ~results.is_profilers(rows) & ~rows["is_other_build"]]
  of_machines = dict(tuple(usable.groupby("machine")[[*_OF_MACHINE]]))
  plain = usable["layout"].eq("nn") & usable["alpha"].eq(1) & usable["beta"].eq(0) & usable["batch"].eq(1)
  usable = usable[plain]
  keys = [usable["machine"], usable["operation"].where(usable["operation"] == "matmul", "transpose"), usable["dtype"]]
  groups = []
  for (machine, operation, dtype), of_type in usable[[*COLUMNS]].groupby(keys, sort=True):
    modes = sorted(set(of_type["l2"]) - {""}) or ["cold"]
    for mode in modes:
      repeats = of_type[of_type["l2"].isin((mode, ""))]
      groups.append(Group(machine, operation, dtype, mode, latest(repeats, CONFIGURATION), repeats, of_machines[machine]))
  return groups


def latest(rows, configuration=results.CONFIGURATION):
  """Of each configuration the row measured last."""
  ordered = rows.sort_values("timestamp_utc", kind="stable")
  return ordered.drop_duplicates(list(configuration), keep="last").sort_index()


def _range(days):
  first, last = days.min(), days.max()
  return first if first == last else f"{first} to {last}"


def _commits(commits):
  """In the order in which they were measured; "" where no row says."""
  names = [name for name in dict.fromkeys(commits) if name]
  if len(names) < 2:
    return f"commit {names[0]}" if names else ""
  return f"{len(names)} commits ({names[0]} to {names[-1]})"

"""Rows that may stand in one chart: one machine, operation, element type and L2 mode.

Copies belong to transpose: they are its bounds. Only the plain form of a product (nn, alpha 1, beta 0, no batch) is in a group;
the others are compared in the limits tables.
"""

import dataclasses
import math

import pandas

from benchmarks.report import results


@dataclasses.dataclass(frozen=True, eq=False)  # Tables do not compare; a group is itself.
class Group:
  """rows: those that are ok; of a configuration measured more than once the latest. repeats: those too that were replaced."""
  machine: str
  operation: str  # "matmul" or "transpose".
  dtype: str
  l2: str  # "cold" or "hot"; rows of the CPU, which have no mode, are in both.
  rows: pandas.DataFrame
  repeats: pandas.DataFrame
  machine_rows: pandas.DataFrame  # Those of other groups too, for what they tell of the machine's limits.

  def slug(self, name):
    """Unique in the report for a chart's name."""
    words = "-".join([name, self.operation, self.dtype, self.machine] + ([self.l2] if self.l2 == "hot" else []))
    return "".join(c if c.isalnum() else "-" for c in words.lower())

  def subtitle(self, rows=None):
    """Where, when and of which commits: of `rows`, or of all."""
    rows = (self.rows if rows is None else rows).sort_values("timestamp_utc", kind="stable")
    parts = [self.machine, _range(rows["timestamp_utc"].str[:10]), _commits(rows["git_commit"])]
    if (rows["l2"] != "").any():
      parts.append(f"{self.l2} L2")
    return ", ".join(part for part in parts if part)

  def squares(self):
    """Rows of square problems, by size in column `n`, all blocks."""
    rows = self.rows
    square = rows["rows"] == rows["cols"]
    if self.operation == "matmul":
      square &= rows["rows"] == rows["depth"]
    return rows[square & (rows["rows"] > 0)].assign(n=lambda frame: frame["rows"]).sort_values("n", kind="stable")


def make_groups(rows):
  """The groups of Results.rows, those of one machine together, matmul first; empty ones left out."""
  # A GPU's row without host memory is a profiler's: one sample, taken in another way.
  timed = rows["device"].eq("") | rows["host_memory"].ne("")
  usable = rows[rows["status"].eq("ok") & rows["kernel_ms_median"].gt(0) & rows["kernel_ms_median"].lt(math.inf) & timed]
  of_machines = dict(tuple(usable.groupby("machine")))
  plain = usable["layout"].eq("nn") & usable["alpha"].eq(1) & usable["beta"].eq(0) & usable["batch"].eq(1)
  usable = usable[plain].assign(family=lambda frame: frame["operation"].where(frame["operation"] == "matmul", "transpose"))
  groups = []
  for (machine, family, dtype), of_type in usable.groupby(["machine", "family", "dtype"], sort=True):
    modes = sorted(set(of_type["l2"]) - {""}) or ["cold"]
    for mode in modes:
      repeats = of_type[of_type["l2"].isin((mode, ""))]
      groups.append(Group(machine, family, dtype, mode, latest(repeats), repeats, of_machines[machine]))
  return groups


def latest(rows):
  """Of each configuration the row measured last."""
  ordered = rows.sort_values("timestamp_utc", kind="stable")
  return ordered.drop_duplicates(list(results.CONFIGURATION), keep="last").sort_index()


def _range(days):
  first, last = days.min(), days.max()
  return first if first == last else f"{first} to {last}"


def _commits(commits):
  """In the order in which they were measured; "" where no row says."""
  names = [name for name in dict.fromkeys(commits) if name]
  if len(names) < 2:
    return f"commit {names[0]}" if names else ""
  return f"{len(names)} commits ({names[0]} to {names[-1]})"

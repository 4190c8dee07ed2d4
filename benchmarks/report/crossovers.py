"""The size from which on one implementation is faster than another.

An implementation is faster at a size where its confidence interval lies below the other's; for `total_ms`, which has no
interval, where its time is shorter. It wins from the first size on after which it is faster at every size that both were
measured at. At least two such sizes are needed. What the GPU is compared with is the fastest on the CPU at each size: one
core is best where products are small, and all cores where they are large.
"""

import dataclasses

import pandas

from benchmarks.report import roles

# Name of a time -> its column, and those of the low and high end of its interval.
MEASURES = {
    "kernel": ("kernel_ms_median", "kernel_ms_ci_low", "kernel_ms_ci_high"),
    "total": ("total_ms", "total_ms", "total_ms"),
}


BEST_CPU = "the best CPU"  # In place of a name.


@dataclasses.dataclass(frozen=True)
class Crossing:
  """Where `winner` wins. start: the size from which on it wins, None if it does not. before: the size measured below start,
  None if there is none, so that it wins at all sizes. sizes: the sizes that both were measured at."""
  winner: str
  loser: str
  measure: str
  start: float
  before: float
  sizes: tuple

  def always(self):
    return self.start is not None and self.before is None


def find_crossing(rows, winner, loser, measure):
  """Returns the Crossing of two names in `rows` of roles.by_size(); None where fewer than two sizes have both."""
  median, low, high = MEASURES[measure]
  times = {}
  for name in (winner, loser):
    of_name = rows[["n", *dict.fromkeys(MEASURES[measure])]][(rows["name"] == name) & rows[median].notna()].set_index("n")
    middle = of_name[median]  # In place of a missing interval.
    times[name] = pandas.DataFrame({"low": of_name[low].fillna(middle), "high": of_name[high].fillna(middle)})
  both = times[winner].join(times[loser], how="inner", lsuffix="_winner", rsuffix="_loser").sort_index()
  if len(both) < 2:
    return None
  faster = both["high_winner"] < both["low_loser"]
  from_here_on = faster[::-1].cummin()[::-1]
  sizes = tuple(both.index)
  lost = int((~from_here_on).sum())
  if len(sizes) - lost < 2:
    return Crossing(winner, loser, measure, None, None, sizes)
  return Crossing(winner, loser, measure, sizes[lost], sizes[lost - 1] if lost else None, sizes)


def best_cpu(rows):
  """Returns of each size the row in `rows` of roles.by_size() with the shortest kernel time on the CPU."""
  cpu = roles.computing(rows[rows["is_cpu"]])
  return cpu.sort_values("kernel_ms_median", kind="stable").drop_duplicates("n").sort_values("n", kind="stable")


def with_best_cpu(rows):
  """Returns `rows` of roles.by_size() and the name of the best on the CPU in them: BEST_CPU, with further rows of that name,
  where the CPU has several implementations, else the one that there is; None where there is none."""
  best = best_cpu(rows)
  names = rows["name"][rows["is_cpu"] & rows["name"].isin(roles.computing(rows)["name"])].unique()
  if len(names) < 2:
    return rows, names[0] if len(names) else None
  return pandas.concat([rows, best.assign(name=BEST_CPU)]), BEST_CPU


def crossings(rows, measure):
  """Returns the Crossings from which on this project's best and the vendor's library win over the best on the CPU."""
  who = roles.find_roles(rows)
  rows, cpu = with_best_cpu(rows)
  if cpu is None:
    return []
  gpu = list(dict.fromkeys(name for name in (who.own, who.vendor) if name is not None))
  found = [find_crossing(rows, name, cpu, measure) for name in gpu]
  return [crossing for crossing in found if crossing is not None]

"""The ladder: each kernel's rate at one size, in the order of the file, and what each step gained.

A ladder is of one file: what one sweep measured in one go, in the order of its registry. A gain is over the fastest kernel
before: the step before, unless that was a step back.
"""

import math

from benchmarks.report import chart
from benchmarks.report import roles

_FEWEST_KERNELS = 3
_SPREAD_NOTE = "The spread is the rate at the ends of the 95 % confidence interval of the median time."


@roles.once_for_each_group
def steps(group):
  """Rows of the ladder's kernels in their order, at one size `n`, with `gain`: the rate over the fastest before it, NaN for
  the first, 1 or less for what is no step up. Of the file with the most kernels at one size, at the largest such size; of
  several blocks the fastest. Empty where no file has three kernels."""
  rows = roles.with_names(group.squares(group.repeats))
  rows = rows[(rows["operation"] == group.operation) & ~rows["is_cpu"] & ~roles.is_vendor(rows) & rows["rate"].notna()]
  rows = rows.sort_values("kernel_ms_median", kind="stable").drop_duplicates(["source", "name", "n"])
  counts = rows.groupby(["source", "n"]).size()
  if counts.empty or counts.max() < _FEWEST_KERNELS:
    return rows[:0].assign(gain=math.nan)
  source, n = counts[counts == counts.max()].sort_index(level="n", kind="stable").index[-1]
  rows = rows[(rows["source"] == source) & (rows["n"] == n)].sort_values("line", kind="stable")
  return rows.assign(gain=rows["rate"] / rows["rate"].cummax().shift())


def figures(group):
  rows = steps(group)
  if rows.empty:
    return []
  n = rows["n"].iloc[0]
  names = rows["name"].tolist()
  labels = ["" if math.isnan(gain) else f"{gain:.2f}x" for gain in rows["gain"]]
  series = [chart.Series("kernel", names, rows["rate"].tolist(), rows["rate_low"].tolist(), rows["rate_high"].tolist(),
                         labels=labels)]
  squares = roles.by_size(group)
  bounds = squares[(squares["n"] == n) & squares["implementation"].isin(roles.VENDORS + roles.COPIES_THAT_BOUND)]
  series += [chart.Series(name, names, [rate] * len(names), is_bound=True)
             for name, rate in zip(bounds["name"], bounds["rate"].tolist())]
  order_note = (f"Kernels in the order of {rows['source'].iloc[0]}; of several blocks the fastest. The number is the rate "
                "over the fastest kernel before it.")
  return [chart.Chart(group.slug("ladder"), f"The ladder: {group.operation}, {group.dtype}, n = {n:.0f}",
                      group.subtitle(rows), chart.Kind.BARS, chart.Axis("kernel"), chart.Axis(roles.rate_unit(group)),
                      series, notes=[order_note, _SPREAD_NOTE])]

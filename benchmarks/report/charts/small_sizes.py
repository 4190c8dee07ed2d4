"""The sizes at which the CPU is still competitive, on linear axes: of the kernel alone, and of a whole call."""

from benchmarks.report import chart
from benchmarks.report import roles
from benchmarks.report.charts import lines

# The CPU is in the race as long as it takes no more than this many times the GPU's time.
_IN_THE_RACE = 2


def figures(group):
  rows = roles.by_size(group)
  who = roles.find_roles(rows)
  if who.cpu is None:
    return []
  kernel = _zoom(group, rows, who, "kernel_ms_median", "small-sizes", "Small sizes, the kernel alone", "kernel time (us)",
                 lines.kernel_time_line, lines.INTERVAL_NOTE)
  total = _zoom(group, rows, who, "total_ms", "small-sizes-total", "Small sizes, with copies", "time with copies (us)",
                lines.total_time_line, "Allocation, copies, one launch, release; on the CPU, the kernel time.")
  return kernel + total


def _zoom(group, rows, who, column, slug, title, label, make_line, note):
  times = rows[rows["name"].isin(who.all())].pivot_table(index="n", columns="name", values=column)
  if who.cpu not in times or times.shape[1] < 2:
    return []
  in_the_race = times.index[times[who.cpu] <= _IN_THE_RACE * times.drop(columns=who.cpu).min(axis=1)]
  near = rows[rows["n"] <= in_the_race.max()] if len(in_the_race) else rows[:0]
  if (near["name"] == who.cpu).sum() < 2:
    return []
  series = [make_line(name, near[near["name"] == name], per_ms=1000) for name in who.all()]
  notes = [note, f"Up to the largest size at which {who.cpu} takes at most twice the time of the fastest other shown."]
  return [chart.Chart(group.slug(slug), f"{title}: {group.operation}, {group.dtype}", group.subtitle(near), chart.Kind.LINES,
                      chart.Axis("n, of n x n matrices"), chart.Axis(label), [line for line in series if line.x],
                      notes=notes)]

"""The sizes at which the CPU is still competitive, on linear axes: for the kernel alone and for a whole call."""

from benchmarks.report import model
from benchmarks.report import roles
from benchmarks.report.charts import lines

# The CPU is competitive as long as it takes no more than this multiple of the GPU's time.
_COMPETITIVE = 2


def figures(group):
  rows = roles.by_size(group)
  who = roles.find_roles(rows)
  if who.cpu is None:
    return []
  kernel = _zoom(group, rows, who, "kernel_ms_median", "small-sizes", "Small sizes, the kernel alone", "kernel time (us)",
                 lines.kernel_time_line, lines.INTERVAL_NOTE)
  total = _zoom(group, rows, who, "total_ms", "small-sizes-total", "Small sizes, with copies", "time with copies (us)",
                lines.total_time_line,
                "The time of a whole call: allocation, copies, one launch, release. On the CPU it is the kernel time.")
  return kernel + total


def _zoom(group, rows, who, column, slug, title, label, make_line, note):
  times = rows[rows["name"].isin(who.all())].pivot_table(index="n", columns="name", values=column)
  if who.cpu not in times or times.shape[1] < 2:
    return []
  competitive = times.index[times[who.cpu] <= _COMPETITIVE * times.drop(columns=who.cpu).min(axis=1)]
  near = rows[rows["n"] <= competitive.max()] if len(competitive) else rows[:0]
  if (near["name"] == who.cpu).sum() < 2:
    return []
  series = [make_line(name, near[near["name"] == name], per_ms=1000) for name in who.all()]
  notes = [note, f"The axis ends at the largest size at which {who.cpu} takes at most twice the time of the fastest other line."]
  return [model.Chart(group.slug(slug), group.title(title), group.subtitle(near), model.Kind.LINES,
                      lines.size_axis(group, log=False), model.Axis(label), [line for line in series if line.x],
                      notes=notes)]

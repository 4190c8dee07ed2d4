"""The time over the size, of the kernel alone and of a whole call, with marks where the GPU begins to win."""

import functools

from benchmarks.report import model
from benchmarks.report import crossovers
from benchmarks.report import roles
from benchmarks.report.charts import lines

_TOTAL_NOTE = ("The time of a whole call: allocation, copies to and from the device, one launch, release. It is the median of "
               "three passes and has no interval. On the CPU it is the kernel time.")


def figures(group):
  rows = lines.distinct_sizes(group)
  if roles.computing(rows)["n"].nunique() < 2:
    return []
  shown = roles.chosen(rows)
  notes = lines.selection_notes(group, rows, shown)
  draw = functools.partial(_time_chart, group, rows, shown)
  charts = [draw("time", "Kernel time by size", "kernel time (ms)", "kernel", lines.kernel_time_line,
                 [lines.INTERVAL_NOTE, *notes])]
  if rows["total_ms"][~rows["is_cpu"] & rows["name"].isin(shown)].notna().any():
    charts.append(draw("total-time", "Time of a whole call by size", "time with copies (ms)", "total", lines.total_time_line,
                       [_TOTAL_NOTE, *notes]))
  return charts


def _time_chart(group, rows, shown, slug, title, label, measure, make_line, notes):
  series = [make_line(name, rows[rows["name"] == name]) for name in shown] + lines.copy_bounds(rows, make_line)
  found = crossovers.crossings(roles.by_size(group), measure)
  crossings = [crossing for crossing in found if crossing.before is not None]
  marks = [model.Mark(crossing.start, f"{crossing.winner} beats {crossing.loser} from {crossing.start:.0f}")
           for crossing in crossings]
  if marks:
    notes = notes + ["A mark is the size from which on the GPU is faster than the CPU at every size measured"
                     + (", with intervals that do not overlap." if measure == "kernel" else ".")]
  return model.Chart(group.slug(slug), group.title(title), group.subtitle(rows), model.Kind.LINES,
                     lines.size_axis(group), model.Axis(label, log=True), [line for line in series if line.x], marks, notes)

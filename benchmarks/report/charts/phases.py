"""Where the time of a whole call goes, for each implementation at one size; without and with what the first use costs.
"""

from benchmarks.report import chart
from benchmarks.report import roles

# In the order in which they happen. A first launch is not among them: it has the kernel in it.
FIRST_USE = (("init", "init_ms"),)
CALL = (("alloc", "alloc_ms"), ("host to device", "h2d_ms"), ("kernel", "kernel_ms_median"), ("device to host", "d2h_ms"),
        ("free", "free_ms"))

_NOTES = ["Medians of three passes of each phase, of the kernel the steady median; bars have no spread.",
          "A CPU has nothing to allocate and nothing to copy."]
_INIT_NOTE = "init is what a program pays once: the device's context, the library's handle, the kernel's loading."


def figures(group):
  rows = roles.computing(roles.by_size(group))
  rows = rows[rows["name"].isin(roles.chosen(rows)) & (rows["is_cpu"] | rows["h2d_ms"].notna())]
  rows = rows[rows["n"] == roles.largest_common_size(rows)].sort_index()
  if rows["is_cpu"].all():
    return []
  charts = [_bars(group, rows, "phases", "Phases of a whole call", CALL, _NOTES)]
  if rows["init_ms"].notna().any():
    charts.append(_bars(group, rows, "phases-first", "Phases of the first use and a whole call", FIRST_USE + CALL,
                        [*_NOTES, _INIT_NOTE]))
  return charts


def _bars(group, rows, slug, title, phases, notes):
  names = rows["name"].tolist()
  series = [chart.Series(label, names, rows[column].tolist()) for label, column in phases if rows[column].notna().any()]
  return chart.Chart(group.slug(slug), f"{title}: {group.operation}, {group.dtype}, n = {rows['n'].iloc[0]:.0f}",
                     group.subtitle(rows), chart.Kind.STACKED_BARS, chart.Axis("implementation"), chart.Axis("time (ms)"),
                     series, notes=notes)

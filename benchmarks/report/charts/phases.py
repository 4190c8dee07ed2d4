"""Where the time of a whole call goes, for each implementation at one size, without and with the cost of the first use."""

from benchmarks.report import model
from benchmarks.report import roles

# In the order in which they happen. The first launch is not among them, as it includes the kernel.
FIRST_USE = (("init", "init_ms"),)
CALL = (("alloc", "alloc_ms"), ("host to device", "h2d_ms"), ("kernel", "kernel_ms_median"), ("device to host", "d2h_ms"),
        ("free", "free_ms"))

_NOTES = ["Each phase is the median of three passes, the kernel the median of its samples. Bars have no spread.",
          "On the CPU nothing is allocated or copied."]
_INIT_NOTE = "init is paid once by a program: it creates the device's context and the library's handle and loads the kernel."


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
  series = [model.Series(label, names, rows[column].tolist()) for label, column in phases if rows[column].notna().any()]
  return model.Chart(group.slug(slug), f"{group.title(title)}, n = {rows['n'].iloc[0]:.0f}",
                     group.subtitle(rows), model.Kind.STACKED_BARS, model.Axis("implementation"), model.Axis("time (ms)"),
                     series, notes=notes)

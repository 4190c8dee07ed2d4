"""The rate over the size, under the limits of the machine: once for all magnitudes on a logarithmic axis, once for the
fastest kernels on a linear axis, where their differences can be seen."""

import math

from benchmarks.report import model
from benchmarks.report import peaks
from benchmarks.report import roles
from benchmarks.report.charts import lines

# The linear axis begins at the first size at which some rate is this part of the highest one.
_LEAST_SHARE = 0.1

_FASTEST_NOTE = ("Kernels on the GPU: this project's library call, the vendor's library, and those that come closest to the "
                 "fastest at their sizes; from the size at which one of them reaches a tenth of the highest rate.")
_BYTES_NOTE = ("GB/s are the bytes that must move, each input read once and each output written once, over the kernel's "
               "time. Copies of the same bytes are dashed.")


def figures(group):
  rows = lines.distinct_sizes(group)
  rows = rows[rows["rate"].notna()]
  if roles.computing(rows)["n"].nunique() < 2:
    return []
  shown = roles.chosen(rows)
  charts = [_rate_chart(group, rows, shown, "rate", "by size", True, lines.selection_notes(group, rows, shown))]
  large = rows[rows["n"] >= rows["n"][rows["rate"] >= _LEAST_SHARE * rows["rate"].max()].min()]
  fastest = roles.fastest(large)
  if len(fastest) > 1 and large["n"].nunique() > 1:
    charts.append(_rate_chart(group, large, fastest, "rate-fastest", "of the fastest by size", False, [_FASTEST_NOTE]))
  return charts


def _rate_chart(group, rows, shown, slug, title, log, notes):
  series = [lines.rate_line(name, rows[rows["name"] == name]) for name in shown]
  notes = [lines.INTERVAL_NOTE, *notes]
  if group.operation.is_arithmetic:
    series += _peak("FP32 peak", peaks.fp32_gflops(group.machine_rows) if group.dtype == "float" else math.nan, rows)
  else:
    series += lines.copy_bounds(rows, lines.rate_line) + _peak("DRAM peak", peaks.memory_gbps(group.machine_rows), rows)
    notes.append(_BYTES_NOTE)
  unit = group.operation.rate_unit
  return model.Chart(group.slug(slug), group.title(f"{unit} {title}"), group.subtitle(rows), model.Kind.LINES,
                     lines.size_axis(group), model.Axis(unit, log=log), series, notes=notes)


def _peak(name, value, rows):
  if math.isnan(value):
    return []
  ends = sorted({float(rows["n"].min()), float(rows["n"].max())})
  return [model.Series(name, ends, [float(value)] * len(ends), is_reference=True)]

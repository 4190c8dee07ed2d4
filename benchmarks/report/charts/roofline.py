"""The roofline: each kernel's rate over its arithmetic intensity, under the machine's bandwidth and peak.

The intensity is the number of operations over the bytes that must move (each input read once, the output written once): that
of the problem, not that of the memory traffic behind the caches. So kernels of one size stand above each other, and the
distance to the roof is what is left to gain. Operations without arithmetic are compared with a copy instead, see
copy_shares.py.
"""

import math

import numpy

from benchmarks.report import model
from benchmarks.report import peaks
from benchmarks.report import roles
from benchmarks.report.charts import names

# The trail of an implementation begins at this part of the peak: smaller sizes are far below the roof.
_LEAST_SHARE = 1e-3
_TRAIL_STEP = 1.1


def figures(group):
  peak = peaks.fp32_gflops(group.machine_rows) if group.dtype == "float" and group.operation.is_arithmetic else math.nan
  rows = roles.by_size(group)
  rows = rows[~rows["is_cpu"] & (rows["gbps"] > 0) & rows["rate"].notna()]
  if rows.empty or math.isnan(peak):
    return []
  rows = rows.assign(intensity=rows["gflops"] / rows["gbps"])
  who = roles.find_roles(rows)
  trails = rows[rows["rate"] >= _LEAST_SHARE * peak]
  series = [_points(name, _thinned(trails[trails["name"] == name])) for name in (who.vendor, who.own) if name is not None]
  series = [trail for trail in series if trail.x]
  trail_names = " and ".join(trail.name for trail in series)
  notes = ["The intensity counts the bytes that must move: each input read once, the result written once. It ignores caches.",
           "Every kernel is shown at its largest square. Names are omitted where there is no room."]
  if trail_names:
    notes.append(f"Shown at other squares too, where the rate is at least a thousandth of the peak: {trail_names}.")
  largest = rows.drop_duplicates("name", keep="last").sort_values("rate", ascending=False)
  labels = names.names_with_room(largest["name"], largest["intensity"], largest["rate"])
  series.append(_points("each kernel at its largest size", largest, labels))
  bandwidth = peaks.memory_gbps(group.machine_rows)
  if math.isnan(bandwidth):
    notes.append("No row tells the memory's bandwidth, so that the roof has its flat part only.")
  intensities = [x for points in series for x in points.x]
  return [model.Chart(group.slug("roofline"), group.title("Roofline"), group.subtitle(rows),
                      model.Kind.POINTS, model.Axis("arithmetic intensity (FLOP/B)", log=True),
                      model.Axis("GFLOP/s", log=True),
                      series + _roof(float(peak), float(bandwidth), min(intensities), max(intensities)), notes=notes)]


def _thinned(rows):
  """Returns one row for each factor of _TRAIL_STEP in the size."""
  step = numpy.floor(numpy.log(rows["n"]) / math.log(_TRAIL_STEP))
  return rows[~step.duplicated()]


def _points(name, rows, labels=None):
  return model.Series(name, rows["intensity"].tolist(), rows["rate"].tolist(), rows["rate_low"].tolist(),
                      rows["rate_high"].tolist(), labels=labels)


def _roof(peak, bandwidth, first, last):
  if math.isnan(bandwidth):
    return [model.Series("FP32 peak", [first, last], [peak, peak], is_reference=True)]
  ridge = peak / bandwidth
  first, last = min(first, ridge / 2), max(last, ridge * 2)
  return [model.Series("DRAM peak", [first, ridge], [first * bandwidth, peak], is_reference=True),
          model.Series("FP32 peak", [ridge, last], [peak, peak], is_reference=True)]

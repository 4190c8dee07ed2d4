"""Noise: how far the samples of one measurement spread, and how far medians of repeated measurements are apart."""

from benchmarks.report import model
from benchmarks.report import group as groups
from benchmarks.report import roles
from benchmarks.report import wording
from benchmarks.report.charts import lines

_FEWEST_SAMPLES = 6
_FEWEST_CONFIGURATIONS = 3


def figures(group):
  return _within(group) + _between(group)


def _within(group):
  rows = roles.by_size(group)
  shown = roles.chosen(rows)
  measured = rows[rows["name"].isin(shown) & (rows["samples"] >= _FEWEST_SAMPLES)]
  spread = (measured["kernel_ms_p95"] - measured["kernel_ms_min"]) / measured["kernel_ms_median"] * 100
  measured = measured.assign(spread=spread)[spread.notna()]
  if measured["n"].nunique() < 2:
    return []
  by_name = [(name, measured[measured["name"] == name]) for name in shown]
  series = [model.Series(name, of_name["n"].tolist(), of_name["spread"].tolist())
            for name, of_name in by_name if len(of_name)]
  note = ("The spread of the samples is their 95th percentile minus their minimum, over their median. Only rows with at least "
          f"{_FEWEST_SAMPLES} samples are shown." + _unshown(measured["spread"]))
  return [model.Chart(group.slug("noise"), group.title("Spread of the samples"),
                      group.subtitle(measured), model.Kind.POINTS, lines.size_axis(group),
                      model.Axis("(p95 - min) / median (%)", log=True), series,
                      notes=[note, *lines.selection_notes(group, rows, shown)])]


def _between(group):
  keys = [*groups.CONFIGURATION, "git_commit"]
  # The same row in two files is one measurement.
  rows = group.repeats.drop_duplicates([*keys, "timestamp_utc", "kernel_ms_median"])
  rows = rows[rows.duplicated(keys, keep=False)]
  is_cpu = rows["device"].eq("").rename("is_cpu")
  medians = rows.groupby([*keys, is_cpu], dropna=False)["kernel_ms_median"].agg(["min", "max"])
  if len(medians) < _FEWEST_CONFIGURATIONS:
    return []
  medians = medians.reset_index().assign(difference=lambda frame: (frame["max"] / frame["min"] - 1) * 100)
  series = [model.Series(name, medians["min"][chosen].tolist(), medians["difference"][chosen].tolist())
            for name, chosen in (("on the GPU", ~medians["is_cpu"]), ("on the CPU", medians["is_cpu"])) if chosen.any()]
  half = wording.number(medians["difference"].median())
  note = (f"{len(medians)} configurations were measured more than once at the same commit; shown is how far their medians are "
          f"apart. Half of them differ by no more than {half} %." + _unshown(medians["difference"]))
  return [model.Chart(group.slug("repeats"), group.title("Repeated medians"),
                      group.subtitle(rows), model.Kind.POINTS, model.Axis("kernel time (ms)", log=True),
                      model.Axis("longest median over shortest, minus 1 (%)", log=True), series, notes=[note])]


def _unshown(values):
  zeros = int((values == 0).sum())
  return f" {zeros} of {len(values)} points are 0, which a logarithmic axis cannot show." if zeros else ""

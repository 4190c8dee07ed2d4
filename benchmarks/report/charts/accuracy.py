"""Speed against error: which implementations are not beaten in both at once."""

import math

import pandas

from benchmarks.report import chart
from benchmarks.report import roles
from benchmarks.report.charts import lines
from benchmarks.report.charts import names

_NOTE = ("Left is more exact, up is faster. Nothing is both faster and more exact than what is on the front. Names are left "
         "out where there is no room.")


def figures(group):
  rows = roles.by_size(group)
  rows = rows[(rows["relative_error"] > 0) & rows["rate"].notna()]
  n = roles.largest_common_size(rows)
  rows = rows[rows["n"] == n]
  if group.operation != "matmul" or rows["name"].nunique() < 3:
    return []
  rows = rows.sort_values(["rate", "relative_error"], ascending=[False, True], kind="stable")
  # From the fastest down, whoever is more exact than all that are faster; and who equals one of them in both.
  front = rows[rows["relative_error"] < rows["relative_error"].cummin().shift(fill_value=math.inf)]
  both = ["rate", "relative_error"]
  on_front = rows.set_index(both).index.isin(front.set_index(both).index)
  unbeaten, others = rows[on_front], rows[~on_front]
  # The front's names go first: they are the answer.
  ordered = pandas.concat([unbeaten, others])
  labels = names.names_with_room(ordered["name"], ordered["relative_error"], ordered["rate"])
  series = [_points("on the front", unbeaten, labels[:len(unbeaten)]), _points("others", others, labels[len(unbeaten):]),
            chart.Series("front", front["relative_error"].tolist(), front["rate"].tolist(), is_bound=True)]
  return [chart.Chart(group.slug("accuracy"), f"Speed and error: {group.operation}, {group.dtype}, n = {n:.0f}",
                      group.subtitle(rows), chart.Kind.POINTS, chart.Axis("relative error (Frobenius norm)", log=True),
                      chart.Axis(roles.rate_unit(group), log=True), [points for points in series if points.x],
                      notes=[_NOTE, lines.INTERVAL_NOTE])]


def _points(name, rows, labels):
  return chart.Series(name, rows["relative_error"].tolist(), rows["rate"].tolist(), rows["rate_low"].tolist(),
                      rows["rate_high"].tolist(), labels=labels)

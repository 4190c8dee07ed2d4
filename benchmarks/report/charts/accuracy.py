"""Speed against error: which implementations no other one beats in both."""

import math

import pandas

from benchmarks.report import model
from benchmarks.report import roles
from benchmarks.report.charts import lines
from benchmarks.report.charts import names

FRONT_NOTE = ("Further left is more accurate, further up is faster. No implementation is both faster and more accurate than one "
         "on the front. Names are omitted where there is no room.")


def figures(group):
  rows = roles.by_size(group)
  rows = rows[(rows["relative_error"] > 0) & rows["rate"].notna()]
  n = roles.largest_common_size(rows)
  rows = rows[rows["n"] == n]
  if rows["name"].nunique() < 3:
    return []
  return [front_chart(rows, group.slug("accuracy"), f"{group.title('Speed and error')}, n = {n:.0f}",
                      group.subtitle(rows), group.operation.rate_unit, [FRONT_NOTE, lines.INTERVAL_NOTE])]


def front_chart(rows, slug, title, subtitle, rate_unit, notes):
  """Returns the model.Chart of rows with `name`, `relative_error` above 0, `rate`, `rate_low` and `rate_high`."""
  rows = rows.sort_values(["rate", "relative_error"], ascending=[False, True], kind="stable")
  # From the fastest down: those more accurate than all faster ones, and those equal to one of these in both.
  front = rows[rows["relative_error"] < rows["relative_error"].cummin().shift(fill_value=math.inf)]
  both = ["rate", "relative_error"]
  on_front = rows.set_index(both).index.isin(front.set_index(both).index)
  unbeaten, others = rows[on_front], rows[~on_front]
  # The names on the front get their labels first: they are the answer.
  ordered = pandas.concat([unbeaten, others])
  labels = names.names_with_room(ordered["name"], ordered["relative_error"], ordered["rate"])
  series = [_points("on the front", unbeaten, labels[:len(unbeaten)]), _points("others", others, labels[len(unbeaten):]),
            model.Series("front", front["relative_error"].tolist(), front["rate"].tolist(), is_reference=True)]
  return model.Chart(slug, title, subtitle, model.Kind.POINTS, model.Axis("relative error (Frobenius norm)", log=True),
                     model.Axis(rate_unit, log=True), [points for points in series if points.x], notes=notes)


def _points(name, rows, labels):
  return model.Series(name, rows["relative_error"].tolist(), rows["rate"].tolist(), rows["rate_low"].tolist(),
                      rows["rate_high"].tolist(), labels=labels)

"""How close each kernel comes to a copy of the same bytes, by shape: the limit of an operation without arithmetic."""

from benchmarks.report import roles
from benchmarks.report.charts import by_shape

_NOTE = ("100 is the speed of a vectorised copy of the same bytes, sampled alternately with the kernel. Of several blocks the "
         "best is shown.")


def figures(group):
  rows = roles.all_rows(group)
  rows = rows[rows["pct_of_copy"].notna() & ~rows["is_cpu"]]
  if rows.empty:
    return []
  return [by_shape.heat_map(group, rows, "pct_of_copy", "copy-shares", "Percent of a copy", "% of a copy's speed", _NOTE)]

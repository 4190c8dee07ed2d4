"""How near each transpose comes to a copy of the same bytes, by shape: the roof of what does no arithmetic."""

from benchmarks.report import roles
from benchmarks.report.charts import by_shape

_NOTE = "100 is a vectorised copy of the same bytes, sampled in turn with the kernel; of several blocks the best."


def figures(group):
  rows = roles.all_rows(group)
  rows = rows[rows["pct_of_copy"].notna() & ~rows["is_cpu"]]
  if group.operation == "matmul" or rows.empty:
    return []
  return [by_shape.heat_map(group, rows, "pct_of_copy", "copy-shares", "Percent of a copy", "% of a copy's speed", _NOTE)]

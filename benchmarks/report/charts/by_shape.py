"""What the heat maps by shape and kernel share: which of many shapes and kernels they show."""

from benchmarks.report import chart
from benchmarks.report import wording

_MOST_KERNELS = 16
_MOST_SHAPES = 24


def heat_map(group, rows, column, slug, title, value_label, note):
  """A HeatMap of the largest `column` (of several blocks the best) of each name and shape of `rows`."""
  rows = rows.assign(shape=wording.shapes(rows))
  kernels = _most_measured(rows, "name", "shape", _MOST_KERNELS)
  shapes = _most_measured(rows[rows["name"].isin(kernels)], "shape", "name", _MOST_SHAPES)
  shown = rows[rows["name"].isin(kernels) & rows["shape"].isin(shapes)]
  table = shown.pivot_table(index="shape", columns="name", values=column, aggfunc="max")
  notes = [note]
  for kept, axis, word in ((kernels, "name", "kernels"), (shapes, "shape", "shapes")):
    if len(kept) < rows[axis].nunique():
      notes.append(f"{len(kept)} of {rows[axis].nunique()} {word}: those with the most measurements.")
  return chart.HeatMap(group.slug(slug), f"{title}: {group.operation}, {group.dtype}", group.subtitle(shown), "kernel",
                       "shape", value_label, kernels, shapes, table.reindex(index=shapes, columns=kernels).values.tolist(),
                       notes)


def _most_measured(rows, column, over, limit):
  """The `limit` values of `column` with the most values of `over`: names in the files' order, shapes from small to large."""
  most = rows.groupby(column)[over].nunique().sort_values(ascending=False, kind="stable").index[:limit]
  kept = rows[rows[column].isin(most)]
  if column == "shape":
    elements = kept["rows"] * kept["cols"] * kept["depth"].fillna(1)
    kept = kept.assign(elements=elements).sort_values(["elements", "rows", "cols"], kind="stable")
  return kept[column].unique().tolist()

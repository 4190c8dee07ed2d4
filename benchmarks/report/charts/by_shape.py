"""Heat maps by shape and kernel, and the selection of the shapes and kernels that they show."""

from benchmarks.report import model
from benchmarks.report import wording

_MOST_KERNELS = 16
_MOST_SHAPES = 24


def heat_map(group, rows, column, slug, title, value_label, note):
  """Returns a HeatMap of `column` for each name and shape of `rows`; of several blocks it shows the best."""
  rows = rows.assign(shape=wording.shapes(rows))
  kernels = _most_measured(rows, "name", "shape", _MOST_KERNELS)
  shapes = _most_measured(rows[rows["name"].isin(kernels)], "shape", "name", _MOST_SHAPES)
  shown = rows[rows["name"].isin(kernels) & rows["shape"].isin(shapes)]
  table = shown.pivot_table(index="shape", columns="name", values=column, aggfunc="max")
  notes = [note]
  for kept, axis, word in ((kernels, "name", "kernels"), (shapes, "shape", "shapes")):
    if len(kept) < rows[axis].nunique():
      notes.append(f"{len(kept)} of {rows[axis].nunique()} {word} are shown: those with the most measurements.")
  return model.HeatMap(group.slug(slug), group.title(title), group.subtitle(shown), "kernel",
                       "shape", value_label, kernels, shapes, table.reindex(index=shapes, columns=kernels).values.tolist(),
                       notes)


def _most_measured(rows, column, over, limit):
  """Returns the `limit` values of `column` that have the most values of `over`: names in the order of the files, shapes from
  small to large."""
  most = rows.groupby(column)[over].nunique().sort_values(ascending=False, kind="stable").index[:limit]
  kept = rows[rows[column].isin(most)]
  if column == "shape":
    kept = kept.assign(elements=wording.elements(kept)).sort_values(["elements", "rows", "cols"], kind="stable")
  return kept[column].unique().tolist()

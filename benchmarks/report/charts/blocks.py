"""The rate by the shape of the thread block, for kernels that were measured with several blocks."""

from benchmarks.report import model
from benchmarks.report import roles
from benchmarks.report import wording

_FEWEST_BLOCKS = 4
_MOST_KERNELS = 6


def figures(group):
  rows = roles.all_rows(group)
  rows = rows[(rows["block_x"] > 0) & (rows["block_y"] > 0) & rows["rate"].notna()]
  if rows.empty:
    return []
  rows = rows.assign(shape=wording.shapes(rows), elements=wording.elements(rows))
  # Each kernel is shown at the shape with the most blocks; of several such shapes at the largest.
  counts = rows.groupby(["name", "elements", "shape"]).size().rename("blocks").reset_index()
  counts = counts[counts["blocks"] >= _FEWEST_BLOCKS].sort_values(["blocks", "elements"], ascending=False, kind="stable")
  of_kernels = counts.drop_duplicates("name")
  notes = []
  if len(of_kernels) > _MOST_KERNELS:
    notes.append(f"{_MOST_KERNELS} of {len(of_kernels)} kernels are shown: those with the most blocks.")
  return [_map(group, rows[(rows["name"] == name) & (rows["shape"] == shape)], name, shape, notes)
          for name, shape in of_kernels[["name", "shape"]].head(_MOST_KERNELS).itertuples(index=False)]


def _map(group, rows, name, shape, notes):
  table = rows.pivot_table(index="block_y", columns="block_x", values="rate", aggfunc="max").sort_index(ascending=False)
  best = rows.loc[rows["rate"].idxmax()]
  notes = [f"Axes are the threads of a block; the best block is {best['block_x']:.0f} x {best['block_y']:.0f}.",
           "Empty cells were not measured, or failed.", *notes]
  return model.HeatMap(group.slug(f"blocks-{name}"), f"Block shapes: {name}, {group.dtype}, {shape}", group.subtitle(rows),
                       "block_x", "block_y", group.operation.rate_unit, [f"{x:.0f}" for x in table.columns],
                       [f"{y:.0f}" for y in table.index], table.values.tolist(), notes)

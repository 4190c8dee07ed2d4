"""How fast each product is beside the vendor's library, at the shapes that are no squares, and so in no chart over the size.
"""

from benchmarks.report import roles
from benchmarks.report.charts import by_shape

_SHAPE = ["rows", "cols", "depth"]
_NOTE = ("Shapes are rows x columns of the result x K. 100 is cuBLAS in its default mode: sampled in turn where the sweep "
         "did so, else measured in another row. Of several blocks the best.")


def figures(group):
  rows = roles.all_rows(group)
  square = (rows["rows"] == rows["cols"]) & (rows["rows"] == rows["depth"])
  rows = rows[~rows["is_cpu"] & ~square]
  if group.operation != "matmul":
    return []
  is_vendor = rows["implementation"].isin(roles.VENDORS)
  rows = rows.join(rows[is_vendor].groupby(_SHAPE)["kernel_ms_median"].min().rename("vendor_ms"), on=_SHAPE)
  rows = rows.assign(share=100 * rows["vs_cublas"].fillna(rows["vendor_ms"] / rows["kernel_ms_median"]))
  rows = rows[rows["share"].notna() & ~is_vendor]
  if rows.empty:
    return []
  return [by_shape.heat_map(group, rows, "share", "vendor-shares", "Percent of the vendor's library, other shapes",
                            "% of cuBLAS's speed", _NOTE)]

"""How fast each kernel is beside the vendor's library at the shapes that are not square, and so not in the charts over the size.
"""

from benchmarks.report import roles
from benchmarks.report.charts import by_shape

_NOTE = ("Shapes are rows x columns of the result x K. 100 is the speed of cuBLAS in its default mode: sampled alternately with "
         "the kernel where the sweep did so, otherwise from its own row. Of several blocks the best is shown.")


def figures(group):
  if not group.operation.is_arithmetic:
    return []  # See copy_shares.py.
  shape = [*group.operation.problem]
  rows = roles.all_rows(group)
  rows = rows[~rows["is_cpu"] & ~rows.index.isin(roles.squares(group).index)]
  is_vendor = rows["implementation"] == group.operation.vendor
  rows = rows.join(rows[is_vendor].groupby(shape)["kernel_ms_median"].min().rename("vendor_ms"), on=shape)
  rows = rows.assign(share=100 * rows["vs_cublas"].fillna(rows["vendor_ms"] / rows["kernel_ms_median"]))
  rows = rows[rows["share"].notna() & ~is_vendor]
  if rows.empty:
    return []
  return [by_shape.heat_map(group, rows, "share", "vendor-shares", "Percent of the vendor's library, other shapes",
                            "% of cuBLAS's speed", _NOTE)]

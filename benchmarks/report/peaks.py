"""What the machine allows, from rows that state their share of it: a row's rate over its `pct_of_peak` is the peak.

`pct_of_peak` is of FP32 arithmetic for products of float, of the memory's bandwidth for copies and transposes. Without the
latter, the bandwidth follows from products that `bound_ms` says memory bounds: their bytes over it.
"""

import math


def fp32_gflops(rows):
  """GFLOP/s; NaN where no row of `rows` tells."""
  products = rows[(rows["operation"] == "matmul") & (rows["dtype"] == "float") & (rows["pct_of_peak"] > 0)]
  return (products["gflops"] / products["pct_of_peak"] * 100).dropna().median()


def memory_gbps(rows):
  """GB/s; NaN where no row of `rows` tells."""
  moves = rows[(rows["operation"] != "matmul") & (rows["pct_of_peak"] > 0)]
  peak = (moves["gbps"] / moves["pct_of_peak"] * 100).dropna().median()
  if not math.isnan(peak):
    return peak
  arithmetic_ms = rows["gflops"] * rows["kernel_ms_median"] / fp32_gflops(rows)
  bound = rows[(rows["operation"] == "matmul") & (arithmetic_ms < 0.9 * rows["bound_ms"])]
  return (bound["gbps"] * bound["kernel_ms_median"] / bound["bound_ms"]).dropna().median()

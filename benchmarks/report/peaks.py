"""What the machine allows, from rows that state their share of it: a row's rate over its `pct_of_peak` is the peak.

`pct_of_peak` is of FP32 arithmetic for products of float, of the memory's bandwidth for copies and transposes. Without the
latter, the bandwidth follows from products that `bound_ms` says memory bounds: their bytes over it.
"""

import math


def fp32_gflops(rows):
  """GFLOP/s; NaN where no row of `rows` tells."""
  peaks = rows["gflops"] / rows["pct_of_peak"] * 100
  return peaks[(rows["pct_of_peak"] > 0) & (rows["operation"] == "matmul") & (rows["dtype"] == "float")].dropna().median()


def memory_gbps(rows):
  """GB/s; NaN where no row of `rows` tells."""
  is_product = rows["operation"] == "matmul"
  peaks = rows["gbps"] / rows["pct_of_peak"] * 100
  peak = peaks[~is_product & (rows["pct_of_peak"] > 0)].dropna().median()
  if not math.isnan(peak):
    return peak
  arithmetic_ms = rows["gflops"] * rows["kernel_ms_median"] / fp32_gflops(rows)
  peaks = rows["gbps"] * rows["kernel_ms_median"] / rows["bound_ms"]
  return peaks[is_product & (arithmetic_ms < 0.9 * rows["bound_ms"])].dropna().median()

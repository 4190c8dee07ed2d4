"""The limits of a machine, derived from rows that state how close they come: a row's rate over its `pct_of_peak` is the peak.

`pct_of_peak` is that of FP32 arithmetic for arithmetic operations on float, and of the memory's bandwidth for operations that
move data. Where no row of the latter is there, the bandwidth follows from products whose `bound_ms` is set by memory: it is
their bytes over that time.
"""

import math


def fp32_gflops(rows):
  """Returns the FP32 peak in GFLOP/s from Group.machine_rows; NaN where no row tells."""
  peaks = rows["gflops"] / rows["pct_of_peak"] * 100
  return peaks[(rows["pct_of_peak"] > 0) & rows["is_arithmetic"] & (rows["dtype"] == "float")].dropna().median()


def memory_gbps(rows):
  """Returns the memory's bandwidth in GB/s from Group.machine_rows; NaN where no row tells."""
  peaks = rows["gbps"] / rows["pct_of_peak"] * 100
  peak = peaks[~rows["is_arithmetic"] & (rows["pct_of_peak"] > 0)].dropna().median()
  if not math.isnan(peak):
    return peak
  arithmetic_ms = rows["gflops"] * rows["kernel_ms_median"] / fp32_gflops(rows)
  peaks = rows["gbps"] * rows["kernel_ms_median"] / rows["bound_ms"]
  return peaks[rows["is_arithmetic"] & (arithmetic_ms < 0.9 * rows["bound_ms"])].dropna().median()

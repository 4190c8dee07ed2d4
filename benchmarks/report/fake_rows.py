"""For tests: rows as a sweep would write them, of a GPU with 10000 GFLOP/s and 1000 GB/s whose empty kernel takes 2 us."""

import math

from benchmarks.report import example_rows

PEAK_GFLOPS, PEAK_GBPS, EMPTY_KERNEL_MS = 10000.0, 1000.0, 0.002
_ELEMENT_BYTES = {"float": 4, "double": 8}


def gpu_row(implementation, n, ms, **cells):
  """Returns a product of n x n matrices that takes `ms`, with an interval of 1 % on either side; `cells` replace cells and
  add to them."""
  return _row(implementation, n, ms, {
      "device": "GPU", "empty_kernel_ms": EMPTY_KERNEL_MS, "init_ms": 200.0, "alloc_ms": 0.1, "h2d_ms": 1.0,
      "first_launch_ms": 7.0, "d2h_ms": 0.5, "free_ms": 0.1, "total_ms": ms + 1.7, **cells})


def cpu_row(implementation, n, ms, **cells):
  return _row(implementation, n, ms, {"device": "", "l2": "", "host_memory": "", "throttle_reason": "", "total_ms": ms,
                                      **cells})


def transpose_row(implementation, n, ms, **cells):
  """Returns a transpose of an n x n matrix on the GPU, or another operation that moves it if `cells` say so."""
  return gpu_row(implementation, n, ms, **{"operation": "transpose", "depth": math.nan, **cells})


def frame(rows, machine="GPU"):
  """Returns Results.rows of files with these rows; a row that does not name its `source` is in sweep.csv."""
  return example_rows.frame(*rows).assign(machine=machine, source=[row.get("source", "sweep.csv") for row in rows])


def _row(implementation, n, ms, cells):
  row = {"operation": "matmul", "implementation": implementation, "dtype": "float", "math": "", "rows": n, "cols": n,
         "depth": n, "kernel_ms_min": 0.99 * ms, "kernel_ms_median": ms, "kernel_ms_ci_low": 0.99 * ms,
         "kernel_ms_ci_high": 1.01 * ms, "kernel_ms_p95": 1.02 * ms, **cells}
  size = _ELEMENT_BYTES.get(row["dtype"], 1)
  if row["operation"] == "matmul":
    elements = row["rows"] * row["depth"] + row["depth"] * row["cols"] + row["rows"] * row["cols"]
    row["gflops"] = 2 * row["rows"] * row["cols"] * row["depth"] / ms / 1e6
  else:
    elements = 2 * row["rows"] * row["cols"]
  row["gbps"] = size * elements / ms / 1e6
  if row["device"] and row["operation"] != "matmul":
    row["pct_of_peak"] = row["gbps"] / PEAK_GBPS * 100
  elif row["device"] and row["dtype"] == "float":
    row["pct_of_peak"] = row["gflops"] / PEAK_GFLOPS * 100
  return {**row, **cells}

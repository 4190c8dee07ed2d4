"""For tests: rows of a sweep that differ only in the cells that a test names. In fake_rows.py the figures of a row fit."""

import math
import pathlib
import tempfile

import numpy

from benchmarks.report import columns, results

HEADER = list(columns.NAMES)
_USUAL = {
    "schema_version": "1", "timestamp_utc": "2026-11-21T10:00:00Z", "git_commit": "g1", "host": "node",
    "cpu": "a CPU, 8 cores", "device": "a GPU", "operation": "matmul", "implementation": "naive", "dtype": "float",
    "math": "fma", "rows": 64, "cols": 64, "depth": 64, "l2": "cold", "host_memory": "pageable", "status": "ok",
    "samples": 20, "kernel_ms_median": 1, "kernel_ms_ci_low": 0.99, "kernel_ms_ci_high": 1.01, "total_ms": 5,
    "sm_clock_mhz": 1980, "throttle_reason": "none"}


def csv_text(*rows, header=HEADER, end="\n"):
  """Returns a header and a line for each dict of cells; cells that a dict does not name have their usual value."""
  lines = [header, *([{**_USUAL, **row}.get(name, "") for name in header] for row in rows)]
  return "".join(",".join(map(_cell, cells)) + end for cells in lines)


def frame(*rows):
  """Returns Results.rows of a file with these rows."""
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "example.csv")
    path.write_text(csv_text(*rows), encoding="utf-8")
    return results.read_results([path]).rows


def many_rows(count):
  """Returns Results.rows of a file with `count` rows, of as many sizes."""
  return frame({}).iloc[[0] * count].reset_index(drop=True).assign(rows=numpy.arange(count, dtype=float))


def timed(ms, noise=0.01, **cells):
  """Returns the cells of a row with this median and an interval of `noise` on either side; NaN for no interval."""
  if math.isnan(noise):
    return {"kernel_ms_median": ms, "kernel_ms_ci_low": "", "kernel_ms_ci_high": "", **cells}
  return {"kernel_ms_median": ms, "kernel_ms_ci_low": ms / (1 + noise), "kernel_ms_ci_high": ms * (1 + noise), **cells}


def _cell(cell):
  text = str(cell)
  return '"' + text.replace('"', '""') + '"' if any(character in text for character in ',"\r\n') else text

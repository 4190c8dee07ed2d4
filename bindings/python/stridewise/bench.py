"""python -m stridewise.bench: our calls beside those of the frameworks that are installed, in the CSV of the sweeps.

  python -m stridewise.bench --csv=python_bench.csv
  python -m stridewise.bench --csv=python_bench.csv --frameworks=pytorch,numpy --dtypes=float32 --call_time=python_call_time.csv

For each case a framework's own call is measured, then ours on the same arrays, in turn, each with a cold L2;
speedup_vs_previous of our row is the framework's time over ours, and vs_memcpy the time of the framework's copy of the same
bytes. Results are compared first: permutations bit by bit, products within 1e-4 of the largest element. Needs a GPU.
"""

import argparse
import csv
import datetime
import importlib.resources
import math
import os
import platform
import statistics
import sys
import time

import stridewise
from stridewise import _bench_frameworks, _core

_TRANSPOSES = ((8192, 8192), (8191, 8193), (33, 4000000), (16, 768, 3072))
_TRANSPOSED_TYPES = ("float32", "bfloat16", "uint8", "float64")
_PERMUTATIONS = (
  ("bfloat16", (64, 2048, 16, 64), (0, 2, 1, 3)),  # BSHD to BHSD
  ("float32", (32, 112, 112, 64), (0, 3, 1, 2)),  # NHWC to NCHW
  ("float16", (32, 256, 56, 56), (0, 2, 3, 1)),  # NCHW to NHWC
  ("uint8", (64, 1000, 1000), (0, 2, 1)),
  ("float32", (16, 32, 24, 48, 20), (4, 2, 0, 3, 1)),
)
_PRODUCTS = (1000, 2048, 4096, 8192)
_MOST_ERROR = 1e-4
_FROM_C = "stridewise_permute in C"


def _swapped(rank):
  return (*range(rank - 2), rank - 1, rank - 2)


def _name(shape):
  return "x".join(str(extent) for extent in shape)


class Case:
  """One configuration: its cells, its calls, and how a result is checked."""

  def __init__(self, operation, dtype, shape, dims=None):
    self.operation = operation
    self.dtype = dtype
    self.shape = shape
    self.dims = dims

  def cells(self):
    rows, cols = self.shape[-2:]
    cells = {"operation": self.operation, "dtype": _bench_frameworks.TYPES[self.dtype], "rows": rows, "cols": cols}
    if self.operation == "matmul":
      return {**cells, "depth": rows, "math": "fma"}
    if self.operation == "permute":
      cells["rows"] = math.prod(self.shape[:-1])
      cells["permutation"] = _name(self.shape) + ":" + "".join(str(d) for d in self.dims)
    elif len(self.shape) > 2:
      cells["batch"] = math.prod(self.shape[:-2])
    return cells

  def rate(self, ms):
    """Returns the cell of the rate."""
    if self.operation == "matmul":
      return {"gflops": f"{2 * math.prod(self.shape) * self.shape[0] / ms / 1e6:.9g}"}
    bytes_moved = 2 * math.prod(self.shape) * {"u8": 1, "bf16": 2, "fp16": 2, "float": 4, "double": 8}[self.cells()["dtype"]]
    return {"gbps": f"{bytes_moved / ms / 1e6:.9g}"}

  def calls(self, framework):
    """Returns the calls to measure by their implementation's name, the framework's own first."""
    if self.operation == "matmul":
      a, b = framework.make(self.shape, self.dtype), framework.make(self.shape, self.dtype)
      return {framework.name: lambda: framework.multiply(a, b), "stridewise_" + framework.name: lambda: stridewise.matmul(a, b)}
    x = framework.make(self.shape, self.dtype)
    if self.operation == "transpose":
      move = lambda: stridewise.transpose(x)
    else:
      move = lambda: stridewise.permute(x, self.dims)
    return {
      framework.name: lambda: framework.permute(x, self.dims),
      "stridewise_" + framework.name: move,
      "memcpy": lambda: framework.copy(x),
    }

  def mismatch(self, framework, own, ours):
    """Returns the cells of the check of our result."""
    if self.operation == "matmul":
      error = framework.relative_error(ours(), own())
      cells = {"relative_error": f"{error:.4g}"}
      if not error <= _MOST_ERROR:
        cells.update(status="mismatch", message=f"relative error {error}, allowed {_MOST_ERROR}")
      return cells
    return {} if framework.same(ours(), own()) else {"status": "mismatch", "message": "an element differs"}


def _cases(dtypes):
  cases = [Case("transpose", dtype, shape, _swapped(len(shape))) for dtype in _TRANSPOSED_TYPES for shape in _TRANSPOSES]
  cases += [Case("permute", *permutation) for permutation in _PERMUTATIONS]
  cases += [Case("matmul", "float32", (n, n)) for n in _PRODUCTS]
  return [case for case in cases if case.dtype in dtypes]


def _summary(times):
  """Returns the cells of a list of milliseconds, with the median's 95 % confidence interval."""
  ordered = sorted(times)
  count = len(ordered)
  below, rank = 0.5**count, 0  # The probability that at most `rank` samples are below the true median.
  while rank + 1 < count // 2 and below + math.comb(count, rank + 1) * 0.5**count <= 0.025:
    rank += 1
    below += math.comb(count, rank) * 0.5**count
  cells = {
    "min": ordered[0],
    "median": statistics.median(ordered),
    "ci_low": ordered[rank],
    "ci_high": ordered[count - 1 - rank],
    "mean": statistics.fmean(ordered),
    "stddev": statistics.stdev(ordered),
  }
  return {"samples": count, **{"kernel_ms_" + name: f"{value:.9g}" for name, value in cells.items()}}


def _rows(case, framework, samples):
  """Yields the rows of a case: the framework's and ours, or one that says why there are none."""
  cells = {**case.cells(), "l2": "cold"}
  try:
    calls = case.calls(framework)
    if not framework.takes_ours:
      calls = {framework.name: calls[framework.name]}
    if framework.name == "numpy":
      cells["l2"] = ""
      samples = 3
    for call in calls.values():
      call()
    own, *others = calls
    check = case.mismatch(framework, calls[own], calls[others[0]]) if others else {}
    times = list(zip(*([framework.milliseconds(call) for call in calls.values()] for _ in range(samples))))
  except (NotImplementedError, MemoryError, RuntimeError) as error:
    yield {**cells, "implementation": framework.name, "status": "unsupported", "message": str(error).replace("\n", " ")[:200]}
    return
  medians = dict(zip(calls, map(statistics.median, times)))
  for name, measured in zip(calls, times):
    if name == "memcpy":
      continue
    row = {**cells, "implementation": name, "status": "ok", **_summary(measured), **case.rate(medians[name])}
    if "memcpy" in medians:
      row["vs_memcpy"] = f"{medians['memcpy'] / medians[name]:.9g}"
    if name == own and case.operation == "matmul":
      row["math"] = "default"
    if name != own:
      row.update({"speedup_vs_previous": f"{medians[own] / medians[name]:.9g}", **check})
    yield row


def _run_cells(commit):
  """Returns the cells of the machine, as far as PyTorch or CuPy know them."""
  cells = {"schema_version": 1, "git_commit": commit, "host": platform.node()}
  try:
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
      models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    cells["cpu"] = f"{models[0]}, {len(models)} cores"
    with open("/proc/driver/nvidia/version", encoding="ascii", errors="replace") as file:
      cells["driver"] = next((word for word in file.readline().split() if word[0].isdigit()), "")
  except (OSError, IndexError):
    pass
  try:
    import torch

    properties = torch.cuda.get_device_properties(0)
    cells.update(device=properties.name, compute_capability=f"sm_{properties.major}{properties.minor}",
                 cuda=f"CUDA {torch.version.cuda}")
  except ImportError:
    pass
  return cells


def _opened(names):
  """Yields those of the frameworks that are installed, each opened when its turn comes, and prints which are not."""
  for name in names:
    try:
      framework = _bench_frameworks.FRAMEWORKS[name]()
    except (ImportError, RuntimeError) as error:
      print(f"{name} is left out: {error}", file=sys.stderr)
      continue
    print(f"{name} {framework.version}", file=sys.stderr)
    yield framework


def _write_rows(path, cases, names, samples, commit):
  columns = importlib.resources.files("stridewise").joinpath("csv_columns.txt").read_text(encoding="ascii").split()
  run = _run_cells(commit)
  with open(path, "w", newline="", encoding="ascii", errors="replace") as file:
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for framework in _opened(names):
      for case in cases:
        for row in _rows(case, framework, samples):
          now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
          writer.writerow({**run, "timestamp_utc": now, **row})
          file.flush()
          print(framework.name, case.operation, _name(case.shape), case.dtype, row["implementation"], row["status"],
                row.get("kernel_ms_median", row.get("message")), row.get("speedup_vs_previous", ""), file=sys.stderr)


def _call_times(framework, commit):
  """Yields the host's time of calls on a tiny array, in the columns of call_time.csv; over_c_us is what it takes more than the C call."""
  x, out = framework.make((8, 8), "float32"), framework.make((8, 8), "float32")
  calls = {
    _FROM_C: lambda: _core.time_c_call(x, (1, 0), out, 100) * 1e6,
    "stridewise.permute with out": lambda: stridewise.permute(x, (1, 0), out),
    "stridewise.transpose with out": lambda: stridewise.transpose(x, out),
    "stridewise.transpose": lambda: stridewise.transpose(x),
    "stridewise.matmul with out": lambda: stridewise.matmul(x, x, out),
    f"{framework.name} transpose": lambda: framework.permute(x, (1, 0)),
    f"{framework.name} matmul": lambda: framework.multiply(x, x),
  }
  if framework.name == "pytorch":
    from stridewise import torch as operators

    calls["stridewise.torch.transpose"] = lambda: operators.transpose(x)
  for name, call in calls.items():
    for _ in range(20):
      call()
    times = []
    for _ in range(50):
      framework.milliseconds(lambda: None)  # Waits, so that the queue is not full.
      if name == _FROM_C:
        times.append(call())
        continue
      begin = time.perf_counter()
      for _ in range(100):
        call()
      times.append((time.perf_counter() - begin) * 1e4)
    times.sort()
    median = statistics.median(times)
    if name == _FROM_C:
      from_c = median
    yield {"git_commit": commit, "call": name, "shape": "8x8", "queue": "idle", "samples": len(times),
           "median_us": f"{median:.3f}", "p95_us": f"{times[int(0.95 * len(times))]:.3f}", "min_us": f"{times[0]:.3f}",
           "over_c_us": f"{median - from_c:.3f}"}


def _write_call_times(path, framework, commit):
  device = _run_cells(commit).get("device", "")
  with open(path, "w", newline="", encoding="ascii") as file:
    columns = ["git_commit", "device", "call", "shape", "queue", "samples", "median_us", "p95_us", "min_us", "over_c_us"]
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    for row in _call_times(framework, commit):
      writer.writerow({**row, "device": device})
      print(row["call"], row["median_us"], "us", file=sys.stderr)


def main():
  parser = argparse.ArgumentParser(prog="python -m stridewise.bench", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--csv", default="python_bench.csv", help="the CSV to write")
  parser.add_argument("--call_time", help="a CSV to write of the host's time of calls, with the first framework")
  parser.add_argument("--frameworks", default="pytorch,cupy,jax,pytorch_patched",
                      help="of pytorch, cupy, jax, numpy and pytorch_patched, which has to be the last, with commas")
  parser.add_argument("--dtypes", default="float32,bfloat16,uint8,float64,float16")
  parser.add_argument("--samples", type=int, default=9, help="of each call")
  parser.add_argument("--commit", default=os.environ.get("STRIDEWISE_COMMIT", ""), help="of the column git_commit")
  arguments = parser.parse_args()
  names = arguments.frameworks.split(",")
  for name in names:
    if name not in _bench_frameworks.FRAMEWORKS:
      parser.error(f"--frameworks={name}: there are {', '.join(_bench_frameworks.FRAMEWORKS)}")
  if arguments.call_time:
    for framework in _opened(names[:1]):
      _write_call_times(arguments.call_time, framework, arguments.commit)
  _write_rows(arguments.csv, _cases(arguments.dtypes.split(",")), names, arguments.samples, arguments.commit)
  return 0


if __name__ == "__main__":
  sys.exit(main())

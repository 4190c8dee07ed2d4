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

from stridewise import _bench_call_time, _bench_cases, _bench_frameworks


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
          print(framework.name, case.operation, _bench_cases.name(case.shape), case.dtype, row["implementation"], row["status"],
                row.get("kernel_ms_median", row.get("message")), row.get("speedup_vs_previous", ""), file=sys.stderr)


def _write_call_times(path, framework, commit):
  device = _run_cells(commit).get("device", "")
  with open(path, "w", newline="", encoding="ascii") as file:
    columns = ["git_commit", "device", "call", "shape", "queue", "samples", "median_us", "p95_us", "min_us", "over_c_us"]
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    for row in _bench_call_time.call_times(framework, commit):
      writer.writerow({**row, "device": device})
      print(row["call"], row["median_us"], "us", file=sys.stderr)


def _refuse(flag, value, allowed):
  """Ends the program with the line and the exit code of bad input."""
  print(f"{flag}: {value!r} is not allowed; allowed is {allowed}", file=sys.stderr)
  sys.exit(2)


def _check(arguments):
  """Refuses what could not be measured or written, before anything is."""
  frameworks = _bench_frameworks.FRAMEWORKS
  for flag, value, known in (("--frameworks", arguments.frameworks, frameworks), ("--dtypes", arguments.dtypes, _bench_frameworks.TYPES)):
    for name in value.split(","):
      if name not in known:
        _refuse(flag, name, "a list of " + ", ".join(known))
  if not 2 <= arguments.samples <= 1000:
    _refuse("--samples", str(arguments.samples), "2 to 1000")
  for flag, path in (("--csv", arguments.csv), ("--call_time", arguments.call_time)):
    if path is not None and not os.access(os.path.dirname(path) or ".", os.W_OK):
      _refuse(flag, path, "a file in a folder that can be written")


def main():
  parser = argparse.ArgumentParser(prog="python -m stridewise.bench", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--csv", default="python_bench.csv", help="the CSV to write")
  parser.add_argument("--call_time", help="a CSV to write of the host's time of calls, with the first framework")
  parser.add_argument("--frameworks", default="pytorch,cupy,jax,pytorch_patched",
                      help="of pytorch, cupy, jax, numpy and pytorch_patched, which has to be the last, with commas")
  parser.add_argument("--dtypes", default="float32,bfloat16,uint8,float64,float16")
  parser.add_argument("--samples", type=int, default=9, help="of each call, 2 to 1000")
  parser.add_argument("--commit", default=os.environ.get("STRIDEWISE_COMMIT", ""), help="of the column git_commit")
  arguments = parser.parse_args()
  _check(arguments)
  names = arguments.frameworks.split(",")
  if arguments.call_time:
    for framework in _opened(names[:1]):
      _write_call_times(arguments.call_time, framework, arguments.commit)
  _write_rows(arguments.csv, _bench_cases.cases(arguments.dtypes.split(",")), names, arguments.samples, arguments.commit)
  return 0


if __name__ == "__main__":
  sys.exit(main())

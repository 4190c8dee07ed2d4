#!/usr/bin/env python3
"""Holds matmul_sweep's kernel times against Nsight Compute's, on a machine with a GPU and ncu.

  tools/ncu_check.py bazel-bin/benchmarks/matmul_sweep ncu_check.csv

Measures each implementation with the sweep, then once more under ncu (gpu__time_duration, clocks left alone), and
writes a row for each: both times and their ratio. Exits with 1 if any differ by more than 2 %.
"""

import argparse
import csv
import io
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SIZES = [2048, 4096]
# Which kernel an implementation launches, as ncu names it.
KERNELS = {"naive": "Naive", "tiled": "Tiled", "cublas": "cutlass::Kernel|gemm"}
TOLERANCE = 0.02


def sweep_rows(sweep, implementation, size, folder):
  path = folder / "sweep.csv"
  subprocess.run([sweep, f"--sizes={size}", f"--implementations={implementation}", f"--csv={path}"],
                 check=True, stdout=subprocess.DEVNULL)
  with open(path, newline="", encoding="ascii") as file:
    return list(csv.DictReader(file))


def ncu_ms(sweep, implementation, size, folder):
  """The median duration of the implementation's kernel, in ms; the 1x1x1 product of the warm-up is left out.

  ncu makes each launch wait for its kernel. CUDA_LAUNCH_BLOCKING tells the sweep, whose timer otherwise holds the
  stream until all is queued.
  """
  output = subprocess.run(
      ["ncu", "--clock-control", "none", "--csv", "--metrics", "gpu__time_duration.sum", "--print-units", "base",
       "--kernel-name-base", "demangled", "--kernel-name", f"regex:{KERNELS[implementation]}", sweep,
       f"--sizes={size}", f"--implementations={implementation}", "--verify=off", "--max_seconds=0.05",
       f"--csv={folder / 'ncu.csv'}"],
      check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "CUDA_LAUNCH_BLOCKING": "1"}).stdout
  table = "".join(line + "\n" for line in output.splitlines() if line.startswith('"'))
  durations = [float(row["Metric Value"].replace(",", "")) / 1e6 for row in csv.DictReader(io.StringIO(table))]
  return statistics.median([ms for ms in durations if ms > max(durations) / 10])


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("matmul_sweep")
  parser.add_argument("output", help="the CSV to write")
  arguments = parser.parse_args()
  sweep, output = arguments.matmul_sweep, arguments.output
  worst = 0.0
  with open(output, "w", newline="", encoding="ascii") as file, tempfile.TemporaryDirectory() as folder:
    writer = csv.writer(file)
    writer.writerow(["implementation", "n", "ncu_ms", "sweep_ms", "sweep_over_ncu", "device", "driver", "git_commit"])
    for size in SIZES:
      for implementation in KERNELS:
        row = sweep_rows(sweep, implementation, size, pathlib.Path(folder))[0]
        ncu = ncu_ms(sweep, implementation, size, pathlib.Path(folder))
        own = float(row["kernel_ms_median"])
        worst = max(worst, abs(own / ncu - 1))
        writer.writerow([implementation, size, f"{ncu:.6g}", f"{own:.6g}", f"{own / ncu:.5f}", row["device"],
                         row["driver"], row["git_commit"]])
  print(f"largest difference: {100 * worst:.2f} %")
  sys.exit(0 if worst <= TOLERANCE else 1)


if __name__ == "__main__":
  main()

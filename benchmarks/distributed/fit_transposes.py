#!/usr/bin/env python3
"""Fits the two constants of transpose_model.py that no copy was measured for, and judges them by transposes that they are not
fitted to.

  python3 benchmarks/distributed/fit_transposes.py

Takes committed rows: those of float on two GPUs to fit, those of double and of four GPUs to judge.
"""
import csv
import itertools
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).absolute().parent.parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.distributed import cost_model

# Each with the schedule that it was measured with. Four GPUs whose ranks all began with the same other one are left out.
MEASURED = (("h100_x2/transpose_gpus.csv", "all_multiprocessors"), ("h100_x4/transpose_gpus_before.csv", "all_multiprocessors"),
            ("h200_x4/transpose_gpus.csv", "all_multiprocessors"), ("h100_x4/transpose_gpus.csv", "copied"),
            ("h100_x2/transpose_stores_first.csv", "present"))


def records(**constants):
  """Returns what is computed with these constants beside each row."""
  found = []
  for name, schedule in MEASURED:
    with open(ROOT / "docs/results" / name, newline="", encoding="ascii") as file:
      found += [record for record in cost_model.beside(list(csv.DictReader(file)), schedule, **constants)
                if record["implementation"] == "exchange_direct" and
                not (schedule == "all_multiprocessors" and record["grid"] == "1x4")]
  return found


def error(compared):
  """Returns the root of the mean square of the logarithms of measured over computed."""
  return math.sqrt(sum(math.log(record["measured_over_computed"])**2 for record in compared) / len(compared))


def fit():
  """Returns (shared, next_copy) with the least error of the rows that are fitted to."""
  def error_of(constants):
    compared = records(shared=constants[0], next_copy=constants[1])
    return error([record for record in compared if record["fitted"] == "yes"])
  return min(itertools.product((x / 100 for x in range(80, 101, 2)), (x / 1e6 for x in range(0, 13))), key=error_of)


def main():
  shared, next_copy = fit()
  print(f"SHARED {shared}, NEXT_COPY {next_copy}")
  compared = records(shared=shared, next_copy=next_copy)
  for fitted in ("yes", "no"):
    chosen = [record for record in compared if record["fitted"] == fitted]
    worst = max(chosen, key=lambda record: abs(math.log(record["measured_over_computed"])))
    print(f"fitted to: {fitted}; {len(chosen)} rows, off by {100 * error(chosen):.1f} % in the mean, at most "
          f"{worst['measured_over_computed']:.3f}: {worst['dtype']} on {worst['grid']}")


if __name__ == "__main__":
  main()

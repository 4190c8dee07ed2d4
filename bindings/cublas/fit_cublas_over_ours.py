#!/usr/bin/env python3
"""Fits how many times longer cuBLAS takes than Stridewise, from the CSV of test/drop_in_calls, and writes the tables.

  STRIDEWISE_CUBLAS=always drop_in_calls --calls=80000 --samples=5 --most_gflop=10 --csv=calls.csv     on the GPU
  STRIDEWISE_CUBLAS=always drop_in_calls --calls=10000 --samples=5 --least_gflop=0.3 --csv=large_calls.csv
  fit_cublas_over_ours.py calls.csv large_calls.csv > cublas_over_ours.inc

The prediction is exp() of a sum of tables. Each has six questions, "is this feature at least that threshold?", whose
answers are the index of a value: boosted oblivious trees, fitted to the logarithm of the measured ratio. A program that
becomes slower is worse than one that does not become faster: a ratio predicted too high counts SLOWER_WEIGHT times as
much as one predicted too low, so that the prediction is a low expectile and not the mean. A fifth of the calls, on which
nothing is fitted, says on standard error how good the choice is. cublas_over_ours.cc has the features.
"""

import argparse
import contextlib
import csv
import math
import sys

import numpy

ROUNDS, QUESTIONS, RATE, CANDIDATES = 160, 6, 0.15, 24
SLOWER_WEIGHT = 16
MULTIPROCESSORS = 132


def features(row):
  """Those of Features() in cublas_over_ours.cc, in its order; the row-major product that the column-major one is."""
  integer = lambda name: int(row[name])
  m, n, k, batch = integer("n"), integer("m"), integer("k"), integer("batch")
  vectors = [all(integer(f"{part}{matrix}") % 4 == 0 for part in (["ld", "offset_"] + ["stride_"] * (batch > 1)))
             for matrix in "ba"]
  tiles = math.ceil(m / 128) * math.ceil(n / 128) * batch
  matrices = lambda matrix: batch if integer(f"stride_{matrix}") else 1
  products = m * n * k * batch
  elements = m * k * matrices("b") + k * n * matrices("a") + m * n * batch
  us = float(row["predicted_us"])
  return [m, n, k, batch, min(m, n), max(m, n), m * n * batch, products, row["ops"][1] == "t",
          row["ops"][0] == "t", float(row["beta"]) != 0, vectors[0], vectors[1],
          elements, tiles,
          tiles / (math.ceil(tiles / MULTIPROCESSORS) * MULTIPROCESSORS), us, us / products, us / elements,
          integer("ldc") % 4 == 0]


def thresholds(values):
  candidates = numpy.unique(numpy.quantile(values, numpy.linspace(0, 1, CANDIDATES + 2)[1:-1], method="nearest"))
  return candidates[candidates > values.min()]


def fit(x, y):
  """Returns the tables: lists of (features, thresholds, values)."""
  candidates = [(f, t, x[:, f] >= t) for f in range(x.shape[1]) for t in thresholds(x[:, f])]
  tables = []
  predicted = numpy.zeros(len(y))
  cells = 1 << QUESTIONS
  for _ in range(ROUNDS):
    weights = numpy.where(y < predicted, SLOWER_WEIGHT, 1.0)
    left = (y - predicted) * weights
    index = numpy.zeros(len(y), dtype=int)
    asked = []
    for question in range(QUESTIONS):
      best = None
      for f, t, answers in candidates:
        cell = index + (answers << question)
        sums = numpy.bincount(cell, left, 2 << question)
        # Small cells are pulled towards 0.
        gain = (sums ** 2 / (numpy.bincount(cell, weights, 2 << question) + 10)).sum()
        if best is None or gain > best[0]:
          best = gain, f, t, cell
      _, f, t, index = best
      asked.append((f, t))
    values = RATE * numpy.bincount(index, left, cells) / (numpy.bincount(index, weights, cells) + 10)
    predicted += values[index]
    tables.append((asked, values))
  return tables


def predict(tables, x):
  total = numpy.zeros(len(x))
  for asked, values in tables:
    index = sum((x[:, f] >= t).astype(int) << i for i, (f, t) in enumerate(asked))
    total += values[index]
  return total


def quality(name, predicted, measured):
  """Returns how good the choice is, as a row: shares are of all calls, speeds are geometric means over cuBLAS's."""
  taken = predicted >= 0
  speed = lambda logarithms: f"{math.exp(logarithms.mean()):.4f}"
  share = lambda calls: f"{calls.mean():.4f}"
  slower = lambda limit: share(taken & (measured < math.log(limit)))
  return {"calls": name, "count": len(measured), "taken": share(taken), "below_0.97": slower(0.97), "below_0.9": slower(0.9),
          "worst": f"{math.exp(numpy.where(taken, measured, 0).min()):.3f}", "speed": speed(numpy.where(taken, measured, 0)),
          "speed_of_best_choice": speed(numpy.maximum(measured, 0)), "speed_if_all_are_taken": speed(measured)}


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("calls", nargs="+")
  parser.add_argument("--csv", help="where the quality of the choice is written to, instead of standard error")
  parser.add_argument("--commit", default="", help="that the calls were measured with; a column of the CSV")
  arguments = parser.parse_args()
  rows = []
  for path in arguments.calls:
    with open(path, newline="", encoding="ascii") as file:
      rows += [row for row in csv.DictReader(file) if float(row["alpha"]) != 0 and row["function"] != "cublasSgeam"]
  x = numpy.array([features(row) for row in rows], dtype=numpy.float32)
  cublas_us = numpy.array([float(row["cublas_us"]) for row in rows])
  y = numpy.log(cublas_us / numpy.array([float(row["ours_us"]) for row in rows]))
  # Outliers are of the clock, not of the kernel.
  clipped = numpy.clip(y, -0.7, 0.5)
  held_out = numpy.arange(len(y)) % 5 == 0
  tables = fit(x[~held_out], clipped[~held_out])
  qualities = [quality(name, predict(tables, x[of]), y[of]) for name, of in (("fitted", ~held_out), ("held out", held_out))]
  for row in qualities:
    row["git_commit"] = arguments.commit
  with contextlib.ExitStack() as stack:
    file = stack.enter_context(open(arguments.csv, "w", newline="", encoding="ascii")) if arguments.csv else sys.stderr
    writer = csv.DictWriter(file, qualities[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(qualities)
  print("// Written by fit_cublas_over_ours.py.")
  for asked, values in tables:
    questions = ", ".join(str(f) for f, _ in asked)
    limits = ", ".join(f"{t:.9g}" for _, t in asked)
    print("{{%s}, {%s}, {%s}}," % (questions, limits, ", ".join(f"{value:.4g}" for value in values)))


if __name__ == "__main__":
  main()

#!/usr/bin/env python3
"""Fits how many times longer cuBLAS takes than Stridewise, from the CSV of test/drop_in_calls, and writes the tables.

  STRIDEWISE_CUBLAS=always drop_in_calls --calls=80000 --samples=5 --most_gflop=10 --csv=calls.csv     on the GPU
  fit_cublas_over_ours.py calls.csv > cublas_over_ours.inc

The prediction is exp() of a sum of tables. Each has five questions, "is this feature at least that threshold?", whose
answers are the index of a value: boosted oblivious trees, fitted to the logarithm of the measured ratio. A program that
becomes slower is worse than one that does not become faster: a ratio predicted too high counts SLOWER_WEIGHT times as
much as one predicted too low, so that the prediction is a low expectile and not the mean. A fifth of the calls, on which
nothing is fitted, says on standard error how good the choice is. cublas_over_ours.cc has the features.
"""

import csv
import math
import sys

import numpy

ROUNDS, QUESTIONS, RATE, CANDIDATES = 100, 5, 0.15, 24
SLOWER_WEIGHT = 12
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
          tiles / (math.ceil(tiles / MULTIPROCESSORS) * MULTIPROCESSORS), us, us / products, us / elements]


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


def report(name, predicted, measured, cublas_us):
  taken = predicted >= 0
  ours_us = cublas_us / numpy.exp(measured)
  chosen = numpy.where(taken, ours_us, cublas_us)
  print(f"{name}: {len(measured)} calls, {taken.mean():.3f} taken; of these {(measured[taken] < math.log(.97)).mean():.3f} below "
        f"0.97 of cuBLAS, {(measured[taken] < math.log(.9)).mean():.3f} below 0.9; speed of all calls over cuBLAS: geometric mean "
        f"{math.exp(numpy.log(cublas_us / chosen).mean()):.4f}, with the best choice "
        f"{math.exp(numpy.maximum(measured, 0).mean()):.4f}, always ours {math.exp(measured.mean()):.4f}; by time "
        f"{cublas_us.sum() / chosen.sum():.4f}", file=sys.stderr)


def main():
  rows = []
  for path in sys.argv[1:]:
    with open(path, newline="", encoding="ascii") as file:
      rows += [row for row in csv.DictReader(file) if float(row["alpha"]) != 0 and row["function"] != "cublasSgeam"]
  x = numpy.array([features(row) for row in rows], dtype=numpy.float32)
  cublas_us = numpy.array([float(row["cublas_us"]) for row in rows])
  y = numpy.log(cublas_us / numpy.array([float(row["ours_us"]) for row in rows]))
  # Outliers are of the clock, not of the kernel.
  clipped = numpy.clip(y, -0.7, 0.5)
  held_out = numpy.arange(len(y)) % 5 == 0
  tables = fit(x[~held_out], clipped[~held_out])
  report("fitted", predict(tables, x[~held_out]), y[~held_out], cublas_us[~held_out])
  report("held out", predict(tables, x[held_out]), y[held_out], cublas_us[held_out])
  print("// Written by fit_cublas_over_ours.py.")
  for asked, values in tables:
    questions = ", ".join(str(f) for f, _ in asked)
    limits = ", ".join(f"{t:.9g}" for _, t in asked)
    print("{{%s}, {%s}, {%s}}," % (questions, limits, ", ".join(f"{value:.4g}" for value in values)))


if __name__ == "__main__":
  main()

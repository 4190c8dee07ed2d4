"""For tests of drawing: a chart of each kind and a heat map."""

import math

from benchmarks.report import model

SIZES = [64, 128, 256, 512]
_SUBTITLE = "NVIDIA H200, 2026-11-21, commit g0123, cold L2"


def chart(kind=model.Kind.LINES, series=None, log=True, **others):
  words = kind in (model.Kind.BARS, model.Kind.STACKED_BARS)
  x = ["naive", "tiled", "vectorized", "auto"] if words else SIZES
  if series is None:
    series = [model.Series("first", x, [1.0, 2.0, 4.0, 8.0], [0.9, 1.9, 3.9, 7.9], [1.1, 2.1, 4.5, 9.0]),
              model.Series("second", x, [1.5, math.nan, 3.0, 4.0]),
              model.Series("limit", x, [0.5, 0.5, 0.5, 0.5], is_reference=True)]
  fields = {"slug": "s", "title": "Time by size", "subtitle": _SUBTITLE, **others}
  return model.Chart(kind=kind, x=model.Axis("n", log and not words), y=model.Axis("time (ms)", log and not words),
                     series=series, **fields)


def heat_map(values, **others):
  columns, rows = [f"c{index}" for index in range(len(values[0]))], [f"r{index}" for index in range(len(values))]
  return model.HeatMap("h", "Share of a copy", _SUBTITLE, "shape", "kernel", "% of copy", columns, rows, values, **others)

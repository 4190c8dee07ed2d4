"""Draws the figures of the pages, docs/images/*.svg.

  bazel run //docs/pictures:draw

A figure is a module here that draw() returns the SVG of, and a name in FIGURES. pictures_test fails where the committed file is
another one.
"""

import os
import pathlib
import sys

from docs.pictures import banks
from docs.pictures import diagonal
from docs.pictures import footprints
from docs.pictures import matmul_tiles
from docs.pictures import pipeline
from docs.pictures import register_tile
from docs.pictures import sectors
from docs.pictures import stream_k
from docs.pictures import transpose_tile

FIGURES = {
    "banks": banks.draw,
    "diagonal": diagonal.draw,
    "footprints": footprints.draw,
    "matmul_tiles": matmul_tiles.draw,
    "pipeline": pipeline.draw,
    "register_tile": register_tile.draw,
    "sectors": sectors.draw,
    "stream_k": stream_k.draw,
    "transpose_tile": transpose_tile.draw,
}


def main():
  if sys.argv[1:]:
    sys.exit(f"draw: '{sys.argv[1]}': there are no arguments")
  images = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), "docs", "images")
  for name, draw in FIGURES.items():
    (images / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
  main()

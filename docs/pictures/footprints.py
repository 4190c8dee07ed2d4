"""The sectors that a warp of an 8x32, a 16x16 and a 32x8 block touches in a transpose: along rows and along columns."""

from docs.pictures import svg

_CELL = 4.4  # A float.
_ROW = 9
_SECTOR = 8 * _CELL
_PANEL = 155
_COLORS = ("series-0", "series-1", "series-2", "series-3")
WIDTHS = (8, 16, 32)


def footprint(width, transposed):
  """The warp's elements, {(row, column): lane}, in the matrix that it accesses along rows, or in the transposed one."""
  places = ((lane // width, lane % width, lane) for lane in range(32))
  return {(col, row) if transposed else (row, col): lane for row, col, lane in places}


def sectors_of(elements):
  return sorted({(row, col // 8) for row, col in elements})


def _matrix(picture, x, y, elements):
  for row, sector in sectors_of(elements):
    left, top = x + sector * (_SECTOR + 3), y + row * (_ROW + 3)
    picture.rect(left, top, _SECTOR, _ROW, "idle")
    for word in range(8):
      lane = elements.get((row, sector * 8 + word))
      if lane is not None:
        picture.rect(left + word * _CELL, top, _CELL, _ROW, _COLORS[lane // 8])
    picture.rect(left, top, _SECTOR, _ROW, None, "ink", 0.8)


def draw():
  picture = svg.Picture("The sectors that a warp touches, for blocks that are 8, 16 and 32 threads wide")
  picture.text(14, 26, "A warp's 32 floats, by the width of its block", bold=True)
  for i, width in enumerate(WIDTHS):
    x = 14 + i * _PANEL
    picture.text(x, 56, f"{width}x{256 // width} threads", bold=True)
    for y, transposed, side in ((78, False, "along rows"), (164, True, "along columns")):
      elements = footprint(width, transposed)
      sectors = len(sectors_of(elements))
      picture.text(x, y, side, svg.SMALL, "muted")
      picture.text(x, y + 16, f"{sectors} sectors, {100 * 128 / (32 * sectors):.3g} %", svg.SMALL)
      _matrix(picture, x, y + 24, elements)
  picture.key(14, 596, [(_COLORS[i], f"lanes {8 * i} to {8 * i + 7}", 116) for i in range(4)])
  return picture.svg(610)

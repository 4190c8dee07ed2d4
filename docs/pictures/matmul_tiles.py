"""One k step of a tiled product: the tiles of A and B that a block loads, and what they are used for."""

from docs.pictures import svg

_CELL = 26
_TILES = 5  # Of each side.
_ROW, _COL, _STEP = 3, 1, 2


def _matrix(picture, x, y, name, rows, cols, colors):
  """A matrix of tiles, `colors` of some of them."""
  for row in range(rows):
    for col in range(cols):
      picture.rect(x + col * _CELL, y + row * _CELL, _CELL, _CELL, colors.get((row, col), "idle"), "paper", 1.5)
  picture.text(x + 4, y - 7, name, bold=True)


def draw():
  picture = svg.Picture("One k step of a tiled matrix multiplication")
  picture.text(14, 26, "A block computes one tile of C, k step by k step", bold=True)
  a_left, c_left, b_top = 28, 28 + _TILES * _CELL + 28, 62
  c_top = b_top + _TILES * _CELL + 34
  before = {i: "soft-0" for i in range(_TILES)}
  _matrix(picture, c_left, b_top, "B", _TILES, _TILES, {(i, _COL): "series-0" if i == _STEP else "soft-0" for i in before})
  _matrix(picture, a_left, c_top, "A", _TILES, _TILES, {(_ROW, i): "series-1" if i == _STEP else "soft-1" for i in before})
  _matrix(picture, c_left, c_top, "C", _TILES, _TILES, {(_ROW, _COL): "series-2"})
  picture.arrow(a_left, c_top + _TILES * _CELL + 12, a_left + _TILES * _CELL, c_top + _TILES * _CELL + 12)
  picture.text(a_left + _TILES * _CELL / 2, c_top + _TILES * _CELL + 30, "k", anchor="middle")
  picture.arrow(c_left + _TILES * _CELL + 12, b_top, c_left + _TILES * _CELL + 12, b_top + _TILES * _CELL)
  picture.text(c_left + _TILES * _CELL + 22, b_top + 70, "k")
  picture.text(a_left, b_top + 20, "For each k step:", bold=True)
  picture.lines(a_left, b_top + 42, ("1. load a tile of A", "    and one of B", "2. __syncthreads()", "3. multiply them",
                                     "4. __syncthreads()"), svg.SMALL, "muted")
  x = c_left + _TILES * _CELL + 16
  y = picture.lines(x, c_top + 18, ("With 32x32 tiles,", "each element of the", "two tiles is loaded", "from memory once", "and used by 32",
                                    "threads."), svg.SMALL, "muted")
  return picture.svg(c_top + _TILES * _CELL + 46)

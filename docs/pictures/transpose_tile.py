"""A transpose through a tile in shared memory: both global sides are rows, and the column is read where it costs no sectors."""

from docs.pictures import svg

_TILES, _CELL = 4, 26
_TILE = 8  # Stands for 32.
_SQUARE = 16


def _matrix(picture, x, y, name, tile, segment, color):
  """A matrix of tiles with one of them marked, and the row of it that the warp accesses."""
  size = _TILES * _CELL
  picture.rect(x, y, size, size, "idle")
  for i in range(1, _TILES):
    picture.line(x + i * _CELL, y, x + i * _CELL, y + size, "paper")
    picture.line(x, y + i * _CELL, x + size, y + i * _CELL, "paper")
  row, col = tile
  left, top = x + col * _CELL, y + row * _CELL
  picture.rect(left, top, _CELL, _CELL, "soft-0", "series-0", 1.5)
  picture.rect(left, top + segment * _CELL / _TILE, _CELL, 4, color)
  picture.text(x + size / 2, y - 8, name, anchor="middle", bold=True)
  return left, top


def draw():
  picture = svg.Picture("A transpose through a tile in shared memory")
  tile_x, tile_y = 176, 84
  size = _TILE * _SQUARE
  picture.text(14, 26, "A block transposes one tile; both sides are rows", bold=True)
  in_left, in_top = _matrix(picture, 14, 84, "in", (0, 2), 2, "series-1")
  out_left, out_top = _matrix(picture, 362, 84, "out", (2, 0), 5, "series-3")
  picture.text(tile_x + size / 2, tile_y - 8, "tile in shared memory", anchor="middle", bold=True)
  for row in range(_TILE):
    for col in range(_TILE):
      fill = "series-1" if row == 2 else "soft-0"
      picture.rect(tile_x + col * _SQUARE, tile_y + row * _SQUARE, _SQUARE, _SQUARE, fill, "paper", 1)
  picture.rect(tile_x + 5 * _SQUARE, tile_y, _SQUARE, size, None, "series-3", 3)
  picture.arrow(in_left + _CELL + 2, in_top + 9, tile_x - 3, tile_y + 2.5 * _SQUARE, "series-1", 2)
  picture.arrow(tile_x + 6 * _SQUARE + 3, tile_y + 6.5 * _SQUARE, out_left - 3, out_top + 18, "series-3", 2)
  y = tile_y + size + 34
  for color, title, text in (
      ("series-1", "1. Row to row", "A warp loads a row of in, 4 sectors, into a row of the tile."),
      ("ink", "2. __syncthreads()", "All warps of the block have stored their rows."),
      ("series-3", "3. Column to row", "It stores a column of the tile as a row of out, 4 sectors."),
  ):
    picture.text(14, y, title, color=color, bold=True)
    picture.text(14, y + 17, text, svg.SMALL, "muted")
    y += 42
  return picture.svg(y - 10)

"""Partition camping: where the tiles lie that eight consecutive blocks of a transpose read and write, by the order of blocks."""

from docs.pictures import svg

_TILES = 8
_CELL = 24
_LEFT = 20
_SECOND = _LEFT + _TILES * _CELL + 48
_PARTITIONS = ("soft-0", "idle")

# The tile of `in`, (row, column), that block number i reads; it writes tile (column, row) of `out`.
ORDERS = (
    ("Rows: one block after the other along a row of in", lambda i: (i // _TILES, i % _TILES)),
    ("Diagonals (Ruetsch and Micikevicius, 2009)", lambda i: (i % _TILES, (i % _TILES + i // _TILES) % _TILES)),
)


def _matrix(picture, x, y, title, tiles):
  picture.text(x, y - 6, title, svg.SMALL, "muted")
  for row in range(_TILES):
    for col in range(_TILES):
      picture.rect(x + col * _CELL, y + row * _CELL, _CELL, _CELL, _PARTITIONS[col % 2], "paper", 1)
  for block, (row, col) in enumerate(tiles):
    picture.rect(x + col * _CELL + 2, y + row * _CELL + 2, _CELL - 4, _CELL - 4, "ink", None, radius=3)
    picture.text(x + (col + 0.5) * _CELL, y + row * _CELL + 16.5, str(block), svg.SMALL, "paper", "middle", True)
  bottom = y + _TILES * _CELL
  loads = [sum(1 for _, col in tiles if col == partition) for partition in range(_TILES)]
  for partition, load in enumerate(loads):
    for i in range(load):
      picture.rect(x + partition * _CELL + 3, bottom + 6 + 5 * i, _CELL - 6, 4, "series-1" if load > 1 else "series-2")
  return loads


def draw():
  picture = svg.Picture("Eight blocks that run at the same time, in row order and in diagonal order")
  picture.text(_LEFT, 26, "A column of tiles is in one of 8 partitions", bold=True)
  y = 56
  for title, tile_of in ORDERS:
    tiles = [tile_of(block) for block in range(_TILES)]
    picture.text(_LEFT, y, title, bold=True)
    _matrix(picture, _LEFT, y + 30, "in: read", tiles)
    loads = _matrix(picture, _SECOND, y + 30, "out: written", [(col, row) for row, col in tiles])
    bottom = y + 30 + _TILES * _CELL
    busy = sum(1 for load in loads if load)
    text = "all 8 partitions serve" if busy == 8 else "one partition serves all"
    picture.text(_SECOND + (_CELL + 8 if busy < 8 else 0), bottom + 27, text, svg.SMALL, "muted")
    y = bottom + 78
  return picture.svg(y - 36)

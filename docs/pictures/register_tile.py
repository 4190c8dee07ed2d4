"""The register tile of register_tile_2d: who holds which elements of C, and the outer product of two fragments."""

from docs.pictures import svg

_SCALE = 1.75  # For an element of the block's tile of 128x128.
_TILE = 128
_STEP = 16  # Between the rows of a thread, and between its columns.
_THREAD_ROW, _THREAD_COL = 6, 9
_DEPTH = 8 * 3  # Eight k steps, drawn three times as wide as they are.


def _strip(picture, x, y, width, height, name, label_x, label_y):
  picture.rect(x, y, width, height, "soft-0", "series-0")
  picture.text(label_x, label_y, name, anchor="middle", bold=True)


def _block(picture, left, top):
  """The block's tile of C with the tiles of A and B beside it."""
  size = _TILE * _SCALE
  picture.rect(left, top, size, size, "idle", "muted")
  # A warp: threads of two neighbouring rows of threads.
  for i in range(8):
    row = i * _STEP + _THREAD_ROW
    picture.rect(left, top + row * _SCALE, size, 2 * _SCALE, "soft-2")
  for i in range(8):
    for j in range(8):
      picture.rect(left + (j * _STEP + _THREAD_COL) * _SCALE - 1.5, top + (i * _STEP + _THREAD_ROW) * _SCALE - 1.5, 5, 5, "series-1")
  a_left = left - 12 - _DEPTH
  b_top = top - 12 - _DEPTH
  _strip(picture, a_left, top, _DEPTH, size, "A", a_left - 12, top + size / 2)
  _strip(picture, left, b_top, size, _DEPTH, "B", left + size / 2, b_top - 7)
  for i in range(8):
    picture.rect(a_left + 9, top + (i * _STEP + _THREAD_ROW) * _SCALE - 1.5, 5, 5, "series-1")
    picture.rect(left + (i * _STEP + _THREAD_COL) * _SCALE - 1.5, b_top + 9, 5, 5, "series-1")
  return size


def draw():
  picture = svg.Picture("Who holds which elements of C in registers, and the product of two fragments")
  picture.text(14, 26, "A block's tile of C, 128x128, by 256 threads", bold=True)
  left, top = 74, 90
  size = _block(picture, left, top)
  x = left + size + 16
  y = picture.lines(x, top + 8, ("One thread holds", "64 elements of C:"), svg.SMALL)
  y = picture.lines(x, y, ("8 rows x 8 columns,", "16 apart, so that", "the 16 threads of a", "row read neighbours", "of B."),
                    svg.SMALL, "muted")
  y = picture.lines(x, y + 8, ("Each k step it loads", "8 elements of A and", "8 of B."), svg.SMALL, "muted")
  picture.rect(x, y - 1, 9, 9, "series-1")
  picture.text(x + 15, y + 8, "one thread", svg.SMALL, "muted")
  picture.rect(x, y + 17, 9, 9, "soft-2")
  picture.text(x + 15, y + 26, "its warp (2x16)", svg.SMALL, "muted")

  y = top + size + 40
  picture.text(14, y, "One k step of one thread: 16 loads, 64 fma", bold=True)
  cell, left, top = 22, 74, y + 50
  for i in range(8):
    picture.rect(left - 40, top + i * cell, cell, cell, "series-1", "paper", 2)
    picture.text(left - 29, top + i * cell + 15, f"a{i}", svg.SMALL, "paper", "middle")
    picture.rect(left + i * cell, top - 34, cell, cell, "series-1", "paper", 2)
    picture.text(left + i * cell + 11, top - 19, f"b{i}", svg.SMALL, "paper", "middle")
    for j in range(8):
      picture.rect(left + j * cell, top + i * cell, cell, cell, "soft-2" if (i, j) != (2, 5) else "series-2", "paper", 2)
  picture.line(left - 18, top + 2.5 * cell, left + 5 * cell, top + 2.5 * cell, "series-2", 2)
  picture.line(left + 5.5 * cell, top - 12, left + 5.5 * cell, top + 2 * cell, "series-2", 2)
  x = left + 8 * cell + 22
  y = picture.lines(x, top + 10, ("c[2][5] += a2 * b5",))
  y = picture.lines(x, y + 6, ("Each a serves 8 columns,", "each b serves 8 rows.", "With 1 element a thread", "there are 2 loads an fma;",
                               "here there is 1 load for", "4 fma."), svg.SMALL, "muted")
  return picture.svg(top + 8 * cell + 18)

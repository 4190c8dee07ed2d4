"""The banks of a 32x32 tile of floats in shared memory, and what a warp that reads a column asks of them."""

from docs.pictures import svg

_TILE = 32
_CELL = 6
_COLUMN = 5  # The one that is read.
_LEFT = 14
_RIGHT = _LEFT + 33 * _CELL + 34

LAYOUTS = (
    ("tile[32][32]", "no padding", lambda row, col: (row * 32 + col) % 32),
    ("tile[32][33]", "one float of padding in each row", lambda row, col: (row * 33 + col) % 32),
    ("tile[row][col ^ row]", "XOR swizzle", lambda row, col: (row * 32 + (col ^ row)) % 32),
)


def words_of_banks(bank_of):
  """How many words of the column each bank has to deliver."""
  words = [0] * 32
  for row in range(_TILE):
    words[bank_of(row, _COLUMN)] += 1
  return words


def _tile(picture, top, bank_of):
  for bank in range(32):
    squares = (f"M{_LEFT + col * _CELL} {svg.number(top + (row + 0.5) * _CELL)}h{_CELL}"
               for row in range(_TILE) for col in range(_TILE) if bank_of(row, col) == bank)
    picture.path("".join(squares), None, svg.BANKS[bank], _CELL)
  picture.rect(_LEFT + _COLUMN * _CELL - 1, top - 1, _CELL + 2, _TILE * _CELL + 2, None, "series-1", 2)


def _bars(picture, top, words):
  bottom = top + 100
  for bank, count in enumerate(words):
    x = _RIGHT + bank * _CELL
    if count:
      picture.rect(x, bottom - 3 * count, _CELL, 3 * count, "series-1", "paper", 0.5)
    picture.rect(x, bottom + 3, _CELL, 8, svg.BANKS[bank])
  picture.line(_RIGHT, bottom + 1, _RIGHT + 32 * _CELL, bottom + 1)
  picture.text(_RIGHT, bottom + 25, "bank 0", svg.SMALL, "muted")
  picture.text(_RIGHT + 32 * _CELL, bottom + 25, "bank 31", svg.SMALL, "muted", "end")
  most = max(words)
  busiest = words.index(most)
  label = f"{most} words" if most > 1 else "1 word each"
  x = _RIGHT + (busiest + 2) * _CELL if most > 1 else _RIGHT
  picture.text(x, bottom - 3 * most + (10 if most > 1 else -4), label, svg.SMALL, "muted")


def draw():
  picture = svg.Picture("The banks of a 32x32 tile without padding, with padding, and with a swizzle")
  picture.text(_LEFT, 26, "Each square is a float; its colour is its bank", bold=True)
  picture.text(_LEFT, 44, "A warp reads the framed column, one float a lane", svg.SMALL, "muted")
  y = 74
  for code, name, bank_of in LAYOUTS:
    words = words_of_banks(bank_of)
    picture.text(_LEFT, y, code, bold=True)
    picture.text(_RIGHT, y, name, svg.SMALL, "muted")
    _tile(picture, y + 10, bank_of)
    picture.text(_RIGHT, y + 30, f"{max(words)} wavefront{'s' if max(words) > 1 else ''}", bold=True)
    _bars(picture, y + 50, words)
    y += _TILE * _CELL + 44
  return picture.svg(y - 16)

"""Which 32-byte sectors a warp's load of 32 floats touches: neighbours, shifted neighbours, every second float, a column."""

from docs.pictures import svg

_LANES = 32
_GROUP = 8  # Lanes of one colour; they fill a sector when they access neighbours.
_COLORS = ("series-0", "series-1", "series-2", "series-3")
_LEFT = 14
_GAP = 4


def sectors_of(first, stride):
  """The sectors that the lanes touch: a list of 8 lanes or None, word for word; stride and first in words."""
  words = {first + lane * stride: lane for lane in range(_LANES)}
  sectors = sorted({word // 8 for word in words})
  return [[words.get(8 * sector + i) for i in range(8)] for sector in sectors]


def _draw_sectors(picture, y, sectors, cell, per_row):
  for i, sector in enumerate(sectors):
    x = _LEFT + i % per_row * (8 * cell + _GAP)
    top = y + i // per_row * 22
    for word, lane in enumerate(sector):
      picture.rect(x + word * cell, top, cell, 16, "idle" if lane is None else _COLORS[lane // _GROUP], "paper", 0.5)
    picture.rect(x, top, 8 * cell, 16, None, "ink", 1)
  return y + (len(sectors) - 1) // per_row * 22 + 16


def _lanes(picture, y):
  for lane in range(_LANES):
    x = _LEFT + lane * 11 + lane // _GROUP * _GAP
    picture.rect(x, y, 11, 16, _COLORS[lane // _GROUP], "paper", 0.5)
  for group in range(4):
    x = _LEFT + group * (8 * 11 + _GAP)
    picture.text(x + 44, y - 5, f"lanes {group * 8} to {group * 8 + 7}", svg.SMALL, "muted", "middle")


def draw():
  picture = svg.Picture("The sectors that a warp's load of 32 floats touches")
  picture.text(_LEFT, 26, "A warp loads 32 floats, 128 bytes", bold=True)
  _lanes(picture, 58)
  y = 100
  for title, first, stride, cell, per_row in (
      ("Neighbours, aligned", 0, 1, 11, 5),
      ("Neighbours that start 4 bytes behind a sector's edge", 1, 1, 11, 5),
      ("Every second float", 0, 2, 11, 4),
      ("A column of a row-major matrix: one float of each row", 0, 64, 6.5, 8),
  ):
    sectors = sectors_of(first, stride)
    picture.text(_LEFT, y, title, bold=True)
    efficiency = f"{100 * 4 * _LANES / (32 * len(sectors)):.3g} %"
    picture.text(_LEFT, y + 17, f"{len(sectors)} sectors, {32 * len(sectors)} bytes: efficiency {efficiency}", svg.SMALL,
                 "muted")
    y = _draw_sectors(picture, y + 26, sectors, cell, per_row) + 30
  picture.key(_LEFT, y - 4, [("idle", "moved, but not asked for", 190), ("paper", "frame: a sector of 8 floats", 200)])
  return picture.svg(y + 10)

"""Eleven tiles on four multiprocessors: as whole tiles, and with the last three divided into equal work units along k."""

from docs.pictures import svg

_PROCESSORS = 4
_TILES = 11
_WIDTH = 118  # Of a tile: the time that a multiprocessor takes for it.
_LEFT = 84
_ROW = 34
_SPLIT = ("soft-1", "soft-2", "soft-3")


def work_units():
  """For each multiprocessor the parts (tile, from, to) of its work unit, in tiles; the split tiles are numbered from 0."""
  split = _TILES % _PROCESSORS
  share = split / _PROCESSORS
  units = []
  for unit in range(_PROCESSORS):
    begin, end = unit * share, (unit + 1) * share
    parts = []
    for tile in range(split):
      first, last = max(begin, tile), min(end, tile + 1)
      if first < last:
        parts.append((tile, first - tile, last - tile))
    units.append(parts)
  return units


def _box(picture, x, y, width, text, fill):
  picture.rect(x, y, width, _ROW - 8, fill, "paper", 2)
  picture.text(x + width / 2, y + 18, text, svg.SMALL, anchor="middle")


def _part_of(tile, width):
  return f"of tile {tile}" if width > 60 else f"of {tile}" if width > 40 else f"{tile}"


def _processors(picture, y):
  for i in range(_PROCESSORS):
    picture.text(14, y + i * _ROW + 18, f"SM {i}")


def draw():
  picture = svg.Picture("Whole tiles against stream-K work units on four multiprocessors")
  picture.text(14, 28, "Whole tiles: 11 tiles on 4 SMs take 3 rounds", bold=True)
  y = 42
  _processors(picture, y)
  for tile in range(_TILES):
    split = tile - (_TILES - _TILES % _PROCESSORS)
    _box(picture, _LEFT + tile // _PROCESSORS * _WIDTH, y + tile % _PROCESSORS * _ROW, _WIDTH, f"tile {tile}",
         "soft-0" if split < 0 else _SPLIT[split])
  idle = y + (_PROCESSORS - 1) * _ROW
  picture.rect(_LEFT + 2 * _WIDTH, idle, _WIDTH, _ROW - 8, "idle", "paper", 2)
  picture.text(_LEFT + 2.5 * _WIDTH, idle + 18, "idle", svg.SMALL, "muted", "middle")

  y += _PROCESSORS * _ROW + 34
  picture.text(14, y - 10, "Stream-K: 2 rounds, and 3 tiles as 4 equal work units", bold=True)
  y += 6
  _processors(picture, y)
  for processor, parts in enumerate(work_units()):
    top = y + processor * _ROW
    for turn in range(2):
      _box(picture, _LEFT + turn * _WIDTH, top, _WIDTH, f"tile {turn * _PROCESSORS + processor}", "soft-0")
    x = _LEFT + 2 * _WIDTH
    for tile, first, last in parts:
      width = (last - first) * _WIDTH
      _box(picture, x, top, width, _part_of(tile + 8, width), _SPLIT[tile])
      x += width
  bottom = y + _PROCESSORS * _ROW
  picture.line(_LEFT + 2.75 * _WIDTH, y - 2, _LEFT + 2.75 * _WIDTH, bottom, "series-1", 2)
  picture.text(_LEFT + 2.75 * _WIDTH - 5, bottom + 12, "ends at 2.75 instead of 3", svg.SMALL, "muted", "end")

  y = bottom + 44
  picture.text(14, y - 8, "Fixup: the parts of a tile are added, in the order of k", bold=True)
  y += 4
  units = work_units()
  for tile in range(len(_SPLIT)):
    top = y + tile * _ROW
    picture.text(14, top + 18, f"tile {tile + 8}")
    x = _LEFT
    for unit, parts in enumerate(units):
      for part, first, last in parts:
        if part == tile:
          _box(picture, x, top, (last - first) * 2 * _WIDTH, f"SM {unit}", _SPLIT[tile])
          x += (last - first) * 2 * _WIDTH
    picture.arrow(x + 6, top + 13, x + 44, top + 13)
    picture.text(x + 52, top + 18, "C", svg.SMALL, "muted")
  return picture.svg(y + 3 * _ROW + 12)

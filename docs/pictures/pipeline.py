"""Producer and consumer warps over four stages: when each k step is loaded and multiplied, and the parity of the barriers."""

from docs.pictures import svg

_STAGES = 4
_STEPS = 10
_LATENCY = 3.5  # From the start of a copy until its bytes have arrived; all times in the same unit.
_ISSUE = 0.5  # Between the starts of two copies.
_MULTIPLY = 2.0
_UNIT = 15.2
_BAR = 30
_LEFT = 78
_COLORS = ("soft-0", "soft-1")


def schedule():
  """(started, arrived, multiplied from, released) of each k step. A stage is loaded again when it has been released."""
  steps = []
  for i in range(_STEPS):
    free = steps[i - _STAGES][3] if i >= _STAGES else 0
    started = max(free, steps[-1][0] + _ISSUE if steps else 0)
    arrived = started + _LATENCY
    begin = max(arrived, steps[-1][3] if steps else 0)
    steps.append((started, arrived, begin, begin + _MULTIPLY))
  return steps


def draw():
  picture = svg.Picture("The pipeline of a producer warp and its consumer warps over four stages")
  picture.text(14, 26, "One row a stage, time from left to right", bold=True)
  picture.text(14, 44, "The number is the k step that the stage holds", svg.SMALL, "muted")
  steps = schedule()
  top, height = 82, 52
  for stage in range(_STAGES):
    y = top + stage * height
    picture.text(14, y + 20, f"stage {stage}")
    picture.rect(_LEFT, y, 26 * _UNIT, _BAR, "idle")
  for i, (started, arrived, begin, released) in enumerate(steps):
    y = top + i % _STAGES * height
    at = lambda time: _LEFT + time * _UNIT
    phase = i // _STAGES % 2
    end = min(released, 26)
    picture.rect(at(started), y, (min(arrived, 26) - started) * _UNIT, _BAR, "soft-0", "series-0")
    if begin > arrived:
      picture.rect(at(arrived), y, (min(begin, 26) - arrived) * _UNIT, _BAR, "soft-3", "series-3")
    if begin < 26:
      picture.rect(at(begin), y, (end - begin) * _UNIT, _BAR, "series-2", "series-2")
      picture.text(at(begin) + _MULTIPLY * _UNIT / 2, y + 20, str(i), color="paper", anchor="middle", bold=True)
    picture.text(at(started) + 5, y + 20, str(i), svg.SMALL)
    picture.text(at(started), y - 4, f"phase {phase}", svg.SMALL, "muted")
  y = top + _STAGES * height + 6
  picture.text(14, y + 6, "consumers")
  for i, (_, _, begin, released) in enumerate(steps):
    if begin < 26:
      picture.rect(_LEFT + begin * _UNIT, y - 9, (min(released, 26) - begin) * _UNIT, 22, "series-2", "paper", 1.5)
      picture.text(_LEFT + (begin + _MULTIPLY / 2) * _UNIT, y + 6, str(i), svg.SMALL, "paper", "middle")
  y += 40
  picture.key(14, y, [("soft-0", "TMA copies", 104), ("soft-3", "full, waiting", 108), ("series-2", "multiplied", 100),
                      ("idle", "empty", 60)])
  y += 30
  for title, text in (
      ("Producer, one thread", "waits for empty[stage], announces the bytes, starts the copies."),
      ("8 consumer warps", "wait for full[stage], multiply, arrive at empty[stage]."),
      ("Phase", "flips each time that a stage is used again; a wait names it."),
  ):
    picture.text(14, y, title, bold=True)
    picture.text(14, y + 17, text, svg.SMALL, "muted")
    y += 40
  return picture.svg(y - 8)

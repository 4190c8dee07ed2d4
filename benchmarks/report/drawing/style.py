"""Colours and line styles for white paper and for a dark screen, and their assignment to series.

The colours of series are those of Okabe and Ito, which any colour vision can distinguish, a little darker on white and lighter
on dark so that thin lines stand out. Their yellow, invisible on white, is brown there, and their black is grey, as references
and text are black.
"""

import collections
import dataclasses

LIGHT = {
    "ink": "#1f2328", "muted": "#57606a", "grid": "#d8dee4", "paper": "#ffffff",
    "series-0": "#0072b2", "series-1": "#c84f00", "series-2": "#009e73", "series-3": "#b8508e",
    "series-4": "#d99700", "series-5": "#45a5e0", "series-6": "#4d4d4d", "series-7": "#8a6d3b",
}
DARK = {
    "ink": "#e6edf3", "muted": "#9ea7b3", "grid": "#343b44", "paper": "#14171a",
    "series-0": "#2f8fd0", "series-1": "#e8641a", "series-2": "#00a87a", "series-3": "#cc79a7",
    "series-4": "#e69f00", "series-5": "#85cbf2", "series-6": "#d0d0d0", "series-7": "#f0e442",
}

INK, MUTED, GRID, PAPER = (LIGHT[name] for name in ("ink", "muted", "grid", "paper"))

_COLORS = [color for name, color in LIGHT.items() if name.startswith("series-")]
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
_DASHES = ("-", "-.", ":")


@dataclasses.dataclass(frozen=True)
class Style:
  color: str
  marker: str
  dash: str


def assign_styles(figures):
  """Returns a Style for the name of each series that is no reference: the same in all figures, different within a figure.

  The first eight names of a report differ in colour; a later one takes the least used colour that is free in all its figures.
  A figure of more than eight series repeats colours with other markers and dashes.
  """
  neighbours = collections.defaultdict(set)
  for figure in figures:
    names = dict.fromkeys(series.name for series in getattr(figure, "series", []) if not series.is_reference)
    for name in names:
      neighbours[name].update(names)
  chosen, uses = {}, collections.Counter()
  for name, beside in neighbours.items():
    taken = {chosen[other] for other in beside if other in chosen}
    free = [index for index in range(len(_COLORS)) if index not in taken]
    if free:
      index = min(free, key=lambda candidate: (uses[candidate], candidate))
    else:
      index = next(candidate for candidate in range(len(_COLORS), len(taken) + 1) if candidate not in taken)
    chosen[name] = index
    uses[index] += 1
  return {name: _style(index) for name, index in chosen.items()}


def _style(index):
  turn, color = divmod(index, len(_COLORS))
  return Style(_COLORS[color], _MARKERS[(color + 3 * turn) % len(_MARKERS)], _DASHES[turn % len(_DASHES)])

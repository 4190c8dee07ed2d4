"""Writes an SVG whose colours follow the reader's theme, light or dark, and whose bytes depend on nothing but the calls."""

from xml.sax import saxutils

from benchmarks.report.drawing import style

WIDTH = 480  # Pages show it larger; on a phone it is shown at three quarters, where 12 is still legible.
_SHOWN_WIDTH = 620
SMALL, NORMAL = 12, 13.5

# What the figures need beside the colours of the report: areas that text stands on.
_LIGHT = {**style.LIGHT, "idle": "#e4e8ec", "soft-0": "#cfe6f5", "soft-1": "#fbdcc6", "soft-2": "#c9ebde",
          "soft-3": "#f3d7e7"}
_DARK = {**style.DARK, "idle": "#2b323a", "soft-0": "#173d57", "soft-1": "#5a2f14", "soft-2": "#0f4a39",
         "soft-3": "#552f47"}

# Fixed colours of both themes for the 32 banks, from the first bank to the last.
BANKS = [f"#{round(232 - 6.6 * i):02x}{round(240 - 5.4 * i):02x}{round(252 - 3.2 * i):02x}" for i in range(32)]


def number(value):
  return f"{round(value, 1):g}"


def _rules(colors):
  return "".join(f".f-{name}{{fill:{color}}}.s-{name}{{stroke:{color}}}" for name, color in colors.items())


class Picture:
  """Elements are drawn in the order of the calls. A colour is a name of _LIGHT or, in both themes, a value such as #123456."""

  def __init__(self, title):
    self._title = title
    self._elements = []
    self._used = {"paper", "grid"}

  def _paint(self, kind, color):
    if color is None:
      return ' fill="none"' if kind == "f" else ""
    if color.startswith("#"):
      return f' {"fill" if kind == "f" else "stroke"}="{color}"'
    self._used.add(color)
    return f' class="{kind}-{color}"'

  def _paints(self, fill, stroke, width):
    """Both in one class attribute where both are names."""
    paints = self._paint("f", fill) + self._paint("s", stroke)
    paints = paints.replace('" class="', " ") if paints.count('class="') == 2 else paints
    return paints + (f' stroke-width="{number(width)}"' if stroke else "")

  def rect(self, x, y, width, height, fill=None, stroke=None, stroke_width=1, radius=0):
    corners = f' rx="{number(radius)}"' if radius else ""
    self._elements.append(f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"{corners}'
                          f"{self._paints(fill, stroke, stroke_width)}/>")

  def path(self, data, fill=None, stroke=None, stroke_width=1, dash=""):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    self._elements.append(f'<path d="{data}"{self._paints(fill, stroke, stroke_width)}{dashes}/>')

  def line(self, x1, y1, x2, y2, stroke="muted", width=1, dash=""):
    self.path(f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", None, stroke, width, dash)

  def arrow(self, x1, y1, x2, y2, color="muted", width=1.5):
    """A straight arrow to (x2, y2)."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    bx, by = x2 - 8 * dx, y2 - 8 * dy
    self.line(x1, y1, bx, by, color, width)
    self.path(f"M{number(x2)} {number(y2)}L{number(bx - 4 * dy)} {number(by + 4 * dx)}"
              f"L{number(bx + 4 * dy)} {number(by - 4 * dx)}z", color)

  def text(self, x, y, text, size=NORMAL, color="ink", anchor="start", bold=False):
    """`y` is the baseline; `anchor` is start, middle or end."""
    more = ("" if size == NORMAL else f' font-size="{number(size)}"') + (
        "" if anchor == "start" else f' text-anchor="{anchor}"') + (' font-weight="600"' if bold else "")
    self._elements.append(f'<text x="{number(x)}" y="{number(y)}"{self._paint("f", color)}{more}>'
                          f"{saxutils.escape(text)}</text>")

  def lines(self, x, y, texts, size=NORMAL, color="ink", step=None):
    """Lines of text, one below the other; returns the next baseline."""
    for text in texts:
      self.text(x, y, text, size, color)
      y += step or 1.35 * size
    return y

  def key(self, x, y, entries):
    """Swatches with words from left to right: entries are (fill, words, width). `y` is the baseline."""
    for fill, words, width in entries:
      self.rect(x, y - 10, 12, 12, fill, "muted", 0.5)
      self.text(x + 17, y, words, SMALL, "muted")
      x += width

  def svg(self, height):
    light = {name: color for name, color in _LIGHT.items() if name in self._used}
    dark = {name: color for name, color in _DARK.items() if name in self._used}
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {number(height)}" width="{_SHOWN_WIDTH}" '
            f'height="{number(height * _SHOWN_WIDTH / WIDTH)}" role="img" font-family="system-ui, \'DejaVu Sans\', sans-serif" '
            f'font-size="{NORMAL}">')
    # With paper of its own it is legible on whatever page it stands.
    paper = f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{number(height - 1)}" rx="8" class="f-paper s-grid"/>'
    return "\n".join([head, f"<title>{saxutils.escape(self._title)}</title>",
                      f"<style>{_rules(light)}@media (prefers-color-scheme:dark){{{_rules(dark)}}}</style>", paper,
                      *self._elements, "</svg>"]) + "\n"

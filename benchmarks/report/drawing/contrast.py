"""The contrast of colours by WCAG 2. Colours are (red, green, blue, ...) from 0 to 1."""


def ratio(one, other):
  """Returns a ratio from 1, equal colours, to 21, black on white. Text needs 4.5."""
  darker, lighter = sorted((_luminance(one), _luminance(other)))
  return (lighter + 0.05) / (darker + 0.05)


def _luminance(color):
  red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3])
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue

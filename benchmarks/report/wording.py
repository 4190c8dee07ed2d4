"""Numbers, lists and shapes as they stand in sentences."""

from benchmarks.report import digits

_SIDES = ("rows", "cols", "depth")


def number(value, figures=3):
  """Returns `value` rounded to `figures` significant digits: 53663 becomes 53700."""
  return digits.significant(float(f"{value:.{figures}g}"), figures)


def milliseconds(value):
  """Returns a time, given in milliseconds, in ns, us, ms or s."""
  for scale, unit in ((1e-3, "s"), (1, "ms"), (1e3, "us")):
    if abs(value * scale) >= 0.9995:
      return f"{number(value * scale)} {unit}"
  return f"{number(value * 1e6)} ns"


def listed(words):
  """Returns "a", "a and b" or "a, b and c"."""
  words = list(words)
  return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def counted(count, singular):
  """Returns "1 size", "12 sizes"."""
  return f"{count} {singular if count == 1 else singular + 's'}"


def shapes(rows):
  """Returns the shape of each row as a pandas.Series: "4096 x 2048 x 512" (the last is K), "4096 x 2048", or "4096"."""
  words, *sides = (rows[side].fillna(0).astype("int64").astype(str) for side in _SIDES)
  for side, name in zip(sides, _SIDES[1:]):
    words = words.where(rows[name].isna(), words + " x " + side)
  return words


def elements(rows):
  """Returns the product of each row's sides as a pandas.Series, by which shapes can be sorted from small to large."""
  return rows[list(_SIDES)].prod(axis=1)  # Missing sides count as 1.

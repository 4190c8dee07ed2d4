"""Numbers and lists as sentences have them."""

from benchmarks.report import digits


def number(value, figures=3):
  """Rounded before it is written, so that 53663 is 53700."""
  return digits.significant(float(f"{value:.{figures}g}"), figures)


def milliseconds(value):
  """A time that is given in milliseconds, in ns, us, ms or s."""
  for scale, unit in ((1e-3, "s"), (1, "ms"), (1e3, "us")):
    if abs(value * scale) >= 0.9995:
      return f"{number(value * scale)} {unit}"
  return f"{number(value * 1e6)} ns"


def listed(words):
  """"a", "a and b", "a, b and c"."""
  words = list(words)
  return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def counted(count, singular):
  """"1 size", "12 sizes"."""
  return f"{count} {singular if count == 1 else singular + 's'}"


def shapes(rows):
  """A pandas.Series: "4096 x 2048 x 512" (the result's, then K) or "4096 x 2048"."""
  sides = [rows[side].fillna(0).astype("int64").astype(str) for side in ("rows", "cols", "depth")]
  words = sides[0] + " x " + sides[1]
  return words.where(rows["depth"].isna(), words + " x " + sides[2])

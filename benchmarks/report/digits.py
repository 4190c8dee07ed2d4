"""Numbers for readers: significant digits only, and an exponent only where it cannot be avoided."""

import math


def significant(value, digits=4):
  """Returns `value` with this number of significant digits: 0.9823, 50269, 4.691e-07; "" for NaN."""
  if math.isnan(value):
    return ""
  if 10 ** digits - 0.5 <= abs(value) < 1e9:  # 999.6 is 1000, and not 1e+03.
    return f"{value:.0f}"
  return f"{value:.{digits}g}"


def tick(value):
  """Returns a number as it stands at a tick of an axis: 0.01, 128, 100000, 1e6."""
  mantissa, _, exponent = f"{value:.6g}".partition("e")
  return f"{mantissa}e{int(exponent)}" if exponent else mantissa

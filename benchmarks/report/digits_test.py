import math
import unittest

from benchmarks.report import digits


class DigitsTest(unittest.TestCase):

  def test_significant(self):
    for value, count, expected in (
        (0.98234, 4, "0.9823"), (50269.3, 4, "50269"), (4.6912e-7, 4, "4.691e-07"), (0.0, 4, "0"), (8192.0, 4, "8192"),
        (-12345.6, 4, "-12346"), (123.456, 3, "123"), (1234.5, 3, "1234"), (99.96, 3, "100"),
        (999.6, 3, "1000"), (-999.5, 3, "-1000"), (999.4, 3, "999"), (9999.7, 4, "10000"),
        (999999999.9, 4, "1000000000"), (2.5e12, 4, "2.5e+12"), (math.nan, 4, ""), (math.inf, 4, "inf")):
      with self.subTest(value=value):
        self.assertEqual(digits.significant(value, count), expected)

  def test_tick(self):
    for value, expected in ((0.0, "0"), (0.01, "0.01"), (128.0, "128"), (100000.0, "100000"), (1e6, "1e6"), (2e-7, "2e-7"),
                            (-2.5, "-2.5")):
      with self.subTest(value=value):
        self.assertEqual(digits.tick(value), expected)


if __name__ == "__main__":
  unittest.main()

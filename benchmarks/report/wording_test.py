import unittest

import pandas

from benchmarks.report import wording


class WordingTest(unittest.TestCase):

  def test_numbers(self):
    for value, words in ((0, "0"), (1.1234e-7, "1.12e-07"), (0.0625, "0.0625"), (1.8149, "1.81"), (999.7, "1000"),
                         (53663, "53700")):
      with self.subTest(value):
        self.assertEqual(wording.number(value), words)
    self.assertEqual(wording.number(0.99664, 4), "0.9966")

  def test_times_have_the_unit_that_fits(self):
    for ms, words in ((1013, "1.01 s"), (999.7, "1 s"), (12.34, "12.3 ms"), (1, "1 ms"), (0.9996, "1 ms"),
                      (0.0027, "2.7 us"), (9e-5, "90 ns")):
      with self.subTest(ms):
        self.assertEqual(wording.milliseconds(ms), words)

  def test_lists_and_counts(self):
    for count, words in ((1, "a"), (2, "a and b"), (3, "a, b and c")):
      self.assertEqual(wording.listed("abc"[:count]), words)
    self.assertEqual([wording.counted(count, "row") for count in (0, 1, 2)], ["0 rows", "1 row", "2 rows"])

  def test_shapes_have_a_depth_where_there_is_one(self):
    rows = pandas.DataFrame({"rows": [8192.0, 1.0], "cols": [1.0, 67108864.0], "depth": [128.0, float("nan")]})
    self.assertEqual(wording.shapes(rows).tolist(), ["8192 x 1 x 128", "1 x 67108864"])


if __name__ == "__main__":
  unittest.main()

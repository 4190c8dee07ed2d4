"""Ratios, intervals and verdicts, for given times and for known noise."""

import math
import os
import unittest

import numpy

from benchmarks.report import comparison
from benchmarks.report.example_rows import frame, many_rows, timed

NAN = math.nan
NO_INTERVAL = {"samples": 5}
TIMES = ["kernel_ms_median", "kernel_ms_ci_low", "kernel_ms_ci_high"]


def compared(a, b, **rules):
  """Compares two rows of the same configuration."""
  (row,) = comparison.compare(frame(a), frame(b), comparison.Rules(**rules)).to_dict("records")
  return row


def compared_pairs(pairs):
  """Compares pairs of rows without intervals, which do not change each other's verdicts; in the order of `pairs`."""
  a, b = (frame(*({**row, "rows": index} for index, row in enumerate(side))) for side in zip(*pairs))
  return comparison.compare(a, b).sort_values("rows").to_dict("records")


def sampled(generator, count, samples, scatter, factor=1.0):
  """`count` rows of different sizes, each of `samples` lognormal samples, with median and interval as in
  common/measure/statistics.h."""
  times = numpy.sort(factor * numpy.exp(scatter * generator.standard_normal((count, samples))), axis=1)
  rank, below = 0, 0.0
  while below + math.comb(samples, rank) / 2**samples <= 0.025:
    below += math.comb(samples, rank) / 2**samples
    rank += 1
  return many_rows(count).assign(samples=float(samples), kernel_ms_median=numpy.median(times, axis=1),
                                 kernel_ms_ci_low=times[:, rank - 1], kernel_ms_ci_high=times[:, samples - rank])


class RatioTest(unittest.TestCase):

  def test_interval_by_hand(self):
    row = compared(timed(2, 0.03), timed(4, 0.04))
    self.assertAlmostEqual(row["ratio"], 2)
    half = math.hypot(math.log(1.03), math.log(1.04))
    self.assertAlmostEqual(math.log(row["ratio_low"]), math.log(2) - half)
    self.assertAlmostEqual(math.log(row["ratio_high"]), math.log(2) + half)

  def test_each_end_comes_from_the_ends_that_make_it(self):
    a = {"kernel_ms_median": 1, "kernel_ms_ci_low": 0.5, "kernel_ms_ci_high": 1}
    b = {"kernel_ms_median": 1, "kernel_ms_ci_low": 1, "kernel_ms_ci_high": 1}
    row = compared(a, b)
    self.assertEqual((row["ratio_low"], row["ratio_high"]), (1, 2))
    row = compared(b, a)
    self.assertEqual((row["ratio_low"], row["ratio_high"]), (0.5, 1))

  def test_exchanged_sides_are_inverse(self):
    generator = numpy.random.default_rng(1)
    a, b = sampled(generator, 200, 9, 0.01), sampled(generator, 200, 50, 0.02)
    b.loc[:70, TIMES] *= 1.1
    b.loc[150:, TIMES] /= 1.1
    b.loc[::7, "samples"] = 5
    there = comparison.compare(a, b).sort_values("rows")
    back = comparison.compare(b, a).sort_values("rows")
    numpy.testing.assert_allclose(there["ratio"], 1 / back["ratio"].to_numpy())
    numpy.testing.assert_allclose(there["ratio_low"], 1 / back["ratio_high"].to_numpy())
    opposite = {"slower": "faster", "faster": "slower"}
    self.assertEqual([opposite.get(verdict, verdict) for verdict in there["verdict"]], list(back["verdict"]))
    self.assertEqual(set(there["verdict"]), set(comparison.VERDICTS))

  def test_metric(self):
    a, b = timed(1, total_ms=10), timed(1, total_ms=30)
    self.assertEqual(compared(a, b)["ratio"], 1)
    row = compared(a, b, metric="total_ms")
    self.assertEqual((row["ratio"], row["verdict"], row["regression"]), (3, "slower", True))
    self.assertTrue(math.isnan(row["ratio_low"]))


class VerdictTest(unittest.TestCase):

  def test_one_row(self):
    cases = [  # Times of A and B, noise of each, verdict, regression; the band is 2 %, the threshold 5 %.
        (1, 1, 0.001, "same", False), (1, 1, 0, "same", False), (1, 1.019, 0, "same", False),
        (1, 1 / 1.019, 0, "same", False), (1, 1, 0.02, "unclear", False), (1, 1.2, 0.3, "unclear", False),
        (1, 1.02, 0.005, "unclear", False),
        (1, 1.03, 0.005, "slower", False), (1, 1.04, 0, "slower", False), (1, 1.06, 0.01, "slower", False),
        (1, 1.07, 0.01, "slower", True), (1, 1.051, 0, "slower", True), (1, 1 / 1.03, 0.005, "faster", False),
        (1e-6, 1.1e-6, 0.01, "slower", True), (1e6, 0.5e6, 0.01, "faster", False)]
    for a, b, noise, verdict, regression in cases:
      with self.subTest(a=a, b=b, noise=noise):
        row = compared(timed(a, noise), timed(b, noise))
        self.assertEqual((row["verdict"], row["regression"]), (verdict, regression))

  def test_rules(self):
    a, b = timed(1, 0.001), timed(1.1, 0.001)
    self.assertEqual(compared(a, b, same=0.11)["verdict"], "same")
    self.assertTrue(compared(a, b, threshold=0.09)["regression"])
    self.assertFalse(compared(a, b, threshold=0.11)["regression"])

  def test_rows_without_an_interval(self):
    for what, cells in {"few samples": NO_INTERVAL, "no ends": timed(1, NAN), "no number of samples": {"samples": NAN},
                        "an end of 0": {"kernel_ms_ci_low": 0}, "no upper end": {"kernel_ms_ci_high": math.inf},
                        "lower end above": {"kernel_ms_ci_low": 1.05, "kernel_ms_ci_high": 1.1},
                        "upper end below": {"kernel_ms_ci_low": 0.9, "kernel_ms_ci_high": 0.95}}.items():
      factors = {1: "unclear", 1.9: "unclear", 2.2: "slower", 1 / 1.9: "unclear", 1 / 2.2: "faster"}
      rows = compared_pairs([(timed(1) | cells, timed(factor)) for factor in factors])
      for (factor, verdict), row in zip(factors.items(), rows, strict=True):
        with self.subTest(what, factor=factor):
          self.assertEqual((row["verdict"], row["regression"]), (verdict, factor == 2.2))
          self.assertTrue(math.isnan(row["ratio_low"]))

  def test_rows_without_a_time(self):
    pairs = [pair for ms in (NAN, 0, -1, math.inf)
             for pair in ((timed(1), {"kernel_ms_median": ms}), ({"kernel_ms_median": ms}, timed(1)))]
    for pair, row in zip(pairs, compared_pairs(pairs), strict=True):
      with self.subTest(pair):
        self.assertEqual((row["verdict"], row["regression"]), ("unclear", False))
        self.assertTrue(math.isnan(row["ratio"]))

  def test_status(self):
    cases = [("ok", "mismatch", "broken"), ("ok", "error", "broken"), ("skipped", "error", "broken"),
             ("ok", "out_of_memory", "untimed"), ("error", "mismatch", "untimed"), ("error", "error", "untimed"),
             ("error", "ok", "untimed"), ("skipped", "skipped", "untimed")]
    rows = compared_pairs([({"status": a}, {"status": b}) for a, b, _ in cases])
    for (a, b, verdict), row in zip(cases, rows, strict=True):
      with self.subTest(a=a, b=b):
        self.assertEqual((row["verdict"], row["regression"]), (verdict, verdict == "broken"))
        self.assertTrue(math.isnan(row["ratio"]))

  def test_noise_does_not_make_verdicts(self):
    generator = numpy.random.default_rng(2)
    for samples in (6, 7, 9, 17, 50):
      for scatter in (0.01, 0.1):
        with self.subTest(samples=samples, scatter=scatter):
          rows = comparison.compare(sampled(generator, 2000, samples, scatter), sampled(generator, 2000, samples, scatter),
                                    comparison.Rules(same=0))
          for verdict in ("slower", "faster"):  # At most 1 in 40 is claimed; 0.005 allows for chance.
            self.assertLess(rows["verdict"].eq(verdict).mean(), 1 / 40 + 0.005)

  def test_noise_does_not_make_regressions(self):
    generator = numpy.random.default_rng(3)
    plain = 0
    # At most one of 40 comparisons is claimed; by default the first 10 of them are made.
    for _ in range(40 if os.environ.get("STRIDEWISE_EXHAUSTIVE") == "1" else 10):
      rows = comparison.compare(sampled(generator, 1000, 17, 0.1), sampled(generator, 1000, 7, 0.1))
      self.assertFalse(rows["regression"].any())
      plain += (rows["ratio_low"] > 1.05).sum()
    self.assertGreater(plain, 0)  # The noise alone would exceed plain intervals.

  def test_real_changes_are_seen_in_noise(self):
    generator = numpy.random.default_rng(4)
    a, b = sampled(generator, 1000, 17, 0.01), sampled(generator, 1000, 17, 0.01, factor=1.1)
    b.loc[:499, TIMES] /= 1.1
    rows = comparison.compare(a, b)
    self.assertEqual(set(rows.loc[rows["regression"], "rows"]), set(range(500, 1000)))

  def test_expected_by_chance(self):
    generator = numpy.random.default_rng(5)
    a, b = sampled(generator, 2000, 100, 0.05), sampled(generator, 2000, 100, 0.05)
    rows = comparison.compare(a, b)
    self.assertAlmostEqual(comparison.expected_by_chance(rows, 0), 50)
    self.assertLess(comparison.expected_by_chance(rows, 0.01), 50)
    same = frame(timed(1, 0))
    self.assertEqual(comparison.expected_by_chance(comparison.compare(same, same), 0.02), 0)


if __name__ == "__main__":
  unittest.main()

"""Which rows of two files are compared, what runs of one configuration make together, and the summary."""

import math
import unittest

import numpy

from benchmarks.report import comparison
from benchmarks.report.example_rows import frame, many_rows, timed

NAN = math.nan
NO_INTERVAL = {"samples": 5}
TIMES = ["kernel_ms_median", "kernel_ms_ci_low", "kernel_ms_ci_high"]


class MatchingTest(unittest.TestCase):

  def test_identical(self):
    rows = frame(*({"rows": size, "depth": NAN, "block_x": block} for size in (1, 2, 3) for block in (NAN, 16)))
    found = comparison.compare(rows, rows)
    self.assertEqual(len(found), 6)
    self.assertEqual(set(found["ratio"]), {1})
    self.assertFalse(found["regression"].any())

  def test_order_of_rows_does_not_matter(self):
    rows = frame(*({"rows": size} | timed(size) for size in range(1, 20)))
    found = comparison.compare(rows, rows.iloc[::-1].reset_index(drop=True))
    self.assertEqual(set(found["ratio"]), {1})

  def test_missing_and_extra(self):
    found = comparison.compare(frame({"rows": 1}, {"rows": 2}), frame({"rows": 2}, {"rows": 3})).set_index("rows")
    self.assertEqual(found["verdict"].to_dict(), {1: "missing", 2: "same", 3: "extra"})
    self.assertFalse(found["regression"].any())
    self.assertEqual((found["status_b"][1], found["status_a"][3]), ("", ""))

  def test_nothing_in_common(self):
    found = comparison.compare(frame({"rows": 1}), frame({"rows": 2}))
    self.assertEqual(list(found["verdict"]), ["missing", "extra"])

  def test_other_machines_match(self):
    a, b = frame({"device": "x", "cpu": "c", **timed(1, 0)}), frame({"device": "y", **timed(1, 0)})
    (row,) = comparison.compare(a, b).to_dict("records")
    self.assertEqual((row["machine_a"], row["machine_b"], row["verdict"]), ("x", "y", "same"))

  def test_worst_first(self):
    a = frame(*({"rows": size} for size in range(1, 6)))
    b = frame({"rows": 1} | timed(1.5, 1), {"rows": 2} | timed(1.2), {"rows": 3, "status": "error"},
              {"rows": 4} | timed(0.5), {"rows": 5})
    self.assertEqual(list(comparison.compare(a, b)["rows"]), [3, 2, 5, 1, 4])

  def test_what_nearly_matches(self):
    a = frame({"rows": 1}, {"rows": 2}, {"rows": 3, "l2": "hot"}, {"rows": 4})
    b = frame({"rows": 1, "l2": "hot"}, {"rows": 2, "l2": "hot", "host_memory": "pinned"}, {"rows": 3}, {"rows": 5},
              {"rows": 1, "l2": "hot", "host_memory": "pinned"})
    self.assertEqual(sorted(comparison.nearly_matching(comparison.compare(a, b))),
                     [("host_memory", 2, "pageable", "pinned"), ("l2", 1, "hot", "cold"), ("l2", 2, "cold", "hot")])


class RepeatsTest(unittest.TestCase):

  def test_runs_are_combined(self):
    runs = comparison.one_side(frame(timed(1.0), timed(1.3), timed(1.1)), "kernel_ms")
    (row,) = runs.to_dict("records")
    self.assertEqual((row["ms"], row["runs"], row["samples"]), (1.1, 3, 60))
    self.assertAlmostEqual(row["low"], 1 / 1.01)
    self.assertAlmostEqual(row["high"], 1.3 * 1.01)

  def test_what_differs_from_run_to_run_is_no_regression(self):
    (row,) = comparison.compare(frame(timed(1.0)), frame(timed(1.1))).to_dict("records")
    self.assertTrue(row["regression"])
    (row,) = comparison.compare(frame(timed(1.0), timed(1.12)), frame(timed(1.1))).to_dict("records")
    self.assertEqual((row["verdict"], row["regression"]), ("unclear", False))

  def test_only_runs_of_the_latest_commit_and_machine(self):
    now = "2026-11-22T00:00:00Z"
    rows = frame(timed(3, git_commit="g2", timestamp_utc=now), timed(1), timed(5, git_commit="g2"),
                 timed(7, git_commit="g2", device="another"))
    (row,) = comparison.one_side(rows, "kernel_ms").to_dict("records")
    self.assertEqual((row["ms"], row["runs"], row["git_commit"]), (4, 2, "g2"))

  def test_six_runs_without_intervals_have_one(self):
    for count, low in ((5, NAN), (6, 10.0)):
      rows = frame(*(timed(1, total_ms=10 + i) for i in range(count)))
      (row,) = comparison.one_side(rows, "total_ms").to_dict("records")
      numpy.testing.assert_equal((row["low"], row["high"]), (low, low + count - 1))

  def test_a_run_without_an_interval_widens_that_of_the_others(self):
    (row,) = comparison.one_side(frame(timed(1.0, 0), timed(2.0) | NO_INTERVAL), "kernel_ms").to_dict("records")
    self.assertEqual((row["low"], row["high"]), (1, 2))

  def test_status_of_several_runs(self):
    for *statuses, status in (("ok", "error", "ok", "error"), ("ok", "timeout", "ok"), ("timeout", "skipped", "skipped")):
      with self.subTest(statuses):
        (row,) = comparison.one_side(frame(*({"status": word} for word in statuses)), "kernel_ms").to_dict("records")
        self.assertEqual(row["status"], status)

  def test_times_of_runs_that_failed_do_not_count(self):
    (row,) = comparison.one_side(frame(timed(1), timed(9, status="timeout")), "kernel_ms").to_dict("records")
    self.assertEqual((row["ms"], row["status"]), (1, "ok"))


class SummaryTest(unittest.TestCase):

  def test_geometric_means_and_counts(self):
    a = frame(*({"rows": size, "implementation": name} for name in ("x", "y", "z") for size in (1, 2)))
    b = frame({"rows": 1, "implementation": "x"} | timed(2), {"rows": 2, "implementation": "x"} | timed(8),
              {"rows": 1, "implementation": "y"} | timed(0.5), {"rows": 2, "implementation": "y"} | timed(2),
              {"rows": 1, "implementation": "z", "status": "error"})
    table = comparison.summarize(comparison.compare(a, b))
    self.assertEqual(list(table["implementation"]), ["x", "y"])
    numpy.testing.assert_allclose(table["geometric_mean"], [4, 1])
    self.assertEqual(table[["rows", "slower", "faster"]].values.tolist(), [[2, 2, 0], [2, 1, 1]])

  def test_many_rows(self):
    count = 20000
    rows = many_rows(count)
    slower = rows.assign(**{name: rows[name] * numpy.where(rows["rows"] == 777, 1.5, 1) for name in TIMES})
    found = comparison.compare(rows, slower)
    self.assertEqual(len(found), count)
    self.assertEqual(list(found.loc[found["regression"], "rows"]), [777])


if __name__ == "__main__":
  unittest.main()

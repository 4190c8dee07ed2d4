"""Charts by size, and of the spread of samples and of repeats."""

import unittest

from benchmarks.report import fake_rows
from benchmarks.report.charts import noise
from benchmarks.report.charts import rate_by_size
from benchmarks.report.charts import small_sizes
from benchmarks.report.charts import time_by_size
from benchmarks.report.fake_groups import group_of, matmul_rows, series_of, transpose_rows

gpu, cpu = fake_rows.gpu_row, fake_rows.cpu_row


class BySizeTest(unittest.TestCase):

  def test_fast_is_a_high_rate_and_the_interval_turns_round(self):
    figure = rate_by_size.figures(group_of([gpu("naive", 100, 2), gpu("naive", 200, 16)]))[0]
    series = series_of(figure, "naive")
    self.assertEqual(series.x, [100, 200])
    self.assertAlmostEqual(series.y[0], 1)
    self.assertAlmostEqual(series.low[0], 1 / 1.01)
    self.assertAlmostEqual(series.high[0], 1 / 0.99)

  def test_bounds(self):
    products = rate_by_size.figures(group_of(matmul_rows()))[0]
    bound, = (series for series in products.series if series.is_reference)
    self.assertAlmostEqual(bound.y[0], fake_rows.PEAK_GFLOPS)
    transposes = rate_by_size.figures(group_of(transpose_rows()))[0]
    self.assertEqual({series.name for series in transposes.series if series.is_reference},
                     {"memcpy", "copy_vector", "DRAM peak"})
    other_type = rate_by_size.figures(group_of([gpu("naive", n, 1, dtype="double") for n in (8, 16)]))[0]
    self.assertFalse(any(series.is_reference for series in other_type.series))

  def test_times_are_marked_where_the_gpu_begins_to_win(self):
    rows = [gpu("naive", n, 1) for n in (10, 20, 30, 40)] + [cpu("eigen", n, n / 20) for n in (10, 20, 30, 40)]
    kernel, total = time_by_size.figures(group_of(rows))
    self.assertEqual([mark.x for mark in kernel.marks], [30])
    self.assertEqual(total.marks, [])
    always = [gpu("naive", n, 1) for n in (10, 20)] + [cpu("eigen", n, 2) for n in (10, 20)]
    self.assertEqual(time_by_size.figures(group_of(always))[0].marks, [])
    self.assertAlmostEqual(series_of(total, "naive").y[0], 2.7)
    self.assertAlmostEqual(series_of(total, "eigen").y[0], 0.5)

  def test_rows_left_out_are_told_of(self):
    notes = " ".join(time_by_size.figures(group_of(matmul_rows()))[0].notes)
    self.assertIn("8 of 11 implementations", notes)
    self.assertIn("2 rows of other shapes", notes)
    self.assertIn("fastest of several blocks at each size: naive", notes)

  def test_small_sizes_end_where_the_cpu_takes_twice_as_long(self):
    rows = [gpu("naive", n, 1) for n in (10, 20, 30, 40, 50)] + [cpu("eigen", n, n / 20) for n in (10, 20, 30, 40, 50)]
    kernel, total = small_sizes.figures(group_of(rows))
    self.assertEqual(series_of(kernel, "eigen").x, [10, 20, 30, 40])
    self.assertEqual(series_of(kernel, "naive").y, [1000] * 4)
    self.assertEqual(series_of(total, "eigen").x, [10, 20, 30, 40, 50])
    self.assertFalse(kernel.x.log or kernel.y.log)
    self.assertEqual(small_sizes.figures(group_of(rows[:5])), [])
    hopeless = [gpu("naive", n, 1) for n in (10, 20)] + [cpu("eigen", n, 99) for n in (10, 20)]
    self.assertEqual(small_sizes.figures(group_of(hopeless)), [])


  def test_sizes_too_near_to_tell_apart_are_left_out_unless_most_are(self):
    rows = [gpu("naive", n, n ** 3 / 1e9) for n in (2048, 4096, 8191, 8192, 8193)]
    rows += [gpu("tiled", n, n ** 3 / 1e9) for n in (2048, 8192)]
    for figure in time_by_size.figures(group_of(rows)) + rate_by_size.figures(group_of(rows)):
      self.assertEqual(series_of(figure, "naive").x, [2048, 4096, 8192])
    self.assertIn("2 sizes", " ".join(time_by_size.figures(group_of(rows))[0].notes))
    dense = [gpu("naive", n, 1) for n in range(2000, 2010)]
    self.assertEqual(len(series_of(time_by_size.figures(group_of(dense))[0], "naive").x), 10)


class NoiseTest(unittest.TestCase):

  def test_spread_of_the_samples_without_rows_of_few(self):
    rows = [gpu("naive", n, 2, kernel_ms_min=1.8, kernel_ms_p95=2.2, samples=samples)
            for n, samples in ((8, 20), (16, 6), (32, 5))]
    figure = noise.figures(group_of(rows))[0]
    self.assertEqual(series_of(figure, "naive").x, [8, 16])
    self.assertAlmostEqual(series_of(figure, "naive").y[0], 20)

  def test_repeats_of_one_commit(self):
    rows = [gpu("naive", n, ms, timestamp_utc=f"2026-01-0{day}T00:00:00Z")
            for n in (8, 16, 32) for day, ms in ((1, 2), (2, 2.1), (3, 2.2))]
    rows += [gpu("naive", 64, ms, git_commit=commit) for commit, ms in (("g1", 1), ("g2", 9))]
    rows += 2 * [gpu("naive", 128, 1)]  # The same row twice.
    figure = noise.figures(group_of(rows))[1]
    self.assertEqual(series_of(figure, "on the GPU").x, [2, 2, 2])
    self.assertAlmostEqual(series_of(figure, "on the GPU").y[0], 10)

  def test_no_chart_of_hardly_any_repeats(self):
    rows = [gpu("naive", 8, ms, timestamp_utc=f"2026-01-0{ms}T00:00:00Z") for ms in (1, 2)]
    self.assertEqual(noise.figures(group_of(rows)), [])


if __name__ == "__main__":
  unittest.main()

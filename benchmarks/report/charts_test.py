import math
import unittest

from benchmarks.report import model
from benchmarks.report import charts
from benchmarks.report import fake_rows
from benchmarks.report import group as groups
from benchmarks.report.charts import accuracy
from benchmarks.report.charts import blocks
from benchmarks.report.charts import copy_shares
from benchmarks.report.charts import ladder
from benchmarks.report.charts import names
from benchmarks.report.charts import noise
from benchmarks.report.charts import phases
from benchmarks.report.charts import rate_by_size
from benchmarks.report.charts import roofline
from benchmarks.report.charts import small_sizes
from benchmarks.report.charts import time_by_size
from benchmarks.report.charts import vendor_shares

gpu, cpu, transpose = fake_rows.gpu_row, fake_rows.cpu_row, fake_rows.transpose_row


def _group(rows):
  found = groups.make_groups(fake_rows.frame(rows))
  assert len(found) == 1, found
  return found[0]


def _copy(name, n, ms, **cells):
  return transpose(name, n, ms, operation="copy", **cells)


def _steps(**times):
  """Rows of a ladder at n = 64: a step for each name, in this order."""
  return [gpu(name, 64, ms, step=step) for step, (name, ms) in enumerate(times.items(), start=1)]


def _series(figure, name):
  return next(series for series in figure.series if series.name == name)


def _matmul_rows():
  """Ten GPU kernels and a CPU at sizes from 16 to 1024, several blocks, other shapes, errors, and a second measurement."""
  rows = []
  for step, n in enumerate((16, 64, 256, 1024)):
    rows += [gpu(f"kernel{index}", n, 0.01 * (20 - index) * (1 + n / 100), relative_error=1e-7 * (index + 1))
             for index in range(7)]
    rows += [gpu("naive", n, 0.5 * (1 + n / 100), block_x=x, block_y=8, relative_error=5e-7) for x in (8, 16, 32, 64)]
    rows += [gpu(name, n, 0.05 * (1 + n / 100), relative_error=5e-7) for name in ("auto", "cublas")]
    rows += [cpu("eigen", n, 0.001 * 10 ** step, relative_error=3e-7)]
  rows += [gpu("naive", 16, 1, cols=999, block_x=8, block_y=8), gpu("cublas", 16, 0.5, cols=999)]
  rows += [gpu("cublas", n, 0.06 * (1 + n / 100), timestamp_utc="2026-02-02T00:00:00Z") for n in (16, 64, 256)]
  return rows


def _transpose_rows():
  rows = []
  for n in (64, 512, 2048):
    rows += [transpose(name, n, ms * n * n / 1e8, pct_of_copy=100 / ms, block_x=32, block_y=8)
             for name, ms in (("naive_row", 3), ("naive_col", 2), ("tile_square", 1.5), ("auto", 1.1), ("cublas_geam", 1.2))]
    rows += [_copy(name, n, n * n / 1e8, pct_of_copy=100) for name in ("memcpy", "copy_vector")]
  return rows + [transpose("auto", 7, 1, cols=1000, pct_of_copy=50)]


class AllChartsTest(unittest.TestCase):

  def test_every_chart_has_a_figure_of_one_of_the_examples(self):
    examples = [_group(_matmul_rows()), _group(_transpose_rows())]
    for module in charts.CHARTS:
      with self.subTest(module.__name__):
        self.assertTrue(any(module.figures(group) for group in examples))

  def test_figures_are_as_promised(self):
    for rows in (_matmul_rows(), _transpose_rows()):
      group = _group(rows)
      figures = [figure for module in charts.CHARTS for figure in module.figures(group)]
      self.assertEqual(len({figure.slug for figure in figures}), len(figures))
      for figure in figures:
        with self.subTest(figure.slug):
          self.assertRegex(figure.slug, "^[a-z0-9-]+$")
          self.assertIn("GPU, 2026", figure.subtitle)
          self.assertIn("g1", figure.subtitle)
          self.assertTrue(figure.notes)
          self._check_map(figure) if isinstance(figure, model.HeatMap) else self._check_chart(figure)

  def _check_map(self, figure):
    self.assertEqual(len(figure.values), len(figure.rows))
    for values in figure.values:
      self.assertEqual(len(values), len(figure.columns))

  def _check_chart(self, figure):
    self.assertLessEqual(len([series for series in figure.series if not series.is_reference]), 8)
    self.assertRegex(figure.y.label, r"\(.*\)|/s")
    for series in figure.series:
      self.assertTrue(series.x)
      for values in (series.y, series.low, series.high, series.labels):
        self.assertTrue(values is None or len(values) == len(series.x))
      if series.low is not None:
        for low, y, high in zip(series.low, series.y, series.high):
          self.assertLess(low, y)
          self.assertLess(y, high)

  def test_nothing_of_too_little(self):
    for rows in ([gpu("naive", 64, 1)], [cpu("eigen", 64, 1)], [gpu("naive", 64, 1, cols=7, samples=1)],
                 [gpu("naive", 64, 1, dtype="double")], [transpose("naive_row", 64, 1)], [_copy("memcpy", 64, 1)],
                 [transpose("naive_row", 64, 1, cols=7)]):
      group = _group(rows)
      for module in charts.CHARTS:
        with self.subTest(f"{rows} {module.__name__}"):
          for figure in module.figures(group):
            self.assertIn(module, (phases, roofline))  # Which are of use with one row.


class BySizeTest(unittest.TestCase):

  def test_fast_is_a_high_rate_and_the_interval_turns_round(self):
    figure = rate_by_size.figures(_group([gpu("naive", 100, 2), gpu("naive", 200, 16)]))[0]
    series = _series(figure, "naive")
    self.assertEqual(series.x, [100, 200])
    self.assertAlmostEqual(series.y[0], 1)
    self.assertAlmostEqual(series.low[0], 1 / 1.01)
    self.assertAlmostEqual(series.high[0], 1 / 0.99)

  def test_bounds(self):
    products = rate_by_size.figures(_group(_matmul_rows()))[0]
    bound, = (series for series in products.series if series.is_reference)
    self.assertAlmostEqual(bound.y[0], fake_rows.PEAK_GFLOPS)
    transposes = rate_by_size.figures(_group(_transpose_rows()))[0]
    self.assertEqual({series.name for series in transposes.series if series.is_reference},
                     {"memcpy", "copy_vector", "DRAM peak"})
    other_type = rate_by_size.figures(_group([gpu("naive", n, 1, dtype="double") for n in (8, 16)]))[0]
    self.assertFalse(any(series.is_reference for series in other_type.series))

  def test_times_are_marked_where_the_gpu_begins_to_win(self):
    rows = [gpu("naive", n, 1) for n in (10, 20, 30, 40)] + [cpu("eigen", n, n / 20) for n in (10, 20, 30, 40)]
    kernel, total = time_by_size.figures(_group(rows))
    self.assertEqual([mark.x for mark in kernel.marks], [30])
    self.assertEqual(total.marks, [])
    always = [gpu("naive", n, 1) for n in (10, 20)] + [cpu("eigen", n, 2) for n in (10, 20)]
    self.assertEqual(time_by_size.figures(_group(always))[0].marks, [])
    self.assertAlmostEqual(_series(total, "naive").y[0], 2.7)
    self.assertAlmostEqual(_series(total, "eigen").y[0], 0.5)

  def test_rows_left_out_are_told_of(self):
    notes = " ".join(time_by_size.figures(_group(_matmul_rows()))[0].notes)
    self.assertIn("8 of 11 implementations", notes)
    self.assertIn("2 rows of other shapes", notes)
    self.assertIn("fastest of several blocks at each size: naive", notes)

  def test_small_sizes_end_where_the_cpu_takes_twice_as_long(self):
    rows = [gpu("naive", n, 1) for n in (10, 20, 30, 40, 50)] + [cpu("eigen", n, n / 20) for n in (10, 20, 30, 40, 50)]
    kernel, total = small_sizes.figures(_group(rows))
    self.assertEqual(_series(kernel, "eigen").x, [10, 20, 30, 40])
    self.assertEqual(_series(kernel, "naive").y, [1000] * 4)
    self.assertEqual(_series(total, "eigen").x, [10, 20, 30, 40, 50])
    self.assertFalse(kernel.x.log or kernel.y.log)
    self.assertEqual(small_sizes.figures(_group(rows[:5])), [])
    hopeless = [gpu("naive", n, 1) for n in (10, 20)] + [cpu("eigen", n, 99) for n in (10, 20)]
    self.assertEqual(small_sizes.figures(_group(hopeless)), [])


  def test_sizes_too_near_to_tell_apart_are_left_out_unless_most_are(self):
    rows = [gpu("naive", n, n ** 3 / 1e9) for n in (2048, 4096, 8191, 8192, 8193)]
    rows += [gpu("tiled", n, n ** 3 / 1e9) for n in (2048, 8192)]
    for figure in time_by_size.figures(_group(rows)) + rate_by_size.figures(_group(rows)):
      self.assertEqual(_series(figure, "naive").x, [2048, 4096, 8192])
    self.assertIn("2 sizes", " ".join(time_by_size.figures(_group(rows))[0].notes))
    dense = [gpu("naive", n, 1) for n in range(2000, 2010)]
    self.assertEqual(len(_series(time_by_size.figures(_group(dense))[0], "naive").x), 10)


class PhasesTest(unittest.TestCase):

  def test_stacked_at_the_largest_common_size_without_the_first_launch(self):
    rows = [gpu("naive", n, 4) for n in (8, 16, 32)] + [gpu("tiled", 16, 3), cpu("eigen", 16, 9)]
    call, first_use = phases.figures(_group(rows))
    self.assertIn("n = 16", call.title)
    self.assertEqual({series.name: series.y[0] for series in call.series},
                     {"alloc": 0.1, "host to device": 1.0, "kernel": 4, "device to host": 0.5, "free": 0.1})
    self.assertEqual(_series(call, "kernel").y, [4, 3, 9])
    self.assertTrue(math.isnan(_series(call, "host to device").y[2]))
    self.assertEqual(_series(first_use, "init").y[:2], [200, 200])


class LadderTest(unittest.TestCase):

  def test_gains_over_the_fastest_before(self):
    figure, = ladder.figures(_group(_steps(naive=8, tiled=4, worse=5, best=2)))
    steps, = figure.series
    self.assertEqual(steps.x, ["1  naive", "2  tiled", "3  worse", "4  best"])
    self.assertEqual(steps.labels, ["", "2.00x", "0.80x", "2.00x"])
    self.assertEqual([row[-1] for row in figure.table().rows], steps.labels)
    self.assertEqual(figure.table().columns[-1], "gain")

  def test_only_steps_are_bars_and_in_their_order_wherever_they_stand_in_the_file(self):
    steps = _steps(first=8, second=4, third=2)
    rows = [steps[2], gpu("stream_k", 64, 1.5), steps[0], gpu("auto", 64, 1), gpu("cublas", 64, 0.5), steps[1],
            gpu("cublas_pedantic", 64, 0.7), cpu("eigen", 64, 90, step=3)]
    figure, = ladder.figures(_group(rows))
    bars, *references = figure.series
    self.assertEqual(bars.x, ["1  first", "2  second", "3  third"])
    self.assertEqual(bars.labels, ["", "2.00x", "2.00x"])
    self.assertTrue(all(series.is_reference for series in references))
    self.assertEqual({series.name: series.y[0] / bars.y[0] for series in references}, {"auto": 8, "cublas": 16})
    self.assertEqual([row[:2] for row in figure.table().rows[3:]], [["auto", ""], ["cublas", ""]])
    self.assertEqual(ladder.figures(_group(steps[:2] + rows[3:5])), [])

  def test_steps_of_older_files_are_known_by_their_names(self):
    names_ms = (("naive_uncoalesced", 9), ("stream_k", 1), ("tiled", 4), ("naive", 8))
    self.assertEqual(ladder.steps(_group([gpu(name, 64, ms) for name, ms in names_ms]))["implementation"].tolist(),
                     ["naive_uncoalesced", "naive", "tiled"])

  def test_of_the_file_and_size_with_the_most_kernels(self):
    rows = [gpu(name, n, 1, source="few.csv", step=ord(name)) for name in "abc" for n in (64, 128, 512)]
    rows += [gpu(name, n, 1, source="many.csv", step=200 - ord(name)) for name in "abcd" for n in (64, 128)]
    rows += [gpu("d", 256, 1, source="many.csv", step=1)]
    steps = ladder.steps(_group(rows))
    self.assertEqual(steps["name"].tolist(), ["d", "c", "b", "a"])
    self.assertEqual(set(steps["n"]), {128})
    self.assertEqual(set(steps["source"]), {"many.csv"})

  def test_not_of_two_kernels_nor_of_copies_and_cpus(self):
    self.assertEqual(ladder.figures(_group([*_steps(a=1, b=1), cpu("c", 64, 1, step=3), gpu("cublas", 64, 1)])), [])
    self.assertEqual(ladder.figures(_group([_copy(name, 8, 1, step=1) for name in ("a", "b", "c")])), [])


class RooflineTest(unittest.TestCase):

  def test_points_lie_at_operations_over_bytes_under_the_roof(self):
    rows = [gpu("naive", 600, 1), gpu("naive", 300, 1), gpu("cublas", 1200, 1), gpu("cublas", 12, 1)]
    machine = rows + [transpose("naive_row", 64, 1)]
    figure, = roofline.figures(groups.make_groups(fake_rows.frame(machine))[0])
    kernels = _series(figure, "each kernel at its largest size")
    self.assertEqual(kernels.labels, ["cublas", "naive"])
    self.assertAlmostEqual(kernels.x[0], 2 * 1200 / 12)  # 2 n^3 operations for 3 n^2 elements of 4 bytes.
    self.assertEqual(len(_series(figure, "cublas").x), 1)  # 12 is far below the roof.
    memory, arithmetic = _series(figure, "DRAM peak"), _series(figure, "FP32 peak")
    for x, y in zip(memory.x, memory.y):
      self.assertAlmostEqual(y / x, fake_rows.PEAK_GBPS)
    self.assertEqual((memory.x[-1], memory.y[-1]), (arithmetic.x[0], arithmetic.y[0]))
    self.assertAlmostEqual(arithmetic.y[-1], fake_rows.PEAK_GFLOPS)

  def test_the_bandwidth_may_be_unknown_but_not_the_peak(self):
    figure, = roofline.figures(_group([gpu("naive", 600, 1)]))
    self.assertEqual([series.name for series in figure.series if series.is_reference], ["FP32 peak"])
    self.assertEqual(roofline.figures(_group([gpu("naive", 600, 1, pct_of_peak=math.nan)])), [])
    self.assertEqual(roofline.figures(_group(_transpose_rows())), [])


class MapsTest(unittest.TestCase):

  def test_copy_shares(self):
    figure, = copy_shares.figures(_group(_transpose_rows()))
    self.assertEqual(figure.rows, ["64 x 64", "7 x 1000", "512 x 512", "2048 x 2048"])
    column = figure.columns.index("auto")
    self.assertAlmostEqual(figure.values[0][column], 100 / 1.1)
    self.assertEqual(figure.values[1][column], 50)
    self.assertTrue(math.isnan(figure.values[1][figure.columns.index("memcpy")]))

  def test_copy_shares_keep_what_was_measured_most(self):
    rows = [transpose("naive_row", n, 1, pct_of_copy=9) for n in range(1, 41)]
    rows += [transpose(f"kernel{index}", n, 1, pct_of_copy=9) for index in range(20) for n in (30, 40)]
    figure, = copy_shares.figures(_group(rows))
    self.assertEqual((len(figure.columns), len(figure.rows)), (16, 24))
    self.assertIn("naive_row", figure.columns)
    self.assertIn("30 x 30", figure.rows)
    self.assertTrue(any("16 of 21 kernels" in note for note in figure.notes))
    self.assertTrue(any("24 of 40 shapes" in note for note in figure.notes))

  def test_vendor_shares_are_of_other_shapes_and_paired_where_they_can_be(self):
    rows = [gpu("cublas", 64, 1, cols=8), gpu("naive", 64, 4, cols=8), gpu("auto", 64, 4, cols=8, vs_cublas=0.3),
            gpu("auto", 64, 1), gpu("cublas", 64, 1), gpu("naive", 64, 4, cols=9)]
    figure, = vendor_shares.figures(_group(rows))
    self.assertEqual((figure.rows, figure.columns), (["64 x 8 x 64"], ["naive", "auto"]))
    self.assertEqual(figure.values, [[25, 30]])

  def test_blocks_from_four_up(self):
    def rows(count):
      return [gpu("naive", n, 1 + x, block_x=x, block_y=8) for n in (64, 128) for x in range(1, count + 1)]
    self.assertEqual(blocks.figures(_group(rows(3))), [])
    figure, = blocks.figures(_group(rows(4) + [gpu("naive", 64, 1, block_x=1, block_y=16)]))
    self.assertIn("64 x 64 x 64", figure.title)  # Where most blocks were measured.
    self.assertEqual((figure.rows, figure.columns), (["16", "8"], ["1", "2", "3", "4"]))
    self.assertTrue(math.isnan(figure.values[0][1]))
    self.assertAlmostEqual(figure.values[0][0], 2 * figure.values[1][0])
    self.assertTrue(any("1 x 16" in note for note in figure.notes))


class AccuracyTest(unittest.TestCase):

  def test_the_front_is_what_nothing_beats_in_both(self):
    times_and_errors = {"fast": (1, 4e-7), "same": (1, 4e-7), "middle": (2, 2e-7), "beaten": (3, 3e-7),
                        "late": (3.5, 2.5e-7), "exact": (4, 1e-7), "worst": (5, 9e-7)}
    rows = [gpu(name, 64, ms, relative_error=error) for name, (ms, error) in times_and_errors.items()]
    figure, = accuracy.figures(_group(rows))
    self.assertEqual(_series(figure, "front").x, [4e-7, 2e-7, 1e-7])
    self.assertEqual(sorted(_series(figure, "on the front").x), [1e-7, 2e-7, 4e-7, 4e-7])
    self.assertEqual(sorted(_series(figure, "others").x), [2.5e-7, 3e-7, 9e-7])

  def test_names_have_room(self):
    self.assertEqual(names.names_with_room("abcd", [1, 1, 10, 1], [100, 101, 100, 1]), ["a", "", "c", "d"])
    self.assertEqual(names.names_with_room("ab", [1, 1], [5, 5]), ["a", ""])


class NoiseTest(unittest.TestCase):

  def test_spread_of_the_samples_without_rows_of_few(self):
    rows = [gpu("naive", n, 2, kernel_ms_min=1.8, kernel_ms_p95=2.2, samples=samples)
            for n, samples in ((8, 20), (16, 6), (32, 5))]
    figure = noise.figures(_group(rows))[0]
    self.assertEqual(_series(figure, "naive").x, [8, 16])
    self.assertAlmostEqual(_series(figure, "naive").y[0], 20)

  def test_repeats_of_one_commit(self):
    rows = [gpu("naive", n, ms, timestamp_utc=f"2026-01-0{day}T00:00:00Z")
            for n in (8, 16, 32) for day, ms in ((1, 2), (2, 2.1), (3, 2.2))]
    rows += [gpu("naive", 64, ms, git_commit=commit) for commit, ms in (("g1", 1), ("g2", 9))]
    rows += 2 * [gpu("naive", 128, 1)]  # The same row twice.
    figure = noise.figures(_group(rows))[1]
    self.assertEqual(_series(figure, "on the GPU").x, [2, 2, 2])
    self.assertAlmostEqual(_series(figure, "on the GPU").y[0], 10)

  def test_no_chart_of_hardly_any_repeats(self):
    rows = [gpu("naive", 8, ms, timestamp_utc=f"2026-01-0{ms}T00:00:00Z") for ms in (1, 2)]
    self.assertEqual(noise.figures(_group(rows)), [])


if __name__ == "__main__":
  unittest.main()

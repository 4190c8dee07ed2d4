"""Charts with a bar or a point for each kernel."""

import math
import unittest

from benchmarks.report import fake_rows
from benchmarks.report import group as groups
from benchmarks.report.charts import accuracy
from benchmarks.report.charts import ladder
from benchmarks.report.charts import names
from benchmarks.report.charts import phases
from benchmarks.report.charts import roofline
from benchmarks.report.fake_groups import copy_row, group_of, series_of, transpose_rows

gpu, cpu, transpose = fake_rows.gpu_row, fake_rows.cpu_row, fake_rows.transpose_row


def _steps(**times):
  """Rows of a ladder at n = 64: a step for each name, in this order."""
  return [gpu(name, 64, ms, step=step) for step, (name, ms) in enumerate(times.items(), start=1)]


class PhasesTest(unittest.TestCase):

  def test_stacked_at_the_largest_common_size_without_the_first_launch(self):
    rows = [gpu("naive", n, 4) for n in (8, 16, 32)] + [gpu("tiled", 16, 3), cpu("eigen", 16, 9)]
    call, first_use = phases.figures(group_of(rows))
    self.assertIn("n = 16", call.title)
    self.assertEqual({series.name: series.y[0] for series in call.series},
                     {"alloc": 0.1, "host to device": 1.0, "kernel": 4, "device to host": 0.5, "free": 0.1})
    self.assertEqual(series_of(call, "kernel").y, [4, 3, 9])
    self.assertTrue(math.isnan(series_of(call, "host to device").y[2]))
    self.assertEqual(series_of(first_use, "init").y[:2], [200, 200])


class LadderTest(unittest.TestCase):

  def test_gains_over_the_fastest_before(self):
    figure, = ladder.figures(group_of(_steps(naive=8, tiled=4, worse=5, best=2)))
    steps, = figure.series
    self.assertEqual(steps.x, ["1  naive", "2  tiled", "3  worse", "4  best"])
    self.assertEqual(steps.labels, ["", "2.00x", "0.80x", "2.00x"])
    self.assertEqual([row[-1] for row in figure.table().rows], steps.labels)
    self.assertEqual(figure.table().columns[-1], "gain")

  def test_only_steps_are_bars_and_in_their_order_wherever_they_stand_in_the_file(self):
    steps = _steps(first=8, second=4, third=2)
    rows = [steps[2], gpu("stream_k", 64, 1.5), steps[0], gpu("auto", 64, 1), gpu("cublas", 64, 0.5), steps[1],
            gpu("cublas_pedantic", 64, 0.7), cpu("eigen", 64, 90, step=3)]
    figure, = ladder.figures(group_of(rows))
    bars, *references = figure.series
    self.assertEqual(bars.x, ["1  first", "2  second", "3  third"])
    self.assertEqual(bars.labels, ["", "2.00x", "2.00x"])
    self.assertTrue(all(series.is_reference for series in references))
    self.assertEqual({series.name: series.y[0] / bars.y[0] for series in references}, {"auto": 8, "cublas": 16})
    self.assertEqual([row[:2] for row in figure.table().rows[3:]], [["auto", ""], ["cublas", ""]])
    self.assertEqual(ladder.figures(group_of(steps[:2] + rows[3:5])), [])

  def test_steps_of_older_files_are_known_by_their_names(self):
    names_ms = (("naive_uncoalesced", 9), ("stream_k", 1), ("tiled", 4), ("naive", 8))
    self.assertEqual(ladder.steps(group_of([gpu(name, 64, ms) for name, ms in names_ms]))["implementation"].tolist(),
                     ["naive_uncoalesced", "naive", "tiled"])

  def test_of_the_file_and_size_with_the_most_kernels(self):
    rows = [gpu(name, n, 1, source="few.csv", step=ord(name)) for name in "abc" for n in (64, 128, 512)]
    rows += [gpu(name, n, 1, source="many.csv", step=200 - ord(name)) for name in "abcd" for n in (64, 128)]
    rows += [gpu("d", 256, 1, source="many.csv", step=1)]
    steps = ladder.steps(group_of(rows))
    self.assertEqual(steps["name"].tolist(), ["d", "c", "b", "a"])
    self.assertEqual(set(steps["n"]), {128})
    self.assertEqual(set(steps["source"]), {"many.csv"})

  def test_not_of_two_kernels_nor_of_copies_and_cpus(self):
    self.assertEqual(ladder.figures(group_of([*_steps(a=1, b=1), cpu("c", 64, 1, step=3), gpu("cublas", 64, 1)])), [])
    self.assertEqual(ladder.figures(group_of([copy_row(name, 8, 1, step=1) for name in ("a", "b", "c")])), [])


class RooflineTest(unittest.TestCase):

  def test_points_lie_at_operations_over_bytes_under_the_roof(self):
    rows = [gpu("naive", 600, 1), gpu("naive", 300, 1), gpu("cublas", 1200, 1), gpu("cublas", 12, 1)]
    machine = rows + [transpose("naive_row", 64, 1)]
    figure, = roofline.figures(groups.make_groups(fake_rows.frame(machine))[0])
    kernels = series_of(figure, "each kernel at its largest size")
    self.assertEqual(kernels.labels, ["cublas", "naive"])
    self.assertAlmostEqual(kernels.x[0], 2 * 1200 / 12)  # 2 n^3 operations for 3 n^2 elements of 4 bytes.
    self.assertEqual(len(series_of(figure, "cublas").x), 1)  # 12 is far below the roof.
    memory, arithmetic = series_of(figure, "DRAM peak"), series_of(figure, "FP32 peak")
    for x, y in zip(memory.x, memory.y):
      self.assertAlmostEqual(y / x, fake_rows.PEAK_GBPS)
    self.assertEqual((memory.x[-1], memory.y[-1]), (arithmetic.x[0], arithmetic.y[0]))
    self.assertAlmostEqual(arithmetic.y[-1], fake_rows.PEAK_GFLOPS)

  def test_the_bandwidth_may_be_unknown_but_not_the_peak(self):
    figure, = roofline.figures(group_of([gpu("naive", 600, 1)]))
    self.assertEqual([series.name for series in figure.series if series.is_reference], ["FP32 peak"])
    self.assertEqual(roofline.figures(group_of([gpu("naive", 600, 1, pct_of_peak=math.nan)])), [])
    self.assertEqual(roofline.figures(group_of(transpose_rows())), [])


class AccuracyTest(unittest.TestCase):

  def test_the_front_is_what_nothing_beats_in_both(self):
    times_and_errors = {"fast": (1, 4e-7), "same": (1, 4e-7), "middle": (2, 2e-7), "beaten": (3, 3e-7),
                        "late": (3.5, 2.5e-7), "exact": (4, 1e-7), "worst": (5, 9e-7)}
    rows = [gpu(name, 64, ms, relative_error=error) for name, (ms, error) in times_and_errors.items()]
    figure, = accuracy.figures(group_of(rows))
    self.assertEqual(series_of(figure, "front").x, [4e-7, 2e-7, 1e-7])
    self.assertEqual(sorted(series_of(figure, "on the front").x), [1e-7, 2e-7, 4e-7, 4e-7])
    self.assertEqual(sorted(series_of(figure, "others").x), [2.5e-7, 3e-7, 9e-7])

  def test_names_have_room(self):
    self.assertEqual(names.names_with_room("abcd", [1, 1, 10, 1], [100, 101, 100, 1]), ["a", "", "c", "d"])
    self.assertEqual(names.names_with_room("ab", [1, 1], [5, 5]), ["a", ""])


if __name__ == "__main__":
  unittest.main()

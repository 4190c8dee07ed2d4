import unittest

from benchmarks.report import crossovers
from benchmarks.report import fake_rows
from benchmarks.report import group
from benchmarks.report import roles


def _rows(gpu, cpu, **cells):
  """Returns rows by size of `gpu` and `cpu`, dicts from n to ms, all with intervals of 1 % on either side."""
  rows = [fake_rows.gpu_row("cublas", n, ms, **cells) for n, ms in gpu.items()]
  rows += [fake_rows.cpu_row("eigen", n, ms) for n, ms in cpu.items()]
  return roles.by_size(group.make_groups(fake_rows.frame(rows))[0])


class FindCrossingTest(unittest.TestCase):

  def test_start(self):
    cpu = {10: 1, 20: 2, 30: 3, 40: 4}
    cases = (  # what, times of the GPU, start, size before it
        ("crosses", {10: 2, 20: 3, 30: 2, 40: 2}, 30, 20),
        ("always faster", {10: 0.5, 20: 0.5, 30: 0.5, 40: 0.5}, 10, None),
        ("never faster", {10: 2, 20: 3, 30: 4, 40: 5}, None, None),
        ("intervals touch where it would begin", {10: 2, 20: 1.99, 30: 2, 40: 2}, 30, 20),
        ("wins, loses and wins again", {10: 0.5, 20: 2.5, 30: 2, 40: 2}, 30, 20),
        ("loses at the end", {10: 0.5, 20: 0.5, 30: 0.5, 40: 5}, None, None),
        ("noise in between", {10: 0.5, 20: 2, 30: 2, 40: 2}, 30, 20),
        ("wins at one size only", {10: 2, 20: 3, 30: 4, 40: 2}, None, None),
        ("sizes are missing", {10: 2, 30: 2, 40: 2, 50: 9}, 30, 10),
    )
    for what, gpu, start, before in cases:
      with self.subTest(what):
        crossing = crossovers.find_crossing(_rows(gpu, cpu), "cublas", "eigen", "kernel")
        self.assertEqual((crossing.start, crossing.before), (start, before))
        self.assertEqual(crossing.always(), what == "always faster")
        self.assertEqual(set(crossing.sizes), set(gpu) & set(cpu))

  def test_fewer_than_two_sizes_of_both_tell_nothing(self):
    for gpu in ({}, {10: 0.5}, {10: 0.5, 50: 0.5}):
      with self.subTest(gpu):
        rows = _rows({**gpu, 60: 1}, {10: 1, 20: 2})
        self.assertIsNone(crossovers.find_crossing(rows, "cublas", "eigen", "kernel"))

  def test_total_is_compared_without_intervals_and_without_rows_that_lack_it(self):
    rows = _rows({10: 0.1, 20: 0.1, 30: 0.1}, {10: 1, 20: 1.7, 30: 1.81})
    rows.loc[(rows["name"] == "cublas") & (rows["n"] == 20), "total_ms"] = float("nan")
    self.assertIsNone(crossovers.find_crossing(rows, "cublas", "eigen", "total").start)  # One size, 30.
    self.assertEqual(crossovers.find_crossing(rows, "cublas", "eigen", "total").sizes, (10, 30))
    rows = _rows({10: 0.1, 20: 0.1, 30: 0.1}, {10: 1, 20: 1.81, 30: 1.81})
    self.assertEqual(crossovers.find_crossing(rows, "cublas", "eigen", "total").start, 20)

  def test_without_interval_the_median_counts(self):
    rows = _rows({10: 0.995, 20: 0.5}, {10: 1, 20: 1}, kernel_ms_ci_low=float("nan"), kernel_ms_ci_high=float("nan"))
    self.assertEqual(crossovers.find_crossing(rows, "cublas", "eigen", "kernel").start, None)
    rows.loc[rows["name"] == "eigen", ["kernel_ms_ci_low", "kernel_ms_ci_high"]] = float("nan")
    self.assertEqual(crossovers.find_crossing(rows, "cublas", "eigen", "kernel").start, 10)


class CrossingsTest(unittest.TestCase):

  def test_without_a_cpu_there_are_none(self):
    self.assertEqual(crossovers.crossings(_rows({10: 1, 20: 2}, {}), "kernel"), [])

  def test_the_vendors_and_the_projects_best_over_the_fastest_cpu(self):
    rows = [fake_rows.gpu_row(name, n, 1) for name in ("naive", "auto", "cublas") for n in (10, 20)]
    rows += [fake_rows.cpu_row(name, n, ms) for name, ms in (("slow", 9), ("eigen", 5)) for n in (10, 20)]
    rows = roles.by_size(group.make_groups(fake_rows.frame(rows))[0])
    self.assertEqual([(found.winner, found.loser) for found in crossovers.crossings(rows, "kernel")],
                     [("auto", crossovers.BEST_CPU), ("cublas", crossovers.BEST_CPU)])


class BestCpuTest(unittest.TestCase):

  def test_the_fastest_at_each_size_is_what_the_gpu_is_compared_with(self):
    rows = [fake_rows.gpu_row("auto", n, 1) for n in (10, 20, 30, 40)]
    rows += [fake_rows.cpu_row("one_core", n, ms) for n, ms in ((10, 0.5), (20, 0.9), (30, 5), (40, 9))]
    rows += [fake_rows.cpu_row("all_cores", n, 0.95 if n == 30 else 2) for n in (10, 20, 30, 40)]
    rows += [fake_rows.gpu_row("auto", n, 1) for n in (50,)] + [fake_rows.cpu_row("all_cores", 50, 2)]
    rows = roles.by_size(group.make_groups(fake_rows.frame(rows))[0])
    self.assertEqual(crossovers.best_cpu(rows)["name"].tolist(),
                     ["one_core", "one_core", "all_cores", "all_cores", "all_cores"])
    # Each of the two alone would let it win earlier.
    found, = crossovers.crossings(rows, "kernel")
    self.assertEqual((found.loser, found.start, found.before), (crossovers.BEST_CPU, 40, 30))


if __name__ == "__main__":
  unittest.main()

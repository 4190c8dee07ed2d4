import math
import unittest

from benchmarks.report import conclusions
from benchmarks.report import fake_rows
from benchmarks.report import group as groups

gpu, cpu, transpose = fake_rows.gpu_row, fake_rows.cpu_row, fake_rows.transpose_row


def _sentences(rows, index=0):
  return conclusions.sentences(groups.make_groups(fake_rows.frame(rows))[index])


class ConclusionsTest(unittest.TestCase):

  def _check(self, rows, has=(), has_not=()):
    """Checks that for each list of words in `has` one sentence has them all, and that no sentence has a word of `has_not`."""
    found = _sentences(rows)
    self.assertLessEqual(len(found), 12)
    for sentence in found:
      self.assertRegex(sentence, r"^[A-Z0-9].*\.$")
      self.assertNotRegex(sentence, r"\bnan\b|\binf\b|None| ,|  |\b1 (rows|sizes|shapes)\b")
    for words in has:
      self.assertTrue(any(all(word in sentence for word in words) for sentence in found), (words, found))
    for word in has_not:
      self.assertFalse(any(word in sentence for sentence in found), (word, found))

  def test_who_wins_over_the_cpu(self):
    sizes = (10, 20, 30, 40)
    cases = (  # CPU's times over the GPU's at the sizes, words of the sentence
        ((0.5, 0.9, 1.5, 2), ("auto is faster than eigen from n = 30 on", "at 20")),
        ((2, 2, 2, 2), ("auto is faster than eigen at all 4 sizes measured, 10 to 40",)),
        ((0.5, 0.5, 0.5, 0.5), ("eigen is faster than auto at all 4 sizes measured, 10 to 40",)),
        ((2, 0.5, 0.5, 0.5), ("eigen is faster than auto from n = 20 on",)),
        ((0.5, 1.5, 0.5, 1.5), ("neither auto nor eigen is significantly faster",)),
        ((1, 1, 1, 1), ("neither auto nor eigen is significantly faster",)),
    )
    for ratios, words in cases:
      with self.subTest(ratios):
        rows = [gpu("auto", n, 1) for n in sizes] + [cpu("eigen", n, ratio) for n, ratio in zip(sizes, ratios)]
        self._check(rows, has=[("By kernel time", *words)])

  def test_without_a_cpu_nothing_is_said_of_it(self):
    self._check([gpu("auto", n, 1) for n in (10, 20)], has_not=["CPU", "faster than eigen"])

  def test_times_as_fast_at_the_largest_common_size(self):
    rows = [gpu("auto", n, 0.5) for n in (10, 20, 30)] + [cpu("eigen", n, 4.4) for n in (10, 20)]
    self._check(rows, has=[("At n = 20", "500 us", "4.4 ms", "8.8 times as fast, with copies 2 times as fast")])

  def test_ratio_to_the_vendor(self):
    rows = [gpu("auto", n, ms) for n, ms in ((10, 1), (20, 2), (30, 4))] + [gpu("cublas", n, 2) for n in (10, 20, 30)]
    self._check(rows, has=[("At n = 30 auto has 0.5 times the speed of cublas",
                            "over 3 sizes it has between 0.5 (n = 30) and 2 (n = 10), with a median of 1")])
    # cuBLAS has no rows of its own.
    with_pairs = [gpu("auto", n, 1, vs_cublas=share) for n, share in ((10, 1.25), (20, 0.75))]
    self._check(with_pairs, has=[("At n = 20 auto has 0.75 times the speed of cublas", "1.25 (n = 10)")])
    self._check([gpu("auto", 10, 1), gpu("cublas", 20, 1)], has_not=["speed of cublas"])
    one_size = [gpu("auto", 10, 1), gpu("cublas", 10, 2)]
    self._check(one_size, has=[("has 2 times the speed of cublas.",)])

  def test_steps_of_the_ladder(self):
    rows = [gpu(name, 64, ms, step=step) for step, (name, ms) in enumerate(
        (("naive", 8), ("tiled", 4), ("worse", 5), ("best", 2)), start=1)] + [gpu("auto", 64, 1)]
    self._check(rows, has=[("sweep.csv at n = 64", "best, has 4 times", "naive", "tiled 2.00x and best 2.00x"),
                           ("1 of its 4 steps is slower",)],
                has_not=["worse"])
    falling = [gpu(name, 64, ms, step=ms) for name, ms in (("a", 1), ("b", 2), ("c", 3))]
    self._check(falling, has=[("no step is more than 0.5 % faster than the first, a",)])

  def test_what_bounds(self):
    # 2 n^3 = 2 GFLOP at n = 1000, of 10000 GFLOP/s: 0.2 ms. 12 n^2 bytes at 1000 GB/s: 0.012 ms.
    memory = transpose("naive_row", 64, 1)
    cases = (
        ([gpu("auto", 1000, 0.3)], ("66.7 % of the FP32 peak: arithmetic bounds it",)),
        ([gpu("auto", 1000, 0.3), memory], ("66.7 % of the FP32 peak and 4 % of the DRAM peak: arithmetic bounds it",)),
        ([gpu("auto", 1000, 2), memory], ("10 % of the FP32 peak", "something else bounds it")),
        ([gpu("auto", 10, 0.003)], ("its launch bounds it",)),
        ([gpu("auto", 1000, 1, dtype="double"), memory],
         ("memory does not bound it, and no row states the peak of double",)),
        ([transpose("auto", 1000, 0.01)], ("80 % of the DRAM peak: memory bounds it",)),
        ([transpose("auto", 1000, 0.1)], ("8 % of the DRAM peak: it is below half of these limits",)),
    )
    for rows, words in cases:
      with self.subTest(words):
        self._check(rows, has=[words])
    unknown = [gpu("auto", 1000, 1, dtype="double")]
    self._check([transpose("auto", 1000, 0.005, l2="hot")], has_not=["peak"])
    self._check(unknown, has=[("auto is the fastest with 2000 GFLOP/s.",)], has_not=["bounds"])

  def test_what_bounds_without_a_rate(self):
    rows = [gpu("auto", 1000, 1), gpu("naive", 1000, 2)]
    larger = [gpu(name, 2000, 8, gflops=math.nan) for name in ("auto", "naive")]
    self._check(rows + larger, has=[("At n = 1000, the largest square with a rate, auto is the fastest",)])
    self._check(rows + larger[:1] + [gpu("naive", 2000, 16)], has=[("At n = 2000, the largest square, naive",)])
    self._check(larger, has_not=["the largest square"])
    no_shares = {"gbps": math.nan, "pct_of_peak": math.nan, "empty_kernel_ms": math.nan}
    self._check([gpu("auto", 1000, 1, **no_shares)], has=[("auto is the fastest with 2000 GFLOP/s.",)])

  def test_launches_up_to_the_size_that_is_longer(self):
    rows = [gpu("auto", n, ms) for n, ms in ((10, 0.003), (20, 0.0035), (30, 0.006), (40, 0.0035))]
    self._check(rows, has=[("Up to n = 20", "2 us", "launch bounds it")])
    self._check(rows[2:3], has_not=["Up to n"])

  def test_share_of_a_copy(self):
    rows = [transpose("auto", n, 1, pct_of_copy=share) for n, share in ((8, 90), (16, 95), (32, 99))]
    rows += [transpose("other", 8, 2, pct_of_copy=10)]
    self._check(rows, has=[("Over 3 shapes auto has a median of 95 %", "90 % at 8 x 8 and 99 % at 32 x 32")])
    self._check(rows[:1], has=[("At 8 x 8 auto has 90 % of the speed of a copy",)])

  def test_phases(self):
    self._check([gpu("auto", 8, 3.3, h2d_ms=4, d2h_ms=2.5)], has=[("10 ms", "device are 65 % of it and the kernel is 33 %")])

  def test_accuracy(self):
    rows = [gpu("auto", 8, 1, relative_error=1e-7, max_error_over_bound=0.1), gpu("naive", 8, 1, relative_error=4e-7)]
    self._check(rows, has=[("1e-07 (auto) and 4e-07 (naive)", "at most 0.1 of its bound")])
    self._check(rows + [gpu("tiled", 8, 1, relative_error=1, max_error_over_bound=20)], has=[("20 times its bound",)],
                has_not=["at most 20"])
    self._check(rows[:1], has_not=["relative error"])
    same = [gpu(name, 8, 1, relative_error=error) for name, error in (("auto", 1.62e-7), ("naive", 1.618e-7))]
    self._check(same, has=[("relative error is 1.6e-07 with all 2 implementations",)])

  def test_throttling_is_told_only_where_it_was(self):
    rows = [gpu("auto", 8, 1, throttle_reason="none"), gpu("auto", 16, 2, throttle_reason="")]
    self._check(rows, has_not=["clock"])
    rows += [gpu("auto", n, n, throttle_reason="sw_power_cap", sm_clock_mhz=1500) for n in (32, 64)]
    self._check(rows, has=[("2 rows of 4 (sw_power_cap)", "auto at 64 x 64 x 64", "1500 MHz")])
    rows[-1]["sm_clock_mhz"] = math.nan
    self._check(rows, has=[("auto at 64 x 64 x 64.",)])

  def test_noise_is_of_rows_with_samples_enough(self):
    rows = [gpu("auto", 8, 1, kernel_ms_min=0.9, kernel_ms_p95=1.3), cpu("eigen", 8, 1, samples=3)]
    self._check(rows, has=[("40 % on the GPU (1 row)",)], has_not=["on the CPU"])
    self._check([gpu("auto", 8, 1, samples=1)], has_not=["spread"])

  def test_rows_of_a_cpu_alone(self):
    self._check([cpu(name, n, n) for name in ("eigen", "cpu_naive") for n in (8, 16)])


if __name__ == "__main__":
  unittest.main()

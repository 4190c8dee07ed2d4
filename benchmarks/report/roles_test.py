import math
import unittest

from benchmarks.report import fake_rows
from benchmarks.report import group
from benchmarks.report import peaks
from benchmarks.report import roles


def _by_size(rows):
  return roles.by_size(group.make_groups(fake_rows.frame(rows))[0])


class BySizeTest(unittest.TestCase):

  def test_of_several_blocks_the_fastest(self):
    rows = _by_size([fake_rows.gpu_row("naive", n, ms, block_x=x, block_y=8)
                     for n, x, ms in ((64, 8, 3), (64, 16, 2), (64, 32, 4), (32, 8, 1))])
    self.assertEqual(rows[["n", "block_x", "kernel_ms_median"]].values.tolist(), [[32, 8, 1], [64, 16, 2]])

  def test_other_shapes_are_no_squares(self):
    rows = _by_size([fake_rows.gpu_row("naive", 64, 1), fake_rows.gpu_row("naive", 64, 1, depth=32),
                     fake_rows.gpu_row("naive", 64, 1, cols=32)])
    self.assertEqual(len(rows), 1)

  def test_names_tell_maths_and_memories_apart_where_there_are_several(self):
    rows = [fake_rows.gpu_row("cublas", 64, 1, math="default", host_memory=memory) for memory in ("pageable", "pinned")]
    rows += [fake_rows.cpu_row("eigen", 64, 1, math=math_mode) for math_mode in ("avx2", "avx512")]
    rows += [fake_rows.gpu_row("naive", 64, 1, math="fma")]
    self.assertEqual(set(_by_size(rows)["name"]),
                     {"cublas (pageable)", "cublas (pinned)", "eigen (avx2)", "eigen (avx512)", "naive"})

  def test_a_profilers_rows_are_not_times(self):
    rows = _by_size([fake_rows.gpu_row("naive", 64, 1), fake_rows.gpu_row("tiled", 64, 0.1, host_memory="")])
    self.assertEqual(rows["name"].tolist(), ["naive"])


class RolesTest(unittest.TestCase):

  def test_who_is_who(self):
    gpu, cpu = fake_rows.gpu_row, fake_rows.cpu_row
    cases = (  # rows, (cpu, baseline, own, vendor)
        ([gpu("naive", 8, 3), gpu("tiled", 8, 2), gpu("cublas", 8, 1), cpu("eigen", 8, 4)],
         ("eigen", "naive", "tiled", "cublas")),
        ([gpu("naive", 8, 1), gpu("auto", 8, 2), gpu("cublas_pedantic", 8, 0.5)], (None, "naive", "auto", None)),
        ([cpu("cpu_naive", 8, 9), cpu("eigen", 8, 1)], ("eigen", None, None, None)),
        ([fake_rows.transpose_row("memcpy", 8, 1, operation="copy"), fake_rows.transpose_row("cublas_geam", 8, 2)],
         (None, None, None, "cublas_geam")),
    )
    for rows, expected in cases:
      with self.subTest(expected):
        who = roles.find_roles(_by_size(rows))
        self.assertEqual((who.cpu, who.baseline, who.own, who.vendor), expected)

  def test_a_name_alone_at_its_sizes_is_not_near_the_fastest(self):
    rows = [fake_rows.gpu_row("alone", 100, 9), fake_rows.gpu_row("fast", 8, 1), fake_rows.gpu_row("slow", 8, 2)]
    table = roles.closeness(_by_size(rows))
    self.assertEqual(table.index.tolist(), ["fast", "slow", "alone"])
    self.assertEqual(table["share"].tolist()[:2], [1, 0.5])

  def test_chosen_are_eight_with_all_roles(self):
    rows = [fake_rows.gpu_row(f"kernel{index}", n, 1 + index) for index in range(12) for n in (8, 16)]
    rows += [fake_rows.gpu_row("naive", 8, 99), fake_rows.gpu_row("cublas", 8, 50), fake_rows.cpu_row("eigen", 8, 500)]
    chosen = roles.chosen(_by_size(rows))
    self.assertEqual(chosen, ["kernel0", "kernel1", "kernel2", "kernel3", "kernel4", "naive", "cublas", "eigen"])

  def test_largest_common_size(self):
    rows = [fake_rows.gpu_row(name, n, 1) for name, sizes in (("a", (8, 16, 32)), ("b", (8, 16)), ("c", (16, 8)))
            for n in sizes]
    self.assertEqual(roles.largest_common_size(_by_size(rows)), 16)
    self.assertIsNone(roles.largest_common_size(_by_size(rows)[:0]))


def _machine_rows(rows):
  return group.make_groups(fake_rows.frame(rows))[0].machine_rows


class PeaksTest(unittest.TestCase):

  def test_peaks_are_what_rows_state_their_share_of(self):
    rows = _machine_rows([fake_rows.gpu_row("naive", 64, 1), fake_rows.transpose_row("naive_row", 64, 1)])
    self.assertAlmostEqual(peaks.fp32_gflops(rows), fake_rows.PEAK_GFLOPS)
    self.assertAlmostEqual(peaks.memory_gbps(rows), fake_rows.PEAK_GBPS)

  def test_bandwidth_of_products_that_memory_bounds(self):
    # A matrix and a vector: 4 n^2 bytes nearly, at 1000 GB/s.
    n = 1000
    bound = 4 * (n * n + 2 * n) / fake_rows.PEAK_GBPS / 1e6
    rows = _machine_rows([fake_rows.gpu_row("thin", n, 0.01, cols=1, bound_ms=bound)])
    self.assertAlmostEqual(peaks.memory_gbps(rows), fake_rows.PEAK_GBPS)

  def test_unknown_where_no_row_tells(self):
    rows = _machine_rows([fake_rows.gpu_row("naive", 64, 1, dtype="double"), fake_rows.cpu_row("eigen", 64, 1)])
    self.assertTrue(math.isnan(peaks.fp32_gflops(rows)))
    self.assertTrue(math.isnan(peaks.memory_gbps(rows)))
    arithmetic_bound = _machine_rows([fake_rows.gpu_row("naive", 1000, 1, bound_ms=0.2)])
    self.assertTrue(math.isnan(peaks.memory_gbps(arithmetic_bound)))


if __name__ == "__main__":
  unittest.main()

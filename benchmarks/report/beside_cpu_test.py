import math
import unittest

from benchmarks.report import beside_cpu
from benchmarks.report import fake_rows
from benchmarks.report import group as groups


def _tables(rows):
  return beside_cpu.tables(groups.make_groups(fake_rows.frame(rows))[0])


def _gpu(name, times):
  return [fake_rows.gpu_row(name, n, ms) for n, ms in times.items()]


def _cpu(name, times):
  return [fake_rows.cpu_row(name, n, ms) for n, ms in times.items()]


class BesideCpuTest(unittest.TestCase):

  def test_each_size_has_the_fastest_on_the_cpu_and_the_sentence_both_crossings(self):
    # A whole call of the fake GPU takes 1.7 ms more than its kernel.
    rows = [*_gpu("auto", {8: 1, 16: 1, 32: 1, 64: 1}), *_cpu("one_core", {8: 0.5, 16: 2, 32: 9, 64: 30}),
            *_cpu("all_cores", {8: 4, 16: 4, 32: 3, 64: 3}), *_cpu("other", {128: 1})]
    table, = _tables(rows)
    self.assertEqual([row[table.columns.index("fastest on the CPU")] for row in table.rows],
                     ["one_core", "one_core", "all_cores", "all_cores"])
    first = dict(zip(table.columns, table.rows[0]))
    self.assertEqual([first[name] for name in ("n", "kernel (ms)", "to the GPU (ms)", "back (ms)", "its kernel (ms)")],
                     [8, 1, 1.0, 0.5, 0.5])
    self.assertAlmostEqual(first["whole call (ms)"], 2.7)
    self.assertAlmostEqual(first["CPU over kernel"], 0.5)
    self.assertAlmostEqual(first["CPU over whole call"], 0.5 / 2.7)
    self.assertTrue(table.note.startswith("auto is faster than the best CPU: kernel alone from n = 16 on; with allocation and "
                                          "copies from n = 32 on. "), table.note)

  def test_wins_everywhere_nowhere_and_beside_a_single_implementation(self):
    rows = [*_gpu("auto", {8: 1, 16: 1}), *_cpu("eigen", {8: 2, 16: 2})]
    self.assertIn("auto is faster than eigen: kernel alone at all 2 sizes of both; with allocation and copies not at the "
                  "largest sizes of both, up to n = 16. ", _tables(rows)[0].note)

  def test_ours_and_the_vendors_have_a_table_each(self):
    rows = [*_gpu("auto", {8: 1, 16: 1}), *_gpu("cublas", {16: 1, 32: 1}), *_cpu("eigen", {8: 2, 16: 2, 32: 2})]
    self.assertEqual([(table.title.split()[0], [row[0] for row in table.rows]) for table in _tables(rows)],
                     [("auto", [8, 16]), ("cublas", [16, 32])])

  def test_without_common_sizes_there_is_none(self):
    self.assertEqual(_tables(_gpu("auto", {8: 1, 16: 1})), [])
    self.assertEqual(_tables([*_gpu("auto", {8: 1}), *_cpu("eigen", {16: 1})]), [])

  def test_phases_that_a_file_lacks_stay_empty(self):
    rows = [fake_rows.gpu_row("auto", 8, 1, h2d_ms=math.nan, total_ms=math.nan), *_cpu("eigen", {8: 2})]
    row = dict(zip(_tables(rows)[0].columns, _tables(rows)[0].rows[0]))
    self.assertTrue(math.isnan(row["to the GPU (ms)"]) and math.isnan(row["CPU over whole call"]))


if __name__ == "__main__":
  unittest.main()

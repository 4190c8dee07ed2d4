import math
import unittest

from benchmarks.report import fake_rows
from benchmarks.report import precisions
from benchmarks.report import results

gpu, cpu = fake_rows.gpu_row, fake_rows.cpu_row

_ROWS = [
    gpu("tiled", 64, 9, relative_error=1e-6),
    gpu("auto", 64, 8, relative_error=1e-6, math="fma"),
    gpu("auto", 64, 2, relative_error=2e-7, precision="fp32_split"),
    gpu("cublas", 64, 10, relative_error=2e-6, precision="fp32_split", math="default"),
    gpu("tensor", 64, 1, relative_error=2e-3, dtype="bf16"),
    gpu("cublas", 64, 0.9, relative_error=2e-3, dtype="bf16", math="default"),
    gpu("tensor_int8", 64, 0.5, relative_error=0, dtype="s8_int", layout="nt"),
]


def _sections(rows, machine="GPU"):
  return precisions.make_sections(results.Results(fake_rows.frame(rows, machine), {}, []))


def _table(rows):
  section, = _sections(rows)
  return {(kind, side): implementation for kind, side, implementation, *_ in section.tables[0].rows}


class PrecisionsTest(unittest.TestCase):

  def test_the_fastest_of_each_kind_and_side(self):
    """The vendor's FP32 row stands at a point of another precision, which it does not take."""
    self.assertEqual(_table(_ROWS), {
        ("float", "ours"): "auto", ("float fp32_split", "ours"): "auto", ("float", "vendor"): "cublas",
        ("bf16", "ours"): "tensor", ("bf16", "vendor"): "cublas", ("s8_int", "ours"): "tensor_int8"})

  def test_the_front(self):
    section, = _sections(_ROWS)
    chart, = section.figures
    points = {series.name: sorted(series.x) for series in chart.series}
    self.assertEqual(points["front"], [2e-7, 2e-3])
    self.assertEqual(points["others"], [1e-6, 2e-6, 2e-3])
    self.assertTrue(any("tensor_int8 s8_int" in note and "Exact" in note for note in chart.notes), chart.notes)
    self.assertIn("n = 64", chart.title)

  def test_rows_of_other_problems_are_left_out(self):
    others = [gpu("fast", 64, 0.01, **{"relative_error": 1e-9, **cells}) for cells in
              ({"beta": 1.0}, {"batch": 8.0}, {"epilogue": "bias"}, {"cols": 32}, {"status": "mismatch"},
               {"operation": "transpose"}, {"relative_error": math.nan})]
    others.append(cpu("fast", 64, 0.01, relative_error=1e-9))
    self.assertEqual(_table(_ROWS + others), _table(_ROWS))

  def test_the_size_with_the_most_kinds(self):
    self.assertEqual(_table(_ROWS + [gpu("auto", 128, 70, relative_error=1e-6)]), _table(_ROWS))

  def test_modes_that_lose_more_are_kinds_of_their_own(self):
    rows = _ROWS + [gpu("cublas", 64, 3, relative_error=1e-4, math="tf32")]
    self.assertEqual(_table(rows)["float tf32", "vendor"], "cublas")

  def test_schemes_are_kinds_of_their_own(self):
    rows = _ROWS + [gpu(name, 64, ms, relative_error=1e-7, precision="fp32_split", math="split")
                    for name, ms in (("split_fp16", 2), ("split_bf16_6", 3))]
    table = _table(rows)
    self.assertEqual(table["float split_fp16", "ours"], "split_fp16")
    self.assertEqual(table["float split_bf16_6", "ours"], "split_bf16_6")
    self.assertEqual(table["float fp32_split", "ours"], "auto")

  def test_the_vendor_computes_in_the_precision_of_its_point_but_has_no_split(self):
    rows = [*_ROWS, gpu("cublaslt", 64, 3, relative_error=1e-4, precision="tf32", math="default")]
    table = _table(rows)
    self.assertEqual(table["float tf32", "vendor"], "cublaslt")
    self.assertEqual(table["float", "vendor"], "cublas")

  def test_the_table_has_the_rate_over_sgemm_and_the_errors_that_are_known(self):
    section, = _sections([{**row, "median_error": 1e-8} for row in _ROWS])
    table = section.tables[0]
    self.assertNotIn("maximum error", table.columns)
    self.assertIn("median error", table.columns)
    ratios = {tuple(row[:2]): row[table.columns.index("rate over SGEMM's")] for row in table.rows}
    self.assertAlmostEqual(ratios["float fp32_split", "ours"], 5)
    self.assertAlmostEqual(ratios["float", "vendor"], 1)

  def test_a_file_with_the_whole_front_stands_alone(self):
    kinds = ("double", "float", "bf16", "fp16", "s8_int", "e4m3_bf16", "bf16_float", "fp16_float")
    later, earlier = "2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z"
    front = [gpu("old", 64, 5, dtype=kind, relative_error=1e-6, source="front.csv", timestamp_utc=earlier) for kind in kinds]
    rows = [{**row, "source": "sweep.csv", "timestamp_utc": later} for row in _ROWS]
    self.assertEqual({name for name in _table(rows + front).values()}, {"old"})
    self.assertIn("auto", _table(rows + front[1:]).values())

  def test_few_kinds_are_no_front(self):
    self.assertEqual(_sections(_ROWS[:4]), [])
    self.assertEqual(_sections([cpu("eigen", 64, 1, relative_error=1e-6)]), [])

  def test_machines_are_kept_apart(self):
    self.assertEqual([section.title for section in _sections(_ROWS, "Two")], ["Types and precisions, Two"])


if __name__ == "__main__":
  unittest.main()

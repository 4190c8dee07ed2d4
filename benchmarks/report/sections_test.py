import math
import unittest
from unittest import mock
import warnings

import pandas

from benchmarks.report import columns
from benchmarks.report import model
from benchmarks.report import fake_rows
from benchmarks.report import results
from benchmarks.report import sections

gpu, cpu, transpose = fake_rows.gpu_row, fake_rows.cpu_row, fake_rows.transpose_row


def _sections(rows, other_files=None):
  return sections.make_sections(results.Results(rows, other_files or {}, []))


def _kinds(section):
  return {figure.slug.split("-matmul")[0] for figure in section.figures}


class SectionsTest(unittest.TestCase):

  def test_order(self):
    rows = [transpose("naive_row", 8, 1), gpu("naive", 8, 1, dtype="double"), gpu("naive", 8, 1),
            gpu("naive", 8, 1, l2="hot"), transpose("naive_row", 8, 1, dtype="double")]
    titles = [section.title for section in _sections(fake_rows.frame(rows))]
    self.assertEqual(titles, ["Matrix multiplication, float", "Matrix multiplication, float, hot L2",
                              "Matrix multiplication, double",
                              "Matrix transpose, float", "Matrix transpose, double"])

  def test_an_operation_that_is_not_listed(self):
    """A vector is scaled: it has rows only, moves bytes, and is compared with a copy."""
    scaled = {"operation": "scale", "cols": math.nan, "depth": math.nan}
    rows = [gpu(name, n, ms * n / 1e6, **scaled, gbps=8 / ms, pct_of_copy=50 / ms, step=step)
            for n in (1024, 4096, 65536) for step, (name, ms) in enumerate((("naive", 3), ("vector", 2), ("wide", 1)), 1)]
    rows += [cpu("loop", n, n / 1e5, **scaled) for n in (1024, 4096, 65536)]
    rows += [transpose("naive_row", 8, 1), gpu("naive", 8, 1)]
    products, scale, transposes = _sections(fake_rows.frame(rows))
    self.assertEqual([section.title for section in (products, scale, transposes)],
                     ["Matrix multiplication, float", "Scale, float", "Matrix transpose, float"])
    for words in ("At n = 65536, the largest size, wide is the fastest", "GB/s", "wide has a median of 50 %",
                  "wide 2.00x", "all 3 sizes measured, 1024 to 65536"):
      self.assertTrue(any(words in sentence for sentence in scale.sentences), (words, scale.sentences))
    kinds = {figure.slug.split("-scale")[0] for figure in scale.figures}
    self.assertEqual(kinds, {"rate", "rate-fastest", "time", "total-time", "small-sizes-total", "ladder", "copy-shares", "phases",
                             "phases-first", "noise"})
    self.assertEqual({figure.x.label for figure in scale.figures if isinstance(figure, model.Chart)
                      and figure.kind in (model.Kind.LINES, model.Kind.POINTS)}, {"n"})
    shares, = (figure for figure in scale.figures if isinstance(figure, model.HeatMap))
    self.assertEqual(shares.rows, ["1024", "4096", "65536"])
    told = repr((scale.sentences, scale.figures, scale.tables))
    for word in ("matmul", "transpose", "product", "square", "matri", "GFLOP", "nan of"):
      self.assertNotIn(word, told)

  def test_machines_are_named_and_kept_apart_where_there_are_several(self):
    rows = pandas.concat([fake_rows.frame([gpu("naive", n, 1) for n in (8, 16)], machine) for machine in ("One", "Two")],
                                 ignore_index=True)
    found = _sections(rows)
    self.assertEqual([section.title[-3:] for section in found], ["One", "Two"])
    slugs = [item.slug for section in found for item in (section, *section.figures, *section.tables)]
    self.assertEqual(len(set(slugs)), len(slugs))

  def test_other_types_have_fewer_charts(self):
    rows = [[gpu(name, n, 1, dtype=dtype) for name in ("naive", "tiled", "auto") for n in (8, 16)]
            for dtype in ("float", "double")]
    in_float, in_double = (_kinds(_sections(fake_rows.frame(of_type))[0]) for of_type in rows)
    self.assertLess(in_double, in_float)
    self.assertTrue(in_double)

  def test_nothing_measured_is_a_table_and_no_chart(self):
    rows = fake_rows.frame([gpu("naive", 8, math.nan, status="error", message="no device"),
                            gpu("naive", 16, math.nan, status="error", message="still none"),
                            gpu("tiled", 8, 1, status="skipped")])
    section, = _sections(rows)
    table, = section.tables
    self.assertEqual(section.figures, [])
    self.assertEqual(table.rows, [["error", "matmul", "naive", "float", 2, "no device"]])

  def test_fastest_by_size(self):
    rows = [gpu("naive", 8, 2), gpu("auto", 8, 1), gpu("cublas", 8, 1.5), cpu("eigen", 8, 4), cpu("cpu_naive", 8, 5),
            gpu("naive", 16, 3), gpu("auto", 8, 7, cols=9)]
    fastest, times, others, *beside_cpu = _sections(fake_rows.frame(rows))[0].tables
    by_name = [dict(zip(fastest.columns, row)) for row in fastest.rows]
    self.assertEqual([row["n"] for row in by_name], [8, 16])
    self.assertEqual([row["fastest on the GPU"] for row in by_name], ["auto", "naive"])
    self.assertEqual(by_name[0]["speed over the vendor's library"], 1.5)
    self.assertEqual((by_name[0]["fastest on the CPU"], by_name[0]["its kernel (ms)"]), ("eigen", 4))
    self.assertEqual(by_name[1]["fastest on the CPU"], "")
    self.assertTrue(math.isnan(by_name[1]["its kernel (ms)"]))
    self.assertEqual(times.columns, ["n", "naive", "auto", "cublas", "eigen", "cpu_naive"])
    self.assertEqual(times.rows[0], [8, 2, 1, 1.5, 4, 5])
    self.assertEqual([row[0] for row in others.rows], ["8 x 9 x 8"])
    self.assertEqual([table.title for table in beside_cpu],
                     [f"{name} beside the best CPU by size: matmul, float" for name in ("auto", "cublas")])

  def test_many_sizes_are_thinned_to_those_with_the_most_implementations(self):
    rows = [gpu("naive", n, 1) for n in range(1, 1001)] + [gpu("auto", n, 1) for n in (500, 1000)]
    fastest, times = _sections(fake_rows.frame(rows))[0].tables
    self.assertLessEqual(len(fastest.rows), 40)
    self.assertGreater(len(fastest.rows), 20)
    self.assertEqual([row[0] for row in times.rows if not math.isnan(row[2])], [500, 1000])
    self.assertIn("of 1000 sizes", fastest.note)

  def test_other_processes_make_the_same(self):
    rows = fake_rows.frame([gpu(name, n, 1, dtype=dtype) for dtype in ("float", "double") for name in ("naive", "auto")
                            for n in (8, 16)])
    read = results.Results(rows, {}, [])

    def more(found):
      return [model.Section("more", f"{len(found.rows)} rows", [], [], [])]

    here = sections.make_sections(read, more)
    with mock.patch.object(sections, "_MANY_ROWS", 1):
      there = sections.make_sections(read, more)
    self.assertEqual([section.title for section in here][-1], "8 rows")
    for one, other in zip(here, there, strict=True):
      self.assertEqual((one.slug, one.title, one.sentences), (other.slug, other.title, other.sentences))
      self.assertEqual(repr(one.tables), repr(other.tables))
      self.assertEqual([figure.slug for figure in one.figures], [figure.slug for figure in other.figures])

  def test_known_files_become_tables(self):
    files = {
        "verdicts.csv": [["case", "rows", "ratio", "verdict"], ["large", "64", "1.05", "pass"],
                         ["small", "8", "", "-"], ["cut"]],
        "ncu.csv": [["kernel", "dram_read_mb"], ["naive", "1.5e+3"]],
        "unknown.csv": [["a", "b"], ["1", "2"]],
    }
    tables = _sections(fake_rows.frame([gpu("naive", 8, 1)]), files)[-1].tables
    self.assertEqual([table.title for table in tables], ["verdicts.csv", "ncu.csv"])
    self.assertEqual(tables[0].rows[0], ["large", 64, 1.05, "pass"])
    self.assertTrue(math.isnan(tables[0].rows[1][2]))
    self.assertEqual(tables[1].rows, [["naive", 1500]])

  def test_rows_need_no_more_than_a_shape_and_a_time(self):
    rows = [gpu(name, n, n, block_x=x, block_y=8, relative_error=1e-7) for name in ("naive", "tiled", "auto", "cublas")
            for n in (8, 16, 32) for x in (8, 16, 32, 64)]
    rows += [cpu(name, n, n) for name in ("eigen", "cpu_naive") for n in (8, 16, 32)]
    rows += [transpose(name, n, n, pct_of_copy=50) for name in ("naive_row", "tile", "auto") for n in (8, 16, 32)]
    whole = fake_rows.frame(rows)
    needed = {"rows", "cols", "depth", "kernel_ms_median", "batch", "alpha", "beta"}
    optional = [name for name in columns.NUMBERS if name not in needed]
    for missing in (["kernel_ms_ci_low", "kernel_ms_ci_high"], ["gflops", "gbps"], ["h2d_ms", "total_ms"], optional):
      with self.subTest(missing), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _sections(whole.assign(**{name: math.nan for name in missing}))
        self.assertEqual(len(found), 2)
        self.assertNotRegex(" ".join(sentence for section in found for sentence in section.sentences), r"\bnan\b|  ")

  def test_cells_are_words_or_numbers_of_python(self):
    rows = [gpu("naive", n, 1, block_x=x, block_y=8) for n in (8, 16) for x in (8, 16, 32, 64)] + [cpu("eigen", 8, 1)]
    for section in _sections(fake_rows.frame(rows)):
      tables = section.tables + [figure.table() for figure in section.figures]
      for cell in (cell for table in tables for row in table.rows for cell in row):
        self.assertIsInstance(cell, (str, int, float))


if __name__ == "__main__":
  unittest.main()

"""The studies beside ours: which of our rows stand where, and what the sentences say."""

import math
import unittest

import pandas

from benchmarks.report import model, fake_rows, results, studies, study_data, study_quotes

FIGURES = study_data.read_studies()


def block(x, y):
  return {"block_x": float(x), "block_y": float(y)}


def sections_of(*frames):
  rows = pandas.concat(frames, ignore_index=True)
  return {section.slug: section for section in studies.make_sections(results.Results(rows, {}, []))}


def table_of(section, name):
  """Returns the rows of a section's table as dicts."""
  table = next(table for table in section.tables if table.slug == f"{section.slug}-{name}")
  return [dict(zip(table.columns, row)) for row in table.rows]


def note_of(section, name):
  return next(table.note for table in section.tables if table.slug == f"{section.slug}-{name}")


class TheirFigures(unittest.TestCase):
  """docs/results/studies.csv."""

  def test_every_row_has_its_place(self):
    placed = {(table.study, table.table) for table in studies.TABLES} | {("matmul", table) for table in study_quotes.QUOTES}
    shown = FIGURES[~FIGURES["table"].isin(studies.PAGES_ONLY)]
    self.assertEqual(set(zip(shown["study"], shown["table"])), placed)
    self.assertEqual(set(FIGURES["table"]) - set(shown["table"]), set(studies.PAGES_ONLY))

  def test_times_and_rates_are_of_the_same_bytes(self):
    for _, row in FIGURES[FIGURES["ms"].notna() & FIGURES["gbps"].notna()].iterrows():
      unit = 2 ** 30 if row["study"] == "003" else 1e9  # Which prints GiB/s.
      rate = study_data.bytes_moved(row) / row["ms"] * 1e3 / unit
      self.assertLess(abs(row["gbps"] / rate - 1), 0.003, dict(row))

  def test_percentages_are_of_the_boards_memory(self):
    rows = FIGURES[FIGURES["study"].eq("002") & FIGURES["pct_of_peak"].notna() & FIGURES["remark"].eq("")]
    self.assertEqual(len(rows), 15)
    for _, row in rows.iterrows():
      self.assertAlmostEqual(row["pct_of_peak"], 100 * row["gbps"] / 760, delta=0.15, msg=dict(row))

  def test_gains_are_those_of_the_times(self):
    rows = FIGURES[FIGURES["study"].eq("003")]
    steps, gains = rows["ms"].shift() / rows["ms"], rows["ms"].iloc[0] / rows["ms"]
    for place, row in rows[rows["remark"].eq("")].iloc[1:].iterrows():
      self.assertLess(abs(row["speedup_vs_previous"] / steps[place] - 1), 0.01)
      self.assertLess(abs(row["speedup_vs_cpu"] / gains[place] - 1), 0.01)


class WhatIsOurs(unittest.TestCase):
  """Which of our rows is compared with the third study's naive_row with 16x16 blocks at 2048."""

  def our_ms(self, *rows, l1="on", **kwargs):
    theirs = FIGURES[FIGURES["study"].eq("002") & FIGURES["implementation"].eq("naive_row") & FIGURES["block_x"].eq(16)
                     & FIGURES["l1"].eq(l1)].iloc[0]
    frame = fake_rows.frame(rows).assign(is_other_build=[row.get("is_other_build", False) for row in rows])
    found = study_data.OurRows(frame, ["naive_row"]).timed(theirs)
    return None if found is None else found["kernel_ms_median"]

  def row(self, ms, **cells):
    return fake_rows.transpose_row("naive_row", 2048, ms, **(block(16, 16) | cells))

  def test_the_latest(self):
    rows = [self.row(2.0, timestamp_utc="2026-01-02T00:00:01Z"), self.row(1.0, timestamp_utc="2026-01-02T00:00:00Z")]
    self.assertEqual(self.our_ms(*rows), 2)

  def test_nothing_but_the_same_configuration(self):
    for other in ({"dtype": "int"}, {"batch": 2.0}, {"status": "mismatch"}, {"l2": "hot"}, {"rows": 4096}, {"cols": 4096},
                  block(8, 32), {"source": "study_002_dlcm_cg.csv"}, {"host_memory": ""}):
      with self.subTest(other):
        self.assertIsNone(self.our_ms(self.row(1.0, **other)))
        self.assertEqual(self.our_ms(self.row(2.0), self.row(1.0, **other)), 2)

  def test_without_l1(self):
    rows = [self.row(1.0), self.row(2.0, source="study_002_dlcm_cg.csv")]
    self.assertEqual([self.our_ms(*rows), self.our_ms(*rows, l1="off")], [1, 2])

  def test_of_other_builds_only_that_without_l1(self):
    rows = [self.row(1.0, source="study_002_dlcm_cg.csv", is_other_build=True),
            self.row(2.0, source="other_builds/changed.csv", is_other_build=True)]
    self.assertIsNone(self.our_ms(*rows))
    self.assertEqual(self.our_ms(*rows, l1="off"), 1)


class Sections(unittest.TestCase):

  def test_only_of_studies_that_the_results_have_rows_of(self):
    self.assertEqual(sections_of(fake_rows.frame([fake_rows.transpose_row("tile_vector", 8192, 1.0)])), {})
    found = sections_of(fake_rows.frame([fake_rows.transpose_row("tile_rectangular", 4096, 1.0, **block(32, 16))]))
    self.assertEqual(list(found), ["study-001"])
    self.assertIn("--preset=study_001", note_of(found["study-001"], "times"))

  def test_theirs_beside_ours(self):
    rows = [fake_rows.transpose_row("copy_row", 2048, 0.01, operation="copy", **block(16, 16)),
            fake_rows.transpose_row("naive_row", 2048, 0.04, pct_of_copy=20.0, **block(16, 16))]
    section = sections_of(fake_rows.frame(rows))["study-002"]
    cells = table_of(section, "times")
    self.assertEqual([row["implementation"] for row in cells][:3], ["copy_row", "copy_col", "naive_row"])
    naive = cells[2]
    self.assertEqual((naive["their ms"], naive["their GB/s"]), (0.073728, 455.1))
    self.assertEqual((naive["our ms"], naive["our device"]), (0.04, "GPU"))
    self.assertAlmostEqual(naive["their % of own copy_row"], 100 * 0.053088 / 0.073728)
    self.assertAlmostEqual(naive["our % of own copy_row"], 25)
    self.assertAlmostEqual(naive["our speed over theirs"], 0.073728 / 0.04)
    self.assertEqual(naive["our % of a vectorised copy"], 20)
    self.assertTrue(math.isnan(cells[1]["our ms"]))
    self.assertIn("For 14 of these 16 rows", note_of(section, "times"))
    self.assertIn("--config=dlcm_cg", note_of(section, "times-l1-off"))

    drawn = next(figure for figure in section.figures if figure.slug == "study-002-times-shares")
    self.assertEqual(drawn.kind, model.Kind.BARS)
    theirs, ours = drawn.series
    self.assertAlmostEqual(theirs.y[theirs.x.index("diagonal_col 8x32")], 100 * 0.053248 / 0.036704)
    place = ours.x.index("naive_row 16x16")
    self.assertAlmostEqual(ours.y[place], 25)
    self.assertAlmostEqual(ours.low[place], 25 / 1.01)
    self.assertAlmostEqual(ours.high[place], 25 / 0.99)

  def test_several_machines(self):
    rows = [fake_rows.transpose_row("naive_col", 2048, 1.0, **block(8, 8)),
            fake_rows.transpose_row("naive_col", 2048, 2.0, **block(16, 16))]
    section = sections_of(fake_rows.frame(rows, "A"), fake_rows.frame(rows[1:], "B"))["study-002"]
    cells = [(row["block"], row["our ms"]) for row in table_of(section, "thin-blocks") if not math.isnan(row["our ms"])]
    self.assertEqual(cells, [("8x8", 1), ("16x16", 2), ("16x16", 2)])
    text = " ".join(section.sentences)
    self.assertIn("A is", text)
    self.assertIn("B is", text)

  def test_whole_calls(self):
    rows = [fake_rows.cpu_row("cpu_naive_row", 2048, 40.0, operation="transpose", depth=math.nan, dtype="int", cpu="CPU"),
            fake_rows.transpose_row("naive_row", 2048, 0.1, dtype="int", total_ms=4.0, **block(32, 32)),
            fake_rows.transpose_row("tile_square", 2048, 0.1, dtype="int", total_ms=2.0, **block(32, 32))]
    cells = table_of(sections_of(fake_rows.frame(rows))["study-003"], "times")
    self.assertEqual([row["our ms"] for row in cells][:3], [40, 4, 2])
    self.assertAlmostEqual(cells[2]["our gain over the row before"], 2)
    self.assertAlmostEqual(cells[2]["our gain over the CPU"], 20)
    self.assertEqual(cells[2]["their gain over the row before"], 1.066)
    self.assertEqual([row["our device"] for row in cells][:2], ["CPU", "GPU"])

  def test_counters(self):
    profiled = fake_rows.transpose_row("naive_row", 2048, 0.5, host_memory="", total_ms=math.nan, load_efficiency=100.0,
                                       store_efficiency=12.5, load_transactions=1e6, store_transactions=4e6, **block(16, 16))
    section = sections_of(fake_rows.frame([profiled]))["study-002"]
    cells = [row for row in table_of(section, "memory") if row["implementation"] == "naive_row"]
    self.assertEqual([row["whose"] for row in cells], ["theirs (RTX 3080)", "ours (GPU)"])
    self.assertEqual([row["store_efficiency"] for row in cells], [25, 12.5])
    self.assertAlmostEqual(cells[1]["store_gbps"], 4e6 * 32 / 0.5 / 1e6)
    self.assertIn("store_efficiency of naive_row 16x16: 25 theirs, 12.5 ours", " ".join(section.sentences))
    self.assertIn("For 3 of these 4 kernels", note_of(section, "memory"))

  def test_counters_of_a_machine_without_a_gpu(self):
    counted = fake_rows.transpose_row("naive_row", 2048, math.nan, device="", l2="", host_memory="", load_efficiency=100.0,
                                      store_efficiency=25.0, load_transactions=1e6, store_transactions=4e6, **block(16, 16))
    section = sections_of(fake_rows.frame([counted], machine="CPU"))["study-002"]
    cells = [row for row in table_of(section, "memory") if row["implementation"] == "naive_row"]
    self.assertEqual([row["whose"] for row in cells], ["theirs (RTX 3080)", "ours (the host executor)"])
    self.assertEqual([row["store_efficiency"] for row in cells], [25, 25])
    self.assertTrue(math.isnan(cells[1]["store_gbps"]))
    self.assertIn("2 are the same within 1 % on the host executor", " ".join(section.sentences))

  def test_sentences_follow_the_data(self):
    """Compares rows in the same order as theirs, and in reverse."""
    theirs = FIGURES[FIGURES["study"].eq("002") & FIGURES["table"].eq("thin_blocks")]
    for ours, order, fastest in ((lambda gbps: 50 / gbps, 36, "The fastest on both sides is naive_col 8x32"),
                                 (lambda gbps: gbps, 0, "ours is naive_col 32x32")):
      with self.subTest(order):
        rows = [fake_rows.transpose_row("naive_col", 2048, ours(row["gbps"]), **block(row["block_x"], row["block_y"]))
                for _, row in theirs.iterrows()]
        text = " ".join(sections_of(fake_rows.frame(rows))["study-002"].sentences)
        self.assertIn(f"Of 36 pairs of these configurations {order} are in the same order", text)
        self.assertIn(fastest, text)


class Matmul(unittest.TestCase):

  def quotes(self, rows):
    return {(row["what"], row["implementation"]): row["ours"]
            for row in table_of(sections_of(fake_rows.frame(rows))["study-matmul"], "quotes")}

  def test_where_the_cpu_is_ahead(self):
    """It is faster at 10 and 30, not at 20 and 40; at 50 there is nothing to compare with."""
    rows = [fake_rows.gpu_row("cublas", n, 0.01, total_ms=1.0) for n in (10, 20, 30, 40)]
    rows += [fake_rows.cpu_row("eigen", n, ms) for n, ms in ((10, 0.5), (20, 2.0), (30, 0.9), (40, 3.0), (50, 0.1))]
    what = "largest n at which eigen is faster than cublas, with copies"
    self.assertEqual(self.quotes(rows)[what, "eigen"], 30)
    never = [fake_rows.cpu_row("eigen", 10, 5.0), fake_rows.gpu_row("cublas", 10, 0.01, total_ms=1.0)]
    self.assertEqual(self.quotes(never)[what, "eigen"], 0)
    self.assertIn("to no measured n", " ".join(sections_of(fake_rows.frame(never))["study-matmul"].sentences))

  def test_other_quotes(self):
    rows = [fake_rows.cpu_row("eigen", 10000, 900.0), fake_rows.gpu_row("tiled", 64, 0.01),
            fake_rows.gpu_row("tiled", 4096, 2.0), fake_rows.gpu_row("tiled_multiply_add", 4096, 3.0),
            fake_rows.gpu_row("tiled", 1024, 1.0, shared_load_wavefronts_per_request=1.5, compute_pct_of_peak=84.5,
                              stalled_barrier=4.25)]
    quotes = self.quotes(rows)
    self.assertEqual(quotes["ms with copies", "eigen"], 900)
    self.assertAlmostEqual(quotes["ms for allocation, copies and freeing", "tiled"], 0.1 + 1 + 0.5 + 0.1)
    self.assertAlmostEqual(quotes["times the speed of tiled_multiply_add", "tiled"], 1.5)
    self.assertEqual(quotes["wavefronts of a shared load", "tiled"], 1.5)
    self.assertEqual(quotes["compute throughput, percent of the peak", "tiled"], 84.5)
    self.assertEqual(quotes["cycles per instruction that a warp waits at barriers", "tiled"], 4.25)
    text = " ".join(sections_of(fake_rows.frame(rows))["study-matmul"].sentences)
    self.assertIn("at n = 1024 is over 80 % of the peak in theirs, 84.5 % on GPU", text)
    self.assertIn("waits 14 cycles at barriers in theirs, 4.25 on GPU", text)
    self.assertTrue(math.isnan(quotes["largest n measured", "cublas"]))
    self.assertIn("--preset=cublas_vs_eigen", note_of(sections_of(fake_rows.frame(rows))["study-matmul"], "quotes"))

  def test_graphs(self):
    rows = [row for n in (10, 100, 1000, 4000) for row in (
        fake_rows.cpu_row("cpu_naive", n, 1e-6 * n ** 3), fake_rows.gpu_row("naive_one_thread_blocks", n, 0.01 * n),
        fake_rows.gpu_row("tiled", n, 0.001 * n))]
    drawn = {figure.slug: figure for figure in sections_of(fake_rows.frame(rows))["study-matmul"].figures}
    names = ("own", "own-small", "own-small-split", "own-split")
    self.assertEqual(list(drawn), [f"study-matmul-{name}-gpu" for name in names])
    own = {series.name: series for series in drawn["study-matmul-own-gpu"].series}
    # Each as far as the assignment went.
    self.assertEqual([own[name].x for name in ("cpu_naive", "naive_one_thread_blocks", "tiled")],
                     [[10, 100, 1000], [10, 100, 1000], [10, 100, 1000, 4000]])
    split = {series.name: series for series in drawn["study-matmul-own-small-split-gpu"].series}
    self.assertNotIn("cpu_naive, loading", split)
    self.assertAlmostEqual(split["tiled, loading"].y[0], 1.7)
    self.assertEqual([mark.x for mark in drawn["study-matmul-own-small-gpu"].marks], [64])


if __name__ == "__main__":
  unittest.main()

"""Files as programs, editors and accidents leave them: what cannot be used is reported in one line, the rest is read."""

import math
import pathlib
import tempfile
import unittest

import numpy

from benchmarks.report import columns, results
from benchmarks.report.example_rows import HEADER, csv_text


class ResultsTest(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)

  def write(self, content, name="a.csv"):
    path = self.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path

  def read(self, content):
    return results.read_results([self.write(content)])

  def refused(self, paths, *words):
    """Expects an error of one line that holds all of `words`."""
    with self.assertRaises(results.ReadError) as caught:
      results.read_results(paths)
    message = str(caught.exception)
    self.assertEqual(message.count("\n"), 0, message)
    for word in words:
      self.assertIn(word, message)

  def only_problem(self, read, *words):
    self.assertEqual(len(read.problems), 1, read.problems)
    for word in words:
      self.assertIn(word, read.problems[0])

  def test_types_and_places(self):
    read = self.read(csv_text({"kernel_ms_median": 0.25, "rows": 3}, {"status": "skipped", "kernel_ms_median": ""}))
    self.assertEqual(read.problems, [])
    self.assertEqual(list(read.rows["line"]), [2, 3])
    self.assertEqual(set(read.rows["source"]), {"a.csv"})
    self.assertEqual(read.rows["kernel_ms_median"][0], 0.25)
    self.assertTrue(math.isnan(read.rows["kernel_ms_median"][1]))
    self.assertEqual(read.rows["message"][0], "")
    self.assertTrue(all(read.rows[name].dtype == float for name in columns.NUMBERS))

  def test_last_line_cut_off(self):
    whole = csv_text({"implementation": "one"}, {"implementation": "two"})
    cuts = {"within a cell": whole[:-100], "with all cells, the last maybe cut": whole[:-1]}
    for what, text in cuts.items():
      with self.subTest(what):
        read = self.read(text)
        self.assertEqual(list(read.rows["implementation"]), ["one"])
        self.only_problem(read, "a.csv:3:")

  def test_cut_off_within_quotes(self):
    row = {"status": "error", "message": "first\nsecond, third"}
    whole = csv_text({}, row)
    for end in ("first\n", "second"):
      with self.subTest(end):
        read = self.read(whole[:whole.index(end) + len(end)])
        self.assertEqual(len(read.rows), 1)
        self.only_problem(read, "a.csv:3:")

  def test_headers_that_cannot_be_used(self):
    without = [name for name in HEADER if name not in ("rows", "status")]
    cases = {
        "columns missing": (csv_text({}, header=without), "rows", "status"),
        "column repeated": (csv_text({}, header=[*HEADER, "dtype"]), "dtype", "more than once"),
        "another program's": ("a,b\n1,2\n", "no file has rows"),
        "no CSV": ('"schema_version,\n', "a.csv:1:"),
        "empty": ("", "empty"),
        "blank": ("\n\r\n\n", "empty"),
        "only a mark": (b"\xef\xbb\xbf", "empty"),
        "header only": (csv_text(), "no usable row"),
        "header cut off": ("schema_version,timestamp", "lacks"),
        "binary": (bytes(range(256)) * 20, "a.csv"),
    }
    for what, (text, *words) in cases.items():
      with self.subTest(what):
        self.refused([self.write(text)], "a.csv", *words)

  def test_paths_that_cannot_be_read(self):
    self.refused([self.folder / "none.csv"], "none.csv", "No such file")
    self.refused([self.folder], str(self.folder), "directory")

  def test_mixed_schema_versions(self):
    read = self.read(csv_text({}, {"schema_version": 2}, {"schema_version": ""}, {"implementation": "last"}))
    self.assertEqual(list(read.rows["line"]), [2, 5])
    self.only_problem(read, "a.csv:3:", "'2'", "1 more")
    self.refused([self.write(csv_text({"schema_version": 2}))], "no usable row", "'2'")

  def test_too_few_and_too_many_cells(self):
    lines = csv_text({}, {}, {}).splitlines(keepends=True)
    read = self.read(lines[0] + lines[1] + "1,2\n" + lines[2].replace("\n", ",,\n") + lines[3])
    self.assertEqual(list(read.rows["line"]), [2, 5])
    self.only_problem(read, "a.csv:3:", "2 cells", str(len(HEADER)), "1 more")

  def test_files_of_concatenated_sweeps(self):
    read = self.read(csv_text({}) + csv_text({}))
    self.assertEqual(list(read.rows["line"]), [2, 4])
    self.only_problem(read, "a.csv:3:")

  def test_byte_order_mark_and_ends_of_lines(self):
    for end in ("\n", "\r\n", "\r"):
      for mark in (b"", b"\xef\xbb\xbf"):
        with self.subTest(end=end, mark=mark):
          read = self.read(mark + csv_text({}, {"cpu": "b, c"}, end=end).encode())
          self.assertEqual(list(read.rows["cpu"]), ["a CPU, 8 cores", "b, c"])
          self.assertEqual(read.problems, [])

  def test_blank_lines_count_as_lines(self):
    lines = csv_text({}, {}).splitlines(keepends=True)
    self.assertEqual(list(self.read("\n" + lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n").rows["line"]), [4, 6])

  def test_what_messages_may_hold(self):
    for message in ("a\nb", "a\r\nb", 'said "no"', "comma, comma", "form\x0cfeed", "line\u2028separator", "nul\0",
                    "x" * 100000):
      with self.subTest(message[:20]):
        read = self.read(csv_text({"message": message}, {}))
        self.assertEqual(list(read.rows["message"]), [message, ""])
        self.assertEqual(list(read.rows["line"]), [2, 3 + message.count("\n")])

  def test_stray_quotes_cost_their_rows_only(self):
    lines = csv_text(*({"implementation": str(i)} for i in range(6))).splitlines(keepends=True)
    lines[2] = lines[2].replace(",node,", ',"node,')
    read = self.read("".join(lines))
    self.assertLessEqual({"0", "3", "4", "5"}, set(read.rows["implementation"]))
    self.assertNotIn("1", set(read.rows["implementation"]))
    self.assertIn("a.csv:3:", read.problems[0])

  def test_bytes_that_are_not_utf8(self):
    read = self.read(csv_text({}, {"host": "caf?"}, {}).encode().replace(b"caf?", b"caf\xe9"))
    self.assertEqual(list(read.rows["host"]), ["node", "caf\N{REPLACEMENT CHARACTER}", "node"])
    self.only_problem(read, "a.csv:3:", "UTF-8")

  def test_words_in_number_columns(self):
    words = ["many", "1;5", "0x10", "True", "1_000", "N/A", "-"]
    read = self.read(csv_text(*({"rows": word} for word in words), {"rows": 7}))
    self.assertEqual(list(read.rows["rows"]), [7])
    self.only_problem(read, "a.csv:2:", "rows", "'many'", "6 more")

  def test_a_row_with_several_words_is_one_problem(self):
    self.only_problem(self.read(csv_text({"rows": "x", "cols": "y"}, {})), "a.csv:2:")

  def test_nan_and_infinity_are_numbers(self):
    cells = {"nan": math.nan, "NaN": math.nan, "-nan": math.nan, "inf": math.inf, "-inf": -math.inf, " 3 ": 3}
    read = self.read(csv_text(*({"gbps": cell} for cell in cells)))
    self.assertEqual(read.problems, [])
    for found, (cell, value) in zip(read.rows["gbps"], cells.items()):
      self.assertTrue(found == value or math.isnan(found) and math.isnan(value), (cell, found))

  def test_columns_are_those_of_the_sweeps(self):
    lines = [line for line in columns._INC.read_text().splitlines() if line.startswith("CSV_COLUMN(")]
    self.assertEqual(len(columns.NAMES), len(lines))
    for name, line in zip(columns.NAMES, lines):
      self.assertIn(f'"{name}")', line)
    self.assertEqual(len(set(columns.NAMES)), len(lines))
    self.assertEqual(columns.NAMES[0], "schema_version")
    for used in (columns.TEXT, columns.REQUIRED, columns.CONFIGURATION, columns.DEFAULTS):
      self.assertLessEqual(set(used), set(columns.NAMES))

  def test_steps_of_files_from_before_the_column(self):
    rows = [{"implementation": "tiled"}, {"implementation": "auto"}, {"operation": "copy", "implementation": "copy_row"},
            {"implementation": "eigen", "device": ""}, {"operation": "transpose", "implementation": "eigen", "device": ""}]
    older = [name for name in HEADER if name != "step"]
    for header in (older, HEADER):  # A newer program that resumes an older file adds the column, empty.
      numpy.testing.assert_equal(self.read(csv_text(*rows, header=header)).rows["step"].tolist(), [5, math.nan, 1, 3, 4])
    stated = csv_text({"implementation": "tiled", "step": 7}, {"implementation": "new", "step": 1}, {"implementation": "auto"})
    numpy.testing.assert_equal(self.read(stated).rows["step"].tolist(), [7, 1, math.nan])

  def test_columns_of_older_and_newer_programs(self):
    older = [name for name in HEADER if name not in ("batch", "layout", "alpha", "beta", "vs_cublas")]
    read = self.read(csv_text({"news": "word"}, header=["schema_version", "news", *older[1:]]))
    row = read.rows.iloc[0]
    self.assertEqual((row["batch"], row["layout"], row["alpha"], row["beta"]), (1, "nn", 1, 0))
    self.assertTrue(math.isnan(row["vs_cublas"]))
    self.assertNotIn("news", read.rows.columns)
    self.assertEqual(read.problems, [])

  def test_columns_in_another_order(self):
    read = self.read(csv_text({"rows": 3, "cols": 4}, header=["schema_version", *reversed(HEADER[1:])]))
    self.assertEqual((read.rows["rows"][0], read.rows["cols"][0]), (3, 4))

  def test_several_files(self):
    paths = [self.write(csv_text({"implementation": name}), file) for name, file in
             (("one", "x/a.csv"), ("two", "y/a.csv"), ("three", "b.csv"))]
    others = [self.write("case,verdict\n1,pass\n", "limits.csv"), self.write("fruit,price\npear,3\n", "fruit.csv")]
    read = results.read_results([*paths, paths[0], *others])
    self.assertEqual(list(read.rows["implementation"]), ["one", "two", "three"])
    self.assertEqual(list(read.rows["source"]), [str(paths[0]), str(paths[1]), "b.csv"])
    self.assertEqual(list(read.rows.index), [0, 1, 2])
    self.assertEqual(read.other_files, {"limits.csv": [["case", "verdict"], ["1", "pass"]],
                                        "fruit.csv": [["fruit", "price"], ["pear", "3"]]})
    self.only_problem(read, "fruit.csv", "fruit")

  def test_missing_shards(self):
    cases = [(["1/2", "2/2", "2/2"], []),
             (["", ""], []),
             (["1/3", "1/1", ""], ["matmul: no row is of shard 2/3, 3/3; 1 of 3 are there"]),
             (["12/12"], ["matmul: no row is of shard " + ", ".join(f"{i}/12" for i in range(1, 11)) +
                          " and 1 more; 1 of 12 are there"])]
    for shards, problems in cases:
      with self.subTest(shards):
        self.assertEqual(self.read(csv_text(*({"shard": shard} for shard in shards))).problems, problems)

  def test_shards_of_two_files(self):
    paths = [self.write(csv_text({"shard": shard}), name) for shard, name in (("1/2", "a.csv"), ("2/2", "b.csv"))]
    self.assertEqual(results.read_results(paths).problems, [])
    self.assertEqual(len(results.read_results(paths[:1]).problems), 1)

  def test_a_file_without_rows_beside_one_with(self):
    read = results.read_results([self.write(csv_text(), "a.csv"), self.write(csv_text({}), "b.csv")])
    self.assertEqual(list(read.rows["source"]), ["b.csv"])
    self.assertEqual(read.rows["line"].dtype, int)
    self.assertTrue(all(read.rows[name].dtype == float for name in columns.NUMBERS))

  def test_machines(self):
    cases = [(["g", ""], ["g", "g"]), (["", ""], ["c", "c"]), (["g", "", "h"], ["g", "c", "h"])]
    for devices, machines in cases:
      with self.subTest(devices):
        read = self.read(csv_text(*({"device": device, "cpu": "c"} for device in devices)))
        self.assertEqual(list(read.rows["machine"]), machines)

  def test_many_rows(self):
    count = 100000
    lines = csv_text({"rows": 12345678}).splitlines(keepends=True)
    read = self.read(lines[0] + "".join(lines[1].replace("12345678", str(i)) for i in range(count)) + "1,2\n" * count)
    self.assertEqual(list(read.rows["rows"]), list(range(count)))
    self.assertEqual(read.rows["line"].iloc[-1], count + 1)
    self.only_problem(read, f"a.csv:{count + 2}:", f"{count - 1} more")

  def test_files_of_a_folder(self):
    names = ["b.csv", "a.csv"]
    for name in [*names, "notes.txt", "below/c.csv"]:
      self.write("x", name)
    self.assertEqual(results.csv_files(self.folder), [self.folder / name for name in sorted(names)])
    self.assertEqual(results.csv_files(self.folder / "notes.txt"), [self.folder / "notes.txt"])
    (self.folder / "none").mkdir()
    with self.assertRaisesRegex(results.ReadError, "none"):
      results.csv_files(self.folder / "none")


if __name__ == "__main__":
  unittest.main()

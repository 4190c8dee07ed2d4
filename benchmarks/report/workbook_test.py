"""The content of a workbook, read from its XML."""

import dataclasses
import io
import math
import pathlib
import re
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree
import zipfile

import pandas

from benchmarks.report import columns, model, results, workbook, workbook_cells, workbook_rows

NAN = math.nan


def strip(tree):
  """Names without their namespaces."""
  for element in tree.iter():
    element.tag = element.tag.rpartition("}")[2]
  return tree


class Book:
  """sheets: name -> {address: number, or word}; xml: name -> the sheet's ElementTree."""

  def __init__(self, path):
    with zipfile.ZipFile(path) as archive:
      parse = lambda name: strip(ElementTree.parse(io.BytesIO(archive.read(name))).getroot())
      words = ["".join(item.itertext()) for item in parse("xl/sharedStrings.xml")]
      names = [sheet.get("name") for sheet in parse("xl/workbook.xml").iter("sheet")]
      self.xml = {name: parse(f"xl/worksheets/sheet{index}.xml") for index, name in enumerate(names, start=1)}
      self.charts = [parse(name) for name in sorted(archive.namelist(), key=lambda name: [len(name), name])
                     if name.startswith("xl/charts/")]
    value = lambda cell: words[int(cell.find("v").text)] if cell.get("t") == "s" else float(cell.find("v").text)
    self.sheets = {name: {cell.get("r"): value(cell) for cell in tree.iter("c") if cell.find("v") is not None}
                   for name, tree in self.xml.items()}

  def area(self, formula):
    """Returns the values that a chart's reference such as 'a b'!$B$2:$B$4 names, None for empty cells."""
    sheet, first, last = re.fullmatch(r"'?(.*?)'?!\$([A-Z]+\$\d+)(?::\$([A-Z]+\$\d+))?", formula).groups()
    column, first_row = first.split("$")
    last_row = (last or first).split("$")[1]
    return [self.sheets[sheet].get(f"{column}{row}") for row in range(int(first_row), int(last_row) + 1)]

  def column_of(self, sheet, header):
    """Returns the cells below that of a header, down to the first empty one."""
    place = next(address for address, value in self.sheets[sheet].items() if value == header)
    letters, row = re.fullmatch(r"([A-Z]+)(\d+)", place).groups()
    values = []
    while f"{letters}{int(row) + 1 + len(values)}" in self.sheets[sheet]:
      values.append(self.sheets[sheet][f"{letters}{int(row) + 1 + len(values)}"])
    return values


def measured(**values):
  """Returns a Results of rows with these columns; all others are empty."""
  count = len(next(iter(values.values()), []))
  cells = {name: [""] * count for name in ("source", "machine", *columns.TEXT)}
  cells |= {name: [NAN] * count for name in columns.NUMBERS} | {"line": range(2, count + 2)}
  return results.Results(pandas.DataFrame(cells | values), {}, [])


def figure(kind=model.Kind.LINES, series=(), **more):
  fields = dict(slug="f", title="A figure", subtitle="where", kind=kind, x=model.Axis("n"), y=model.Axis("time (ms)"),
                series=list(series))
  return model.Chart(**(fields | more))


class WorkbookTest(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.path = pathlib.Path(folder.name) / "report.xlsx"

  def write(self, *items, data=None):
    """Returns the Book of one section with these figures and tables."""
    figures = [item for item in items if not isinstance(item, model.Table)]
    tables = [item for item in items if isinstance(item, model.Table)]
    section = model.Section("s", "A section", ["A sentence."], figures, tables)
    workbook.write_workbook(self.path, [section], data or measured(source=["a.csv"]))
    return Book(self.path)

  def test_numbers_are_numbers_words_are_words_and_the_rest_is_empty(self):
    words = ["=1+1", "+1", "-1", "@SUM(A1)", "{=1+1}", "12", "a,b", "<r>bold</r>", "https://x.example"]
    values = [1, 0.1 + 0.2, -2.5e-7, NAN, math.inf, -math.inf, None, "", 123456789.125]
    book = self.write(model.Table("t", "A table", ["word", "number"], [list(row) for row in zip(words, values)]))
    self.assertEqual([word.rstrip() for word in book.column_of("t", "word")], words)
    for shown, value in zip(book.column_of("t", "number"), [1, 0.1 + 0.2, -2.5e-7], strict=True):
      self.assertTrue(math.isclose(shown, value, rel_tol=1e-15), value)
    self.assertIn(123456789.125, book.sheets["t"].values())
    self.assertNotIn("f", [element.tag for tree in book.xml.values() for element in tree.iter()])  # No formulas.

  def test_text_that_xml_cannot_hold(self):
    for text in ("bell \a, escape \x1b", "half a character \ud800", "\ufffe", "_x0041_", "x" * 40000, " lead", "two\nlines"):
      with self.subTest(text[:20]):
        book = self.write(model.Table("t", text, ["c"], [[text]]), data=measured(message=[text], source=["s"]))
        for shown in (book.column_of("t", "c")[0], book.column_of("rows", "message")[0]):
          self.assertEqual(len(shown), min(len(text), workbook_cells.MAX_TEXT) + (6 if text == "_x0041_" else 0))

  def test_number_formats_show_four_digits(self):
    for value, shown in ((2048.0, "0"), (0, "0"), (-3, "0"), (1234.5, "0"), (12.3456, "0.00"), (0.0123456, "0.00000"),
                         (1e-7, "0.000E+00"), (9.87e20, "0.000E+00"), (1.5e200, "0.000E+00"), (0.5, "0.0000")):
      with self.subTest(value):
        self.assertEqual(workbook_cells.number_format(value), shown)

  def test_all_rows_with_all_columns(self):
    data = measured(
        source=["a.csv", "a.csv", "b.csv"], implementation=["=naive", "naive", "naive"], schema_version=["1", "1", "1"],
        rows=[64.0, NAN, 128.0], kernel_ms_median=[0.1 + 0.2, 1e-300, math.inf], message=["", "a \"b\" <c>", ""])
    book = self.write(data=data)
    cells = book.sheets["rows"]
    header = {name: address[:-1] for address, name in cells.items() if address.endswith("1") and address[:-1].isalpha()}
    self.assertEqual(list(header), list(workbook_rows.COLUMNS))
    for name in workbook_rows.COLUMNS:
      for row, value in enumerate(data.rows[name], start=2):
        shown = cells.get(f"{header[name]}{row}", "")
        self.assertEqual(shown, "" if isinstance(value, float) and not math.isfinite(value) else value, (name, row))
    tree = book.xml["rows"]
    self.assertEqual(tree.find(".//pane").get("ySplit"), "1")
    self.assertTrue(tree.find("autoFilter").get("ref").endswith("4"))
    self.assertTrue(tree.find("dimension").get("ref").endswith("4"))

  def test_more_rows_than_a_sheet_holds(self):
    with mock.patch.object(workbook_rows, "MAX_ROWS", 2):
      book = self.write(data=measured(source=["a", "b", "c"]))
    self.assertEqual(book.column_of("rows", "source"), ["a", "b"])
    self.assertTrue(any("first 2 of 3" in str(value) for value in book.sheets["contents"].values()))

  def test_lines_refer_to_their_cells(self):
    series = [model.Series("b", [20, 10, 30], [2.0, 1.0, NAN], [1.5, 0.5, NAN], [4.0, 1.25, NAN]),
              model.Series("=a", [10, 20], [5.0, 6.0]),
              model.Series("bound", [10, 30], [9.0, 9.0], is_reference=True)]
    book = self.write(figure(series=series, marks=[model.Mark(15, "from here")]))
    drawn = book.charts[0].findall(".//ser")
    areas = [[book.area(part.find(".//f").text) for part in (one.find("xVal"), one.find("yVal"))] for one in drawn]
    self.assertEqual(areas, [[[10, 20, 30], [1, 2, None]], [[10, 20], [5, 6]], [[10, 30], [9, 9]], [[15, 15], [0, 9]]])
    errors = drawn[0].find("errBars")
    self.assertEqual(book.area(errors.find("plus//f").text), [0.25, 2, None])
    self.assertEqual(book.area(errors.find("minus//f").text), [0.5, 0.5, None])
    self.assertIsNone(drawn[1].find("errBars"))
    unnamed = [entry.find("idx").get("val") for entry in book.charts[0].findall(".//legendEntry")]
    self.assertEqual(unnamed, ["3"])  # The mark.
    self.assertEqual("".join(drawn[1].find("tx").itertext()).strip(), "=a")

  def test_axes_are_logarithmic_where_the_figure_says_so(self):
    sizes = [64, 128, 4096]
    for x_log, y_log, bases in ((False, False, [None, None]), (True, False, ["2", None]), (True, True, ["2", "10"])):
      with self.subTest(x_log=x_log, y_log=y_log):
        book = self.write(figure(series=[model.Series("a", sizes, [0.02, 0.0, 7.0])], x=model.Axis("n", x_log),
                                 y=model.Axis("ms", y_log)))
        scales = book.charts[0].findall(".//valAx/scaling")
        found = [scale.find("logBase").get("val") if scale.find("logBase") is not None else None for scale in scales]
        self.assertEqual(found, bases)
        if y_log:
          self.assertEqual([float(scales[1].find(end).get("val")) for end in ("min", "max")], [0.01, 10])
        # What a logarithmic axis cannot show is no point of it.
        self.assertEqual(book.area(book.charts[0].find(".//yVal//f").text), [0.02, None if y_log else 0, 7])

  def test_points_are_not_joined(self):
    book = self.write(figure(model.Kind.POINTS, [model.Series("a", [2, 1], [1.0, 2.0], labels=["=x", ""])]))
    one = book.charts[0].find(".//ser")
    self.assertIsNotNone(one.find("spPr/ln/noFill"))
    self.assertEqual(book.area(one.find("xVal//f").text), [2, 1])
    self.assertEqual("".join(one.find(".//dLbl//rich").itertext()).strip(), "=x")

  def test_bars_have_a_column_for_each_series(self):
    series = [model.Series("theirs", ["a", "b"], [1.0, 2.0]),
              model.Series("ours", ["c", "a"], [3.0, 4.0], [2.0, 3.5], [5.0, 4.5]),
              model.Series("bound", ["a", "b", "c"], [9.0, 9.0, 9.0], is_reference=True)]
    for kind, grouping in ((model.Kind.BARS, "clustered"), (model.Kind.STACKED_BARS, "stacked")):
      with self.subTest(kind):
        book = self.write(figure(kind, series))
        bars, lines = book.charts[0].find(".//barChart"), book.charts[0].find(".//lineChart")
        self.assertEqual(bars.find("grouping").get("val"), grouping)
        self.assertEqual([book.area(one.find("cat//f").text) for one in bars.findall("ser")], [["a", "b", "c"]] * 2)
        self.assertEqual([book.area(one.find("val//f").text) for one in bars.findall("ser")], [[1, 2, None], [4, None, 3]])
        self.assertEqual(book.area(bars.findall("ser")[1].find("errBars/plus//f").text), [0.5, None, 2])
        self.assertEqual(book.area(lines.find("ser/val//f").text), [9, 9, 9])

  def test_heat_map_has_a_colour_scale(self):
    heat_map = model.HeatMap("h", "Heat", "where", "x", "y", "GB/s", ["8", "16"], ["32", "64"], [[1.0, NAN], [3.0, 4.0]])
    for higher_is_better in (True, False):
      with self.subTest(higher_is_better):
        book = self.write(dataclasses.replace(heat_map, higher_is_better=higher_is_better))
        area = book.xml["h"].find("conditionalFormatting")
        first, last = area.get("sqref").split(":")
        self.assertEqual((book.sheets["h"][first], book.sheets["h"][last]), (1, 4))
        self.assertEqual(area.findall(".//color")[0].get("rgb") == "FFFFFFFF", higher_is_better)

  def test_nothing_to_show(self):
    for item in (figure(), figure(model.Kind.BARS), model.Table("t", "T", [], []), model.Table("t", "T", ["a"], []),
                 figure(series=[model.Series("a", [], [])]), figure(series=[model.Series("a", [1], [NAN])]),
                 figure(series=[model.Series("a", [1], [NAN])], y=model.Axis("y", True), marks=[model.Mark(1, "m")]),
                 model.HeatMap("h", "H", "", "x", "y", "v", [], [], [])):
      with self.subTest(item):
        self.assertEqual(len(self.write(item).sheets), 3)

  def test_contents_lead_to_every_sheet(self):
    data = measured(source=["a.csv", "a.csv", "b.csv"], machine=["M", "M", "N"], git_commit=["c1", "c2", "c3"])
    book = self.write(figure(slug="a" * 40), figure(slug="A" * 40, title="Another"), model.Table("x", "X", ["c"], [[1]]),
                      data=dataclasses.replace(data, problems=["=b.csv:7: left out"]))
    links = [link.get("location") for link in book.xml["contents"].iter("hyperlink")]
    self.assertEqual(links, [f"'{name}'!A1" for name in book.sheets if name != "contents"])
    text = "\n".join(map(str, book.sheets["contents"].values()))
    for part in ("M, ", "c1, c2", "a.csv: 2 rows", "=b.csv:7: left out", "A section", "A sentence.", "Another"):
      self.assertIn(part, text)

  def test_names_of_sheets(self):
    slugs = ["rows", "Contents", "history", "a/b:c*d?e[f]\\g'h", "x" * 31, "x" * 32, "X" * 40, "", *["y" * 31] * 12]
    names = workbook.sheet_names(slugs)
    self.assertEqual(len({name.lower() for name in names} | {"rows", "contents", "history"}), len(slugs) + 3)
    for name in names:
      self.assertTrue(re.fullmatch(r"[^\[\]:*?/\\']{1,31}", name), name)

  def test_same_results_same_bytes(self):
    data = measured(source=["a"], timestamp_utc=["2026-01-02T03:04:05Z"])
    self.write(figure(series=[model.Series("a", [1], [2.0])]), data=data)
    first = self.path.read_bytes()
    self.write(figure(series=[model.Series("a", [1], [2.0])]), data=data)
    self.assertEqual(self.path.read_bytes(), first)

  def test_a_file_that_cannot_be_written(self):
    self.path = self.path.parent / "missing" / "report.xlsx"
    with self.assertRaises(OSError):
      self.write(figure())


if __name__ == "__main__":
  unittest.main()

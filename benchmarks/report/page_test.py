import html.parser
import math
import re
import unittest

import pandas

from benchmarks.report import model
from benchmarks.report.drawing import pictures
from benchmarks.report import page
from benchmarks.report import results

_EVIL = "<script>alert('x')</script>&\"onload=\""
_VOID = {"meta", "link", "path", "use", "rect"}
# Their end tags may be left out.
_OPTIONAL = {"td", "th", "tr", "thead", "tbody", "li"}


class _Parser(html.parser.HTMLParser):
  """Collects what the tests check, and whether tags are balanced."""

  def __init__(self, text):
    super().__init__()
    self.tags, self.texts, self.open, self.unbalanced = [], [], [], []
    self.feed(text)
    self.close()

  def handle_starttag(self, tag, attrs):
    self.tags.append((tag, dict(attrs)))
    if tag not in _VOID and tag not in _OPTIONAL:
      self.open.append(tag)

  def handle_startendtag(self, tag, attrs):
    self.tags.append((tag, dict(attrs)))

  def handle_endtag(self, tag):
    if tag in _OPTIONAL:
      return
    if not self.open or self.open.pop() != tag:
      self.unbalanced.append(tag)

  def handle_data(self, data):
    self.texts.append(data.strip())

  def attributes(self, name):
    return [attributes[name] for _, attributes in self.tags if name in attributes]


def _results(problems=(), **columns):
  row = {"machine": "NVIDIA H200", "cpu": "Xeon", "driver": "580", "cuda": "CUDA 13.0",
         "timestamp_utc": "2026-11-21T10:00:00Z", "git_commit": "g0123", "status": "ok", "source": "a.csv", **columns}
  return results.Results(pandas.DataFrame([row, {**row, "status": "skipped"}]), {}, list(problems))


def _section(figures=(), tables=(), sentences=("naive is slower.",), slug="matmul", title="Matrix multiplication"):
  return model.Section(slug, title, list(sentences), list(figures), list(tables))


def _chart(slug="time", points=3, **others):
  sizes = list(range(1, points + 1))
  fields = {"title": "Time by size", "subtitle": "NVIDIA H200", "notes": ["Lower is better."], **others}
  return model.Chart(slug=slug, kind=model.Kind.LINES, x=model.Axis("n"), y=model.Axis("ms"),
                     series=[model.Series("naive", sizes, [0.123456 * size for size in sizes])], **fields)


def _page(sections, read=None, title="A title"):
  figures = [figure for section in sections for figure in section.figures]
  return page.make_page(title, read or _results(), sections, pictures.draw_all(figures, with_png=False))


class PageTest(unittest.TestCase):

  def test_is_one_file_without_scripts(self):
    text = _page([_section([_chart()], [model.Table("t", "Table", ["a"], [[1.0]])])])
    parsed = _Parser(text)
    self.assertEqual((parsed.unbalanced, parsed.open), ([], []))
    self.assertEqual([tag for tag, _ in parsed.tags if tag in ("script", "img", "iframe", "object", "base")], [])
    self.assertEqual(parsed.attributes("src") + parsed.attributes("srcset"), [])
    for address in parsed.attributes("href") + parsed.attributes("xlink:href"):
      self.assertTrue(address.startswith(("#", "data:")), address)
    style, = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    self.assertNotIn("url(", style)
    self.assertNotIn("@import", style)
    self.assertEqual([address for address in re.findall(r"https?://[^\"' ]*", text) if "www.w3.org" not in address], [])
    policy, = (attributes["content"] for _, attributes in parsed.tags if "http-equiv" in attributes)
    self.assertIn("default-src 'none'", policy)

  def test_links_lead_somewhere_and_ids_are_unique(self):
    sections = [_section([_chart("a"), _chart("b")], [model.Table("t", "Table", ["a"], [[1.0]])]),
                _section([_chart("c")], slug="transpose")]
    parsed = _Parser(_page(sections, _results(["a problem"])))
    ids = parsed.attributes("id")
    self.assertEqual(len(ids), len(set(ids)))
    links = [address[1:] for address in parsed.attributes("href") + parsed.attributes("xlink:href") if address[:1] == "#"]
    self.assertLessEqual(set(links), set(ids))
    self.assertLessEqual({"matmul", "transpose", "a", "b", "c", "t"}, set(links))

  def test_words_from_outside_are_harmless(self):
    figure = _chart(title=_EVIL, subtitle=_EVIL, notes=[_EVIL])
    figure.series[0].x.append(4)
    figure.series[0].y.append(1.0)
    figure = model.Chart(figure.slug, _EVIL, _EVIL, figure.kind, model.Axis(_EVIL), model.Axis(_EVIL),
                         [model.Series(_EVIL, figure.series[0].x, figure.series[0].y, labels=[_EVIL] * 4)],
                         [model.Mark(2, _EVIL)], [_EVIL])
    heat_map = model.HeatMap("heat", _EVIL, _EVIL, _EVIL, _EVIL, _EVIL, [_EVIL], [_EVIL], [[1.0]], [_EVIL])
    table = model.Table("t", _EVIL, [_EVIL, "b"], [[_EVIL, 1.0]], _EVIL)
    read = _results([_EVIL] * 3, machine=_EVIL, cpu=_EVIL, driver=_EVIL, git_commit=_EVIL, source=_EVIL, status=_EVIL)
    read.other_files[_EVIL] = [[_EVIL]]
    text = _page([_section([figure, heat_map], [table], [_EVIL], title=_EVIL)], read, _EVIL)
    self.assertNotIn("<script", text)
    parsed = _Parser(text)
    self.assertEqual((parsed.unbalanced, parsed.open), ([], []))
    self.assertEqual(parsed.attributes("onload"), [])
    self.assertGreater(parsed.texts.count(_EVIL), 15)

  def test_tables(self):
    rows = [["naive", 0.98234567, 50269.34, math.nan], ["tiled", 2.0, 3, "8x8"]]
    parsed = _Parser(_page([_section(tables=[model.Table("t", "Table", ["kernel", "share", "gflops", "block"], rows)])]))
    for text in ("0.9823", "50269", "8x8", "naive"):
      self.assertIn(text, parsed.texts)
    self.assertNotIn("nan", parsed.texts)
    headers = [(attributes["scope"], attributes["class"]) for tag, attributes in parsed.tags if tag == "th"][-4:]
    self.assertEqual(headers, [("col", "words"), ("col", "number"), ("col", "number"), ("col", "words")])

  def test_long_tables_are_cut_and_say_so(self):
    for count, left_out in ((page.MOST_ROWS, False), (page.MOST_ROWS + 1, True)):
      with self.subTest(count):
        parsed = _Parser(_page([_section(tables=[model.Table("t", "Table", ["size"], [[row] for row in range(count)])])]))
        self.assertIn(str(page.MOST_ROWS - 1), parsed.texts)
        self.assertNotIn(str(page.MOST_ROWS), parsed.texts)
        self.assertEqual(any(f"of {count} rows" in text for text in parsed.texts), left_out)

  def test_says_what_was_measured_where_and_what_was_not_read(self):
    problems = ["a.csv:7: left out", "b.csv: not a sweep's file"]
    text = " ".join(_Parser(_page([], _results(problems))).texts)
    for part in ("NVIDIA H200", "Xeon", "580", "CUDA 13.0", "2026-11-21", "g0123", "a.csv", "1 ok, 1 skipped", "2 problems",
                 *problems):
      self.assertIn(part, text)

  def test_pictures_are_named_and_have_their_numbers(self):
    text = _page([_section([_chart()])])
    parsed = _Parser(text)
    picture, = (attributes for tag, attributes in parsed.tags if tag == "svg")
    self.assertEqual((picture["role"], picture["aria-label"]), ("img", "Time by size. NVIDIA H200"))
    self.assertIn("Lower is better.", parsed.texts)
    self.assertIn("0.1235", parsed.texts)

  def test_same_input_same_page(self):
    sections = [_section([_chart()])]
    self.assertEqual(_page(sections), _page(sections))


if __name__ == "__main__":
  unittest.main()

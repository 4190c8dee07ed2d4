import unittest
from xml.etree import ElementTree

from benchmarks.report.drawing import style
from benchmarks.report.drawing import svg

_HEAD = ('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
         'width="660pt" height="300pt" viewBox="0 0 660 300">')


def _make(body, title="title"):
  return svg.make_svgs(f"{_HEAD}{body}</svg>", "p7", title)


class SvgTest(unittest.TestCase):

  def test_colors_are_literal_in_a_file_and_variables_in_a_page(self):
    file, page = _make("".join(f'<path d="M 0 0" style="fill: {color}"/>' for color in style.LIGHT.values())
                       + '<path d="M 0 0" style="fill: #123456"/>')
    self.assertNotIn("var(", file)
    for name, color in style.LIGHT.items():
      self.assertIn(color, file)
      self.assertIn(f"fill:var(--{name})", page)
      self.assertNotIn(color, page)
    self.assertIn("#123456", page)

  def test_words_of_the_data_are_not_taken_for_colors(self):
    self.assertIn(f">{style.INK}<", _make(f"<text>{style.INK}</text>")[1])

  def test_used_ids_get_the_prefix_and_others_go(self):
    for text in _make('<g id="figure_1"><defs><path id="m1" d="M 0 0"/><clipPath id="c1"><rect/></clipPath></defs>'
                      '<g clip-path="url(#c1)"><use xlink:href="#m1" x="1" y="2" style="fill: red"/></g></g>'):
      root = ElementTree.fromstring(text)
      self.assertEqual({element.get("id") for element in root.iter() if element.get("id")}, {"p7-m1", "p7-c1"})
      self.assertIn('"#p7-m1"', text)
      self.assertIn('"url(#p7-c1)"', text)

  def test_markers_share_their_style(self):
    file, _ = _make('<defs><path id="m" d="M 0 0"/></defs><g>'
                    + '<use xlink:href="#m" x="1" y="2" style="fill: red"/>' * 3 + "</g>")
    self.assertEqual(file.count("fill:red"), 1)
    self.assertEqual(file.count("<use"), 3)

  def test_markers_of_two_styles_keep_them(self):
    file, _ = _make('<defs><path id="m" d="M 0 0"/></defs><g><use xlink:href="#m" x="1" y="2" style="fill: red"/>'
                    '<use xlink:href="#m" x="1" y="2" style="fill: blue"/></g>')
    self.assertIn("fill:red", file)
    self.assertIn("fill:blue", file)

  def test_paths_are_shorter_and_the_same(self):
    file, _ = _make('<path d="M 1.04 2.06 \nL 3.123456 4 \nL 5 -6.77 \nM 7 8 \nL 9 10 \n'
                    'C 1 2 3 4 5 6 \nC 1 2 3 4 5 6 \nz\n"/>')
    self.assertIn('d="M 1 2.1 3.1 4 5 -6.8 M 7 8 9 10 C 1 2 3 4 5 6 1 2 3 4 5 6 z"', file)

  def test_style_sheet_does_not_reach_the_page(self):
    for text in _make('<defs><style type="text/css">*{stroke-linejoin: round}</style></defs><metadata>x</metadata>'):
      self.assertNotIn("<style", text)
      self.assertNotIn("metadata", text)

  def test_text(self):
    _, page = _make("<text style=\"fill: red; font: 700 11px 'DejaVu Sans'; text-anchor: end\" x=\"1\" y=\"2\" "
                    'transform="rotate(-0 1 2)">a &lt;b&gt; c</text>')
    self.assertIn('style="fill:red;font-size:11px;font-weight:700;text-anchor:end"', page)
    self.assertNotIn("rotate", page)
    self.assertIn("a &lt;b&gt; c", page)
    _, page = _make('<text transform="rotate(-90 1.25 2)">a</text>')
    self.assertIn("rotate(-90 1.2 2)", page)

  def test_says_what_it_shows(self):
    file, page = _make("", 'a <script> "b"\x0b')
    self.assertEqual(ElementTree.fromstring(file).find("{http://www.w3.org/2000/svg}title").text, 'a <script> "b"')
    self.assertEqual(ElementTree.fromstring(page).get("aria-label"), 'a <script> "b"')
    for text in (file, page):
      self.assertEqual(ElementTree.fromstring(text).get("role"), "img")

  def test_characters_that_xml_does_not_have(self):
    self.assertIn(">ab<", _make("<text>a\x00\x0bb</text>")[0])


if __name__ == "__main__":
  unittest.main()

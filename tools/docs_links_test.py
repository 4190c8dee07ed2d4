"""Links that lead somewhere, and links that do not."""

import pathlib
import tempfile
import unittest

from tools import docs_links


class DocsLinksTest(unittest.TestCase):

  def test_what_counts_as_a_link(self):
    for text, targets in (
        ("[a](b.md) and ![c](d.svg)", ["b.md", "d.svg"]),
        ("[over two\nlines](b.md#c)", ["b.md#c"]),
        ("[`code`](b.h), [with [brackets]](c.h)", ["b.h", "c.h"]),
        ("[![a](b.svg)](c.md)", ["b.svg", "c.md"]),
        ("[a](<b.md> \"title\")\n\n[a]: c.md\n", ["b.md", "c.md"]),
        ("<a href=\"b.html\"><img src=\"c.png\"></a>", ["b.html", "c.png"]),
        ("`[a](b)` and ``[`](c)``", []),
        ("<!-- [a](b)\n[c](d) -->", []),
        ("```cpp\n[&](auto x)\n```\n[a](b)", ["b"]),
        ("```\n~~~\n[a](b)\n```\n", []),
        ("text\n\n    [a](b)\n\n    [c](d)\n\n[e](f)", ["f"]),
        ("text\n    [a](b)", ["b"]),  # A paragraph goes on.
    ):
      with self.subTest(text):
        self.assertCountEqual([target for _, target in docs_links.links(text)], targets)

  def test_lines(self):
    self.assertEqual(docs_links.links("```\n\n```\n\n[a](b) [c\nd](e)\n"), [(5, "b"), (6, "e")])

  def test_anchors_are_those_of_github(self):
    text = ("# A title\n## The studies' questions\n## 111 to 120 % of `peak_ms`\n## A title\n```\n# no heading\n```\n"
            "### [A link](x.md), and_more: - ?\n#hashtag\n")
    self.assertEqual([anchor for _, anchor in docs_links.headings(text)],
                     ["a-title", "the-studies-questions", "111-to-120--of-peak_ms", "a-title-1", "a-link-and_more---"])

  def test_what_leads_nowhere(self):
    with tempfile.TemporaryDirectory() as folder:
      root = pathlib.Path(folder) / "root"
      (root / "docs" / "results").mkdir(parents=True)
      (pathlib.Path(folder) / "outside.md").touch()
      (root / "code.h").touch()
      (root / "README.md").write_text("# Front\n[](docs/a.md) [](docs) [](#front) [](docs/a.md#two-words)\n")
      (root / "CONTRIBUTING.md").write_text("[](README.md#front) [](https://a.b/c) [](mailto:a@b) [](code.h)\n")
      (root / "docs" / "a.md").write_text("## Two words\n[](../code.h) [](results) [](results/b%20c.md#b) [](a.md)\n")
      (root / "docs" / "results" / "b c.md").write_text("# B\n")
      self.assertEqual(docs_links.broken_links(root), [])

      (root / "README.md").write_text("\n[](docs/missing.md) [](#front) [](docs/a.md#two) [](code.h#L3) [](../outside.md)\n")
      (root / "docs" / "results" / "b c.md").write_text("[](a.md)\n")
      broken = [line.split(": ")[:2] for line in docs_links.broken_links(root)]
      self.assertEqual(broken, [
          ["README.md:2", "docs/missing.md"],
          ["README.md:2", "#front"],
          ["README.md:2", "docs/a.md#two"],
          ["README.md:2", "code.h#L3"],
          ["README.md:2", "../outside.md"],
          ["CONTRIBUTING.md:1", "README.md#front"],
          ["docs/a.md:2", "results/b%20c.md#b"],
          ["docs/results/b c.md:1", "a.md"],
      ])

  def test_the_contents_page_lists_all(self):
    with tempfile.TemporaryDirectory() as folder:
      root = pathlib.Path(folder)
      (root / "docs" / "results").mkdir(parents=True)
      for page in ("a.md", "b.md", "results/README.md", "results/c.md"):
        (root / "docs" / page).touch()
      (root / "docs" / "README.md").write_text("[a](a.md#x) [](results/README.md) `[b](b.md)`\n")
      self.assertEqual(docs_links.unlisted_pages(root),
                       ["docs/README.md: b.md: not listed", "docs/README.md: results/c.md: not listed"])


if __name__ == "__main__":
  unittest.main()

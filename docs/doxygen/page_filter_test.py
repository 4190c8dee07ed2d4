"""What becomes of a page's headings, links, images, comments and text."""

import unittest

from docs.doxygen import page_filter

FILES = {"docs/page.md", "docs/other_page.md", "docs/results/README.md", "docs/images/a.svg", "matmul/matmul.h"}


class PageFilterTest(unittest.TestCase):

  def test_pages_from_github_to_doxygen(self):
    for page, before, after in (
        ("docs/page.md", "# A title\n## Two `words`\n", "# A title {#docs_page}\n## Two `words` {#docs_page-two-words}\n"),
        ("docs/page.md", "[a](other_page.md)", "[a](@ref docs_other_page)"),
        ("docs/page.md", "[`a` b](other_page.md#two-words), [c](#d)",
         "[a b](@ref docs_other_page-two-words), [c](@ref docs_page-d)"),
        ("docs/page.md", "[over\nlines](../matmul/matmul.h)", "[over\nlines](@ref matmul/matmul.h)"),
        ("docs/results/README.md", "[a](../page.md) [b](README.md)", "[a](@ref docs_page) [b](@ref docs_results_README)"),
        # Not in the manual.
        ("docs/page.md", "[a](../matmul/matmul.cc), [b](missing.md), [`c`](results/)", "a, b, `c`"),
        ("docs/page.md", "has\n[15](a.csv \"b; where c>=1\"). [16](a.csv \"b\").", "has\n15\\. 16."),
        ("docs/page.md", "[a](https://b.c/d--e#f)", "[a](https://b.c/d--e#f)"),
        ("docs/page.md", "![A -- picture](images/a.svg)", "@image html a.svg \"A -- picture\""),
        ("docs/page.md", "![A picture](images/missing.svg)", "A picture"),
        # What nobody shall see.
        ("docs/page.md", "<!-- table a;\nb -->\n| a |", "\n\n| a |"),
        # Markup.
        ("docs/page.md", "a@b, #c, %d, 5 % of, --e, f -- g, *h*", "a\\@b, \\#c, \\%d, 5 % of, \\--e, f \\-- g, *h*"),
        ("docs/page.md", "\"a --b\", --c", "\"a --b\", \\--c"),
        ("docs/page.md", "| a | b |\n| --- | ---: |\n", "| a | b |\n| --- | ---: |\n"),
        # Code.
        ("docs/page.md", "`--a #b`", "`--a #b`"),
        ("docs/page.md", "`--a='b'`", "``--a='b'``"),
        ("docs/page.md", "```cpp\n# @a [c](page.md) <!-- d -->\n```\n", "```cpp\n# @a [c](page.md) <!-- d -->\n```\n"),
        ("docs/page.md", "\n    a --b='c' `d'e` @f\n", "\n    a --b='c' `d'e` @f\n"),
    ):
      with self.subTest(before):
        self.assertEqual(page_filter.filtered(page, before, FILES), after)


if __name__ == "__main__":
  unittest.main()

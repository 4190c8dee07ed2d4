"""The manual is complete: that Doxygen had nothing to warn of is known when it is there at all."""

import html
import os
import pathlib
import re
import unittest
import urllib.parse

ROOT = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
MANUAL = ROOT / "docs" / "manual"
TITLE = re.compile(r"<title>Stridewise: (.*?)</title>")
LINK = re.compile(r"\b(?:href|src)=\"([^\"]*)\"")
NOT_TEXT = re.compile(r"<(pre|code|script)\b.*?</\1>|<div class=\"line\">.*?</div>|<[^>]*>", re.S)
NAME = re.compile(r"\b(?:id|name)=\"([^\"]*)\"")


class ManualTest(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    cls.pages = {page.name: page.read_text(encoding="utf-8") for page in MANUAL.glob("*.html")}
    cls.by_title = {html.unescape(title[1]): text for text in cls.pages.values() for title in TITLE.finditer(text)}

  def test_every_header_has_a_page_and_an_introduction(self):
    headers = [str(header.relative_to(ROOT)) for room in ("benchmarks", "common", "matmul", "transpose")
               for header in (ROOT / room).rglob("*.h")]
    self.assertGreater(len(headers), 50)
    for header in headers:
      page = self.by_title.get(f"{header} File Reference", "")
      self.assertTrue("Detailed Description" in page, f"{header}: has it a comment at the top?")

  def test_every_page_of_docs_is_there(self):
    for page in (ROOT / "docs").rglob("*.md"):
      title = page.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")
      self.assertTrue(title in self.by_title, page)

  def test_the_library_calls_are_documented(self):
    for header, function, says in (
        ("matmul/matmul.h", "MatMul", "Queues C = alpha"),
        ("matmul/matmul.h", "MatMulWorkspaceBytes", "bytes of workspace"),
        ("transpose/transpose.h", "Transpose", "Transposes <code>in</code> into"),
        ("transpose/transpose.h", "TransposeWorkspaceBytes", "bytes of device memory"),
    ):
      page = self.by_title[f"{header} File Reference"]
      row = re.search(rf">stridewise::{function}<.*?mdescRight\">(.*?)</td>", page, re.S)
      self.assertTrue(row and says in row[1], function)

  def test_the_main_page_leads_to_the_library_calls(self):
    # MatMul() has overloads in three headers, of which Doxygen takes the first.
    for function, page in (("MatMul", "(matmul|context|plan)_8h.html"), ("Transpose", "transpose_8h.html")):
      self.assertRegex(self.pages["index.html"], rf"<a [^>]*href=\"{page}#\w+\"[^>]*>{function}\(\)")

  def test_links_within_the_manual_lead_somewhere(self):
    names = {file: set(NAME.findall(text)) for file, text in self.pages.items()}
    for file, text in self.pages.items():
      for link in set(LINK.findall(text)):
        target, _, name = urllib.parse.unquote(html.unescape(link)).partition("#")
        target = target or file
        # Doxygen's list of a page's sections counts private classes too.
        if not re.match(r"[a-z]+:", link) and name != "nested-classes":
          self.assertTrue((MANUAL / target).exists(), f"{file}: {link}")
          self.assertTrue(not name or name in names[target], f"{file}: {link}")

  def test_no_markup_shows(self):
    for file, text in self.pages.items():
      if not file.endswith("_source.html"):
        shown = re.search(r".*(\\(?:[-_*@#%]|&[lga])|`|@(?:ref|file|code|endcode)\b).*", NOT_TEXT.sub("", text))
        self.assertFalse(shown, shown and f"{file}: {shown[0]}")

  def test_nothing_of_the_machine_or_of_internal_macros(self):
    for file, text in self.pages.items():
      self.assertFalse("execroot" in text, file)
      macros = [] if file.endswith("_source.html") else re.findall(r"#define&#160;(?:<[^>]*>)*(\w+)", text)
      self.assertFalse([macro for macro in macros if macro.endswith("_") or macro == "CSV_COLUMN"], file)


if __name__ == "__main__":
  unittest.main()

#!/usr/bin/env python3
"""Writes the tables and the figures of README.md and docs/ from the CSVs under docs/results/.

No measured figure is typed by hand. A page asks for a table with a marker, and this fills in what stands between it and
the end marker:

  <!-- table results/h200/matmul_default.csv; where rows=4096; columns implementation, kernel_ms_median, gflops -->
  <!-- end of table -->

The path starts at docs/. `where` keeps the rows with these values (COLUMN=VALUE|VALUE, COLUMN>=NUMBER, COLUMN<=NUMBER,
COLUMN==COLUMN, separated by commas) and may be left out. `; and PATH; where ...` before the columns adds the rows of another
file. `COLUMN as HEADING` gives a column another heading, and `COLUMN over row N` is a column's cell over that of the table's row N.

tools/docs/study_tables.py describes the markers of docs/studies/.

A figure in a sentence is a link whose title names its source; tools/docs/values.py has the grammar of titles, and
tools/docs/figures.py the rule by which a number counts as a measured figure and must have one.

Prints PAGE:LINE: what is wrong, and returns 1 if something is. With --check nothing is written, and a page whose tables
or figures are not up to date is an error too.
"""

import argparse
import os
import pathlib
import sys

# Not resolved: among a test's files this is a link to another folder.
ROOT = pathlib.Path(os.path.abspath(__file__)).parent.parent
sys.path.insert(0, str(ROOT))

from tools.docs import figures, study_tables, tables  # noqa: E402 pylint: disable=wrong-import-position


def line_of(text, offset):
  return text.count("\n", 0, offset) + 1


def filled_page(root, page):
  """(the page's text, the text as it should be, [what is wrong])."""
  old = page.read_text(encoding="utf-8")
  new, wrong_tables = tables.filled(root / "docs", old, tables.MAKERS + study_tables.MAKERS)
  messages = [(line_of(old, offset), message) for offset, message in wrong_tables]
  whole, wrong_figures = figures.filled(page.parent, new)
  # A table may have grown: lines are those of the page as it was, as long as it was up to date.
  messages += [(line_of(new, offset), message) for offset, message in wrong_figures]
  messages += [(line_of(new, offset), f"{found}: a figure without a source") for offset, found in figures.unmarked(new)]
  name = page.relative_to(root)
  return old, whole, [f"{name}:{line}: {message}" for line, message in sorted(messages)]


def differences(old, new):
  """The first line that differs."""
  pairs = zip(old.split("\n") + [""], new.split("\n") + [""])
  return next((i, was, should) for i, (was, should) in enumerate(pairs, 1) if was != should)


def update(root, check):
  """Fills all pages under root, or only compares them; returns what is wrong."""
  wrong = []
  for page in [root / "README.md"] + sorted((root / "docs").rglob("*.md")):
    old, new, messages = filled_page(root, page)
    wrong += messages
    if new == old:
      continue
    if check:
      wrong.append(f"{page.relative_to(root)}:{differences(old, new)[0]}: stale, tools/docs_tables.py updates it")
    else:
      page.write_text(new, encoding="utf-8")
      print(f"wrote: {page.relative_to(root)}")
  return wrong


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--check", action="store_true", help="write nothing")
  wrong = update(ROOT, parser.parse_args().check)
  print("\n".join(wrong), end="\n" if wrong else "")
  sys.exit(1 if wrong else 0)


if __name__ == "__main__":
  main()

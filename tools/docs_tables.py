#!/usr/bin/env python3
"""Writes the tables of docs/ from the CSVs under docs/results/, so that no figure is typed by hand.

A page asks for a table with a marker, and this fills in what stands between it and the end marker:

  <!-- table results/h200/matmul_default.csv; where rows=4096; columns implementation, kernel_ms_median, gflops -->
  <!-- end of table -->

The path starts at docs/. `where` keeps the rows with these values (COLUMN=VALUE|VALUE, separated by commas) and may be
left out. With --check nothing is written, and a page whose tables are not up to date is an error.
"""

import csv
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
TABLE = re.compile(
    r"(<!-- table (?P<path>[^;>]+)(?:; where (?P<where>[^;>]+))?; columns (?P<columns>[^;>]+) -->\n).*?"
    r"(<!-- end of table -->)", re.S)


def rounded(cell):
  """Numbers to four significant digits, for the eye; the CSV has all of them."""
  try:
    value = float(cell)
  except ValueError:
    return cell
  if value == int(value) and abs(value) < 1e15:
    return str(int(value))
  if abs(value) >= 1000:
    return str(round(value))
  return f"{value:.4g}"


def table(match):
  """The Markdown that a marker asks for."""
  with open(DOCS / match["path"].strip(), newline="", encoding="ascii") as file:
    rows = list(csv.DictReader(file))
  for condition in filter(None, (match["where"] or "").split(",")):
    column, values = condition.strip().split("=")
    rows = [row for row in rows if row[column] in values.split("|")]
  if not rows:
    raise SystemExit(f"docs_tables: no rows for {match[1].strip()}")
  columns = [column.strip() for column in match["columns"].split(",")]
  is_text = [all(rounded(row[c]) == row[c] and not row[c].isdigit() for row in rows) for c in columns]
  lines = ["| " + " | ".join(columns) + " |",
           "|" + "|".join(" --- " if text else " ---: " for text in is_text) + "|"]
  lines += ["| " + " | ".join(rounded(row[column]) for column in columns) + " |" for row in rows]
  return match[1] + "\n".join(lines) + "\n" + match[5]


def main():
  check = sys.argv[1:] == ["--check"]
  if sys.argv[1:] and not check:
    sys.exit("docs_tables: the only argument is --check")
  stale = []
  for page in sorted(DOCS.rglob("*.md")) + [DOCS.parent / "README.md"]:
    old = page.read_text(encoding="utf-8")
    new = TABLE.sub(table, old)
    if new != old:
      stale.append(str(page.relative_to(DOCS.parent)))
      if not check:
        page.write_text(new, encoding="utf-8")
  for page in stale:
    print(f"{'stale' if check else 'wrote'}: {page}")
  sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
  main()

#!/usr/bin/env python3
"""Writes the tables of docs/ from the CSVs under docs/results/, so that no figure is typed by hand.

A page asks for a table with a marker, and this fills in what stands between it and the end marker:

  <!-- table results/h200/matmul_default.csv; where rows=4096; columns implementation, kernel_ms_median, gflops -->
  <!-- end of table -->

A marker `<!-- study 002 beside results/h200/transpose_study_002.csv -->` puts a study's figures (results/studies.csv)
beside ours for the same kernel, shape and block, each with its share of the same machine's copy_row. `l1 off` before the
closing `-->` takes the study's figures without L1, `time COLUMN` another of our times than the kernel's median.

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
    r"(?P<end><!-- end of table -->)", re.S)

STUDY = re.compile(
    r"(<!-- study (?P<study>\d+) beside (?P<path>[^ ]+)(?: l1 (?P<l1>\w+))?(?: time (?P<time>\w+))? -->\n).*?"
    r"(?P<end><!-- end of table -->)", re.S)


# What older files of the sweeps lack is empty there, as it is where it is not known.
LATE_COLUMNS = ("shared_efficiency", "branch_efficiency", "batch", "layout", "alpha", "beta", "kernels", "bound_ms",
                "vs_cublas", "step")


def read(path):
  with open(DOCS / path.strip(), newline="", encoding="ascii") as file:
    return [{**dict.fromkeys(LATE_COLUMNS, ""), **row} for row in csv.DictReader(file)]


def markdown(columns, is_text, rows):
  lines = ["| " + " | ".join(columns) + " |", "|" + "|".join(" --- " if text else " ---: " for text in is_text) + "|"]
  return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def is_number(cell):
  try:
    float(cell)
    return True
  except ValueError:
    return False


def rounded(cell):
  """Numbers to four significant digits, for the eye; the CSV has all of them."""
  if not is_number(cell):
    return cell
  value = float(cell)
  if value == int(value) and abs(value) < 1e15:
    return str(int(value))
  if abs(value) >= 1000:
    return str(round(value))
  return f"{value:.4g}"


def table(match):
  """The Markdown that a marker asks for."""
  rows = read(match["path"])
  for condition in filter(None, (match["where"] or "").split(",")):
    column, values = condition.strip().split("=")
    rows = [row for row in rows if row[column] in values.split("|")]
  if not rows:
    raise SystemExit(f"docs_tables: no rows for {match[1].strip()}")
  columns = [column.strip() for column in match["columns"].split(",")]
  is_text = [not all(is_number(row[column]) for row in rows if row[column]) for column in columns]
  cells = [[rounded(row[column]) for column in columns] for row in rows]
  return match[1] + markdown(columns, is_text, cells) + match["end"]


def study_table(match):
  """Theirs and ours, row by row of the study."""
  key = ("implementation", "rows", "cols", "block_x", "block_y")
  time = match["time"] or "kernel_ms_median"
  ours = {tuple(row[k] for k in key): row for row in read(match["path"]) if row["status"] == "ok" and not row["batch"]}
  theirs = [row for row in read("results/studies.csv")
            if row["study"] == match["study"] and row["l1"] == (match["l1"] or "on") and row["ms"]]

  def share(rows, row, column):
    """The time of copy_row at the same shape and block, in percent of this row's."""
    for copy in rows:
      if copy["implementation"] == "copy_row" and all(copy[k] == row[k] for k in key[1:]):
        return f"{100 * float(copy[column]) / float(row[column]):.0f}"
    return ""

  cells = []
  for row in theirs:
    our = ours.get(tuple(row[k] for k in key))
    if our is None:
      raise SystemExit(f"docs_tables: {match['path']} has no row like {row}")
    cells.append([row["implementation"], "x".join(filter(None, (row["block_x"], row["block_y"]))), rounded(row["ms"]),
                  share(theirs, row, "ms"), rounded(our[time]), rounded(our["gbps"]), share(ours.values(), our, time),
                  rounded(our["pct_of_copy"])])
  columns = ["kernel", "block", f"ms on their {theirs[0]['device']}", "% of their copy_row", f"our {time}", "gbps",
             "% of our copy_row", "pct_of_copy"]
  return match[1] + markdown(columns, [True, True] + [False] * 6, cells) + match["end"]


def main():
  check = sys.argv[1:] == ["--check"]
  if sys.argv[1:] and not check:
    sys.exit("docs_tables: the only argument is --check")
  stale = []
  for page in sorted(DOCS.rglob("*.md")) + [DOCS.parent / "README.md"]:
    old = page.read_text(encoding="utf-8")
    new = STUDY.sub(study_table, TABLE.sub(table, old))
    if new != old:
      stale.append(str(page.relative_to(DOCS.parent)))
      if not check:
        page.write_text(new, encoding="utf-8")
  for page in stale:
    print(f"{'stale' if check else 'wrote'}: {page}")
  sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
  main()

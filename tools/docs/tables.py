"""Fills the tables of a page from the CSVs; tools/docs_tables.py describes the markers."""

import re

from tools.docs import results

TABLE = re.compile(
    r"(<!-- table (?P<sources>[^;>]+(?:; (?:where|and) .+?)?); columns (?P<columns>[^;>]+) -->\n).*?"
    r"(?P<end><!-- end of table -->)", re.S)
RATIO = re.compile(r"(\w+) over row (\d+)$")


def markdown(columns, is_text, rows):
  lines = ["| " + " | ".join(columns) + " |", "|" + "|".join(" --- " if text else " ---: " for text in is_text) + "|"]
  return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def rounded(cell):
  """Numbers to four significant digits, for the eye; the CSV has all of them."""
  value = results.number(cell)
  if value is None:
    return cell
  if value == int(value) and abs(value) < 1e15:
    return str(int(value))
  if abs(value) >= 1000:
    return str(round(value))
  return f"{value:.4g}"


def rows_of(docs, sources):
  """The rows of all sources, `PATH; where ...`, in the order in which they are named."""
  rows = []
  for source in re.split("; and ", sources):
    path, _, where = source.partition("; where ")
    found = results.select(results.read(docs / path.strip()), where)
    if not found:
      raise results.PageError(f"no rows of {path.strip()}")
    rows += found
  return rows


def with_ratio(rows, column):
  """The rows with the column, if it is `NAME over row N`: the cell over that of the table's row N."""
  match = RATIO.match(column)
  if not match or not any(match[1] in row for row in rows) or not 1 <= int(match[2]) <= len(rows):
    return rows
  values = [results.number(row.get(match[1], "")) for row in rows]
  base = values[int(match[2]) - 1]
  return [{**row, column: str(value / base) if value is not None and base else ""} for row, value in zip(rows, values)]


def table(docs, match):
  """The Markdown that a marker asks for."""
  rows = rows_of(docs, match["sources"])
  columns, headings = zip(*((name, heading or name) for name, _, heading in
                            (column.strip().partition(" as ") for column in match["columns"].split(","))))
  for column in columns:
    rows = with_ratio(rows, column)
  # A file may lack a column that another one has.
  unknown = [column for column in columns if not any(column in row for row in rows)]
  if unknown:
    raise results.PageError(f"no column {unknown[0]}")
  is_text = [any(results.number(row[column]) is None for row in rows if row.get(column)) for column in columns]
  cells = [[rounded(row.get(column, "")) for column in columns] for row in rows]
  return match[1] + markdown(headings, is_text, cells) + match["end"]


MAKERS = ((TABLE, table),)


def filled(docs, text, makers=MAKERS):
  """(the text with all tables filled, [(offset, what is wrong)])."""
  wrong = []

  def fill(make):
    def instead(match):
      try:
        return make(docs, match)
      except results.PageError as error:
        wrong.append((match.start(), f"{match[1].strip()}: {error}"))
        return match[0]
    return instead

  for pattern, make in makers:
    text = pattern.sub(fill(make), text)
  return text, wrong

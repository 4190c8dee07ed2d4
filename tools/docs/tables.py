"""Fills the tables of a page from the CSVs; tools/docs_tables.py describes the markers."""

import re

from tools.docs import results

TABLE = re.compile(
    r"(<!-- table (?P<path>[^;>]+)(?:; where (?P<where>.+?))?; columns (?P<columns>[^;>]+) -->\n).*?"
    r"(?P<end><!-- end of table -->)", re.S)


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


def table(docs, match):
  """The Markdown that a marker asks for."""
  rows = results.select(results.read(docs / match["path"].strip()), match["where"] or "")
  if not rows:
    raise results.PageError("no rows")
  columns, headings = zip(*((name, heading or name) for name, _, heading in
                            (column.strip().partition(" as ") for column in match["columns"].split(","))))
  unknown = [column for column in columns if column not in rows[0]]
  if unknown:
    raise results.PageError(f"no column {unknown[0]}")
  is_text = [any(results.number(row[column]) is None for row in rows if row[column]) for column in columns]
  cells = [[rounded(row[column]) for column in columns] for row in rows]
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

"""Fills the tables of a page from the CSVs; tools/docs_tables.py describes the markers."""

import re

from tools.docs import results

TABLE = re.compile(
    r"(<!-- table (?P<path>[^;>]+)(?:; where (?P<where>.+?))?; columns (?P<columns>[^;>]+) -->\n).*?"
    r"(?P<end><!-- end of table -->)", re.S)

STUDY = re.compile(
    r"(<!-- study (?P<study>\d+) beside (?P<path>[^ ]+)(?: l1 (?P<l1>\w+))?(?: time (?P<time>\w+))? -->\n).*?"
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


def study_table(docs, match):
  """Theirs and ours, row by row of the study."""
  key = ("implementation", "rows", "cols", "block_x", "block_y")
  time = match["time"] or "kernel_ms_median"
  ours = {tuple(row[k] for k in key): row for row in results.read(docs / match["path"])
          if row["status"] == "ok" and not row["batch"]}
  theirs = [row for row in results.read(docs / "results/studies.csv")
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
      raise results.PageError(f"{match['path']} has no row like {row}")
    cells.append([row["implementation"], "x".join(filter(None, (row["block_x"], row["block_y"]))), rounded(row["ms"]),
                  share(theirs, row, "ms"), rounded(our[time]), rounded(our["gbps"]), share(ours.values(), our, time),
                  rounded(our["pct_of_copy"])])
  columns = ["kernel", "block", f"ms on their {theirs[0]['device']}", "% of their copy_row", f"our {time}", "gbps",
             "% of our copy_row", "pct_of_copy"]
  return match[1] + markdown(columns, [True, True] + [False] * 6, cells) + match["end"]


MAKERS = ((TABLE, table), (STUDY, study_table))


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

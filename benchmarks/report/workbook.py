"""Writes the report as a spreadsheet: a sheet of contents, one for each figure and table, one with the rows of all files.

Numbers are numbers in any locale, words are text even where they begin with '=', and unknown cells are empty.
"""

import datetime

import xlsxwriter
from xlsxwriter import exceptions

from benchmarks.report import workbook_cells, workbook_rows, workbook_sheets
from benchmarks.report.drawing import style

CONTENTS, ROWS = "contents", "rows"
MAX_NAME = 31  # Characters in the name of a sheet.


def write_workbook(path, sections, results):
  """Writes `sections` (model.Section) and Results to `path`. Raises OSError when it cannot."""
  workbook = xlsxwriter.Workbook(str(path), {"strings_to_formulas": False, "strings_to_urls": False})
  workbook.set_properties({"title": "Stridewise report", "created": _last_timestamp(results.rows)})
  formats = workbook_cells.Formats(workbook)
  contents = workbook.add_worksheet(CONTENTS)
  styles = style.assign_styles([figure for section in sections for figure in section.figures])
  names = sheet_names([item.slug for section in sections for item in (*section.figures, *section.tables)])
  listed, unused = [], iter(names)
  for section in sections:
    sheets = []
    for item in (*section.figures, *section.tables):
      name = next(unused)
      workbook_sheets.write_item(workbook_sheets.Page(workbook, workbook.add_worksheet(name), styles, formats), item)
      sheets.append((name, item.title))
    listed.append((section, sheets))
  count = workbook.add_worksheet(ROWS, workbook_rows.RowsSheet).fill(results.rows, formats)
  _write_contents(contents, formats, listed, results, count)
  try:
    workbook.close()
  except exceptions.FileCreateError as error:
    raise error.args[0]  # The OSError.


def sheet_names(slugs):
  """Returns a name for each slug that is legal, and unique regardless of case."""
  names, taken = [], {CONTENTS, ROWS, "history"}  # Excel reserves the last.
  for slug in slugs:
    legal = "".join(c if c.isalnum() or c in "-_" else "-" for c in slug) or "sheet"
    name, number = legal[:MAX_NAME], 1
    while name.lower() in taken:
      number += 1
      name = f"{legal[:MAX_NAME - len(str(number)) - 1]}-{number}"
    taken.add(name.lower())
    names.append(name)
  return names


def _write_contents(sheet, formats, listed, results, rows_written):
  """Writes the sheet of contents. listed: (Section, names and titles of its sheets)."""
  sheet.fit_to_pages(1, 0)
  sheet.set_column(0, 0, MAX_NAME + 3)
  sheet.set_column(1, 1, 100)
  row = _Rows(sheet, formats)
  row.put("Stridewise report", cell_format=formats.title)
  for machine, rows in results.rows.groupby("machine", sort=True):
    days = rows["timestamp_utc"].str[:10]
    row.put("machine", f"{machine or 'not named'}, measured {_span(days)}, {_commits(rows['git_commit'])}")
  for name, rows in results.rows.groupby("source", sort=False):
    row.put("file", f"{name}: {len(rows)} rows")
  for problem in results.problems:
    row.put("problem", problem)
  if rows_written < len(results.rows):
    row.put("note", f"sheet '{ROWS}' has the first {rows_written} of {len(results.rows)} rows; the CSV files have all")
  for section, sheets in listed:
    row.put()
    row.put(section.title, cell_format=formats.bold)
    for sentence in section.sentences:
      row.put("", sentence)
    for name, title in sheets:
      row.put_link(name, title)
  row.put()
  row.put("All measurements", cell_format=formats.bold)
  row.put_link(ROWS, "the rows of all files, with all columns")


class _Rows:
  """Writes the rows of a sheet from the top down."""

  def __init__(self, sheet, formats):
    self._sheet, self._formats, self._row = sheet, formats, 0

  def put(self, *values, cell_format=None):
    workbook_cells.put_row(self._sheet, self._row, values, self._formats, cell_format)
    self._row += 1

  def put_link(self, name, title):
    self._sheet.write_url(self._row, 0, f"internal:'{name}'!A1", self._formats.link, name)
    workbook_cells.put(self._sheet, self._row, 1, title, self._formats)
    self._row += 1


def _last_timestamp(rows):
  """Returns when the last row was measured: the workbook's date, so that the same files make the same workbook."""
  try:
    return datetime.datetime.strptime(rows["timestamp_utc"].max(), "%Y-%m-%dT%H:%M:%SZ")
  except ValueError:
    return datetime.datetime(1980, 1, 1)


def _span(days):
  first, last = days.min(), days.max()
  return first if first == last else f"{first} to {last}"


def _commits(commits):
  names = list(dict.fromkeys(commits))
  return f"commit {names[0]}" if len(names) == 1 else f"{len(names)} commits: {', '.join(names)}"

"""The sheet `rows`: the rows of all files.

XlsxWriter takes 3 us a cell, 2 s for 10,000 rows. Here it writes only the header and the frame of the sheet. The XML of the
rows is made column by column, in a fifth of that time.
"""

import math

import pandas
from xlsxwriter import utility, worksheet

from benchmarks.report import columns, workbook_cells

MAX_ROWS = 10000  # 100,000 rows took 10 s to write, made 29 MB and opened slowly; the CSV files have all rows.

# Where a row comes from, then the columns of the files.
COLUMNS = ("source", "line", "machine", *columns.NAMES)


class RowsSheet(worksheet.Worksheet):
  """For Workbook.add_worksheet(NAME, RowsSheet), then fill()."""

  def fill(self, rows, formats):
    """Writes the header and the first MAX_ROWS of Results.rows. Returns the number of these rows."""
    rows = rows.iloc[:MAX_ROWS]
    workbook_cells.put_row(self, 0, COLUMNS, formats, formats.bold)
    for column, name in enumerate(COLUMNS):
      self.set_column(column, column, max(10, min(30, len(name) + 2)))
    self.freeze_panes(1, 0)
    self.autofilter(0, 0, len(rows), len(COLUMNS) - 1)
    self.ignore_errors({"number_stored_as_text": f"A1:{utility.xl_rowcol_to_cell(len(rows), len(COLUMNS) - 1)}"})
    self._columns = [self._make_cells(rows[name]) for name in COLUMNS]
    self._row_count = self.dim_rowmax = len(rows)
    return len(rows)

  def _make_cells(self, values):
    """Returns for each row an index into a list of cells' XML after the address, and this list. Its last is "", an empty cell."""
    indices, distinct = pandas.factorize(values)  # NaN has -1.
    if values.dtype.kind in "fi":
      cells = [f"><v>{repr(value).removesuffix('.0')}</v></c>" if math.isfinite(value) else ""
               for value in distinct.tolist()]
    else:
      cells = [self._word_cell(word) for word in distinct]
    return indices.tolist(), cells + [""]

  def _word_cell(self, word):
    # Words stand in a table of the workbook, and a cell has the index.
    return f' t="s"><v>{self.str_table._get_shared_string_index(workbook_cells.clean(word))}</v></c>' if word else ""

  def _write_rows(self):
    # XlsxWriter calls this to write what is between <sheetData> and </sheetData>.
    super()._write_rows()
    letters = [utility.xl_col_to_name(column) for column in range(len(COLUMNS))]
    names = [str(row + 2) for row in range(self._row_count)]  # From 1, and below the header.
    columns = [[f'<c r="{letter}{name}"{cells[index]}' if cells[index] else "" for name, index in zip(names, indices)]
               for letter, (indices, cells) in zip(letters, self._columns)]
    self.fh.writelines(f'<row r="{name}">{"".join(row)}</row>' for name, row in zip(names, zip(*columns)))

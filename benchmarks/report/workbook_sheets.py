"""The sheets of figures and tables: title, notes, the numbers, and beside them the chart that shows them.

The numbers are laid out so that a native chart can refer to them: those of lines and points one series below the other, those
of bars with a column for each series. A long line is thinned to the points that a chart can show; all measurements are in the
sheet `rows`.
"""

import dataclasses
import math
import textwrap

from xlsxwriter import utility

from benchmarks.report import model, thinning, workbook_cells, workbook_charts
from benchmarks.report.workbook_charts import Cells, SeriesCells

MIN_WIDTH = 12  # Characters; the longest numbers, such as 0.00001234, have 10.
LINE_HEIGHT = 15  # Points.
MOST_POINTS = 200  # Of a line: one for every four or five pixels of its chart.


@dataclasses.dataclass(frozen=True)
class Page(workbook_charts.Canvas):
  """A sheet that is being written."""
  formats: workbook_cells.Formats

  def cells(self, first_row, column, last_row):
    return Cells(self.sheet.get_name(), first_row, column, last_row)

  def put_row(self, row, values, cell_format=None):
    workbook_cells.put_row(self.sheet, row, values, self.formats, cell_format)


def write_item(page, item):
  """Writes a Chart, HeatMap or Table."""
  if isinstance(item, model.Chart):
    whole, item = item, thinning.thinned(item, MOST_POINTS)
    notes = [item.subtitle, *item.notes]
    if item is not whole:
      notes.append("All measurements are in the sheet 'rows'.")
    write = _write_bars if item.kind in (model.Kind.BARS, model.Kind.STACKED_BARS) else _write_points
  elif isinstance(item, model.HeatMap):
    notes = [f"{item.value_label}. {item.subtitle}", *item.notes]
    write = _write_heat_map
  else:
    notes = [item.note] if item.note else []
    write = _write_table
  page.sheet.set_landscape()
  page.sheet.fit_to_pages(1, 0)  # One page wide in print, and any number of pages long.
  page.sheet.write_string(0, 0, workbook_cells.clean(item.title), page.formats.title)
  for row, note in enumerate(notes, start=1):
    page.sheet.write_string(row, 0, workbook_cells.clean(note), page.formats.plain)
  page.sheet.write_url(len(notes) + 1, 0, "internal:'contents'!A1", page.formats.link, "contents")
  write(page, item, len(notes) + 3)


def _write_header(page, top, columns, rows):
  """Writes the names of the columns, aligned like their cells, and sets the widths of the columns."""
  lines = 1
  for column, name in enumerate(columns):
    words = [row[column] for row in rows if isinstance(row[column], str)]
    header_format = page.formats.header if any(words) else page.formats.number_header
    workbook_cells.put(page.sheet, top, column, name, page.formats, header_format)
    longest = max(map(len, words), default=0)
    width = max(MIN_WIDTH, min(40, longest + 2), min(20, len(name) + 2))
    page.sheet.set_column(column, column, width)
    lines = max(lines, len(textwrap.wrap(name, width - 2)))
  page.sheet.set_row(top, LINE_HEIGHT * lines)


def _write_table(page, table, top):
  _write_header(page, top, table.columns, table.rows)
  for row, values in enumerate(table.rows, start=top + 1):
    page.put_row(row, values)
  if table.rows:
    last = (top + len(table.rows), len(table.columns) - 1)
    page.sheet.autofilter(top, 0, *last)
    page.sheet.ignore_errors({"number_stored_as_text": f"A{top + 2}:{utility.xl_rowcol_to_cell(*last)}"})
  page.sheet.freeze_panes(top + 1, 0)


def _write_heat_map(page, heat_map, top):
  table = heat_map.table()
  _write_header(page, top, table.columns, table.rows)
  for row, (name, *values) in enumerate(table.rows, start=top + 1):
    page.put_row(row, [name])
    for column, value in enumerate(values, start=1):
      workbook_cells.put(page.sheet, row, column, value, page.formats)
  low, high = ("#FFFFFF", "#4A90C2") if heat_map.higher_is_better else ("#4A90C2", "#FFFFFF")
  if table.rows and heat_map.columns:
    page.sheet.conditional_format(top + 1, 1, top + len(table.rows), len(heat_map.columns),
                                  {"type": "2_color_scale", "min_color": low, "max_color": high})
  page.sheet.freeze_panes(top + 1, 1)


def _write_points(page, figure, top):
  """Writes columns of series, x and y; where there are any, also of low, high, their distances from y, and labels."""
  has_spread = any(series.low is not None for series in figure.series)
  has_labels = any(series.labels is not None for series in figure.series)
  columns = ["series", figure.x.label, figure.y.label]
  columns += ["low", "high", "below", "above"] if has_spread else []
  columns += [figure.label] if has_labels else []
  rows, placed = [], []
  for series in figure.series:
    first = top + 1 + len(rows)
    rows.extend(_point_rows(figure, series, has_spread, has_labels))
    last = top + len(rows)
    if last < first:
      continue
    spread = [page.cells(first, column, last) for column in (5, 6)] if series.low is not None else [None, None]
    labels = [row[-1] for row in rows[first - top - 1:]] if series.labels is not None else None
    placed.append(SeriesCells(series, page.cells(first, 1, last), page.cells(first, 2, last), *spread, labels))
  _write_header(page, top, columns, rows + [[mark.label] + [math.nan] * (len(columns) - 1) for mark in figure.marks])
  for row, values in enumerate(rows, start=top + 1):
    page.put_row(row, values)
  marks = _write_marks(page, figure, top + len(rows) + 3)
  page.sheet.freeze_panes(top + 1, 0)
  if placed:
    workbook_charts.insert_scatter(page, figure, placed, marks, (top, len(columns) + 1))


def _point_rows(figure, series, has_spread, has_labels):
  indices = range(len(series.x))
  if figure.kind == model.Kind.LINES:
    indices = sorted(indices, key=lambda index: series.x[index])
  for index in indices:
    row = [series.name, _plotted(series.x[index], figure.x), _plotted(series.y[index], figure.y)]
    if has_spread:
      row += _spread(series, index, figure.y)
    if has_labels:
      row.append(series.labels[index] if series.labels else "")
    yield row


def _write_marks(page, figure, top):
  """Writes two points for each vertical line, from below all values to above them; returns their labels and cells."""
  lowest, highest = workbook_charts.extent(figure.y, workbook_charts.values_along_y(figure))
  marks = [mark for mark in figure.marks if math.isfinite(mark.x)]
  if not marks or lowest is None:
    return []
  page.put_row(top, ["mark", figure.x.label, figure.y.label], page.formats.header)
  placed = []
  for row, mark in zip(range(top + 1, top + 1 + 2 * len(marks), 2), marks):
    page.put_row(row, [mark.label, mark.x, lowest])
    page.put_row(row + 1, [mark.label, mark.x, highest])
    placed.append((mark.label, page.cells(row, 1, row + 1), page.cells(row, 2, row + 1)))
  return placed


def _write_bars(page, figure, top):
  """Writes columns of the words along x, of each series, and then of the distances of its low and high from it."""
  words = list(dict.fromkeys(word for series in figure.series for word in series.x))
  if not words:
    return
  all_series = [_with_all(series, words) for series in figure.series]
  columns = [figure.x.label, *(series.name for series in all_series)]
  rows = [[str(word), *values] for word, *values in zip(words, *(
      [_plotted(y, figure.y) for y in series.y] for series in all_series))]
  first, last = top + 1, top + len(words)
  placed = []
  for column, series in enumerate(all_series, start=1):
    spread = [None, None]
    if series.low is not None:
      spread = [page.cells(first, len(columns) + offset, last) for offset in (0, 1)]
      columns += [f"{series.name}: below", f"{series.name}: above"]
      for index, row in enumerate(rows):
        row += _spread(series, index, figure.y)[2:]
    placed.append(SeriesCells(series, page.cells(first, 0, last), page.cells(first, column, last), *spread, series.labels))
  _write_header(page, top, columns, rows)
  for row, values in enumerate(rows, start=first):
    page.put_row(row, values)
  page.sheet.freeze_panes(first, 1)
  workbook_charts.insert_bars(page, figure, placed, (top, len(columns) + 1))


def _with_all(series, words):
  """Returns `series` with a value for each of `words`, NaN where it has none."""
  indices = {word: index for index, word in enumerate(series.x)}

  def spread_out(values, nothing):
    return None if values is None else [values[indices[word]] if word in indices else nothing for word in words]

  return dataclasses.replace(series, x=words, y=spread_out(series.y, math.nan), low=spread_out(series.low, math.nan),
                             high=spread_out(series.high, math.nan), labels=spread_out(series.labels, ""))


def _plotted(value, axis):
  """Returns `value`, or NaN where a logarithmic axis cannot show it: Excel would warn whenever the file is opened."""
  return math.nan if axis.log and value <= 0 else value


def _spread(series, index, axis):
  """Returns low, high, y - low, high - y; NaN without a spread."""
  if series.low is None:
    return [math.nan] * 4
  y, low, high = (_plotted(values[index], axis) for values in (series.y, series.low, series.high))
  return [low, high, y - low, high - y]

"""Native charts of a spreadsheet over the cells of a sheet, in the colours of the pictures."""

import dataclasses
import math

from xlsxwriter import utility

from benchmarks.report import model, workbook_cells
from benchmarks.report.drawing import style

SIZE = {"width": 960, "height": 520}  # Pixels.
LONG_WORD = 16  # Characters; longer words along x take room from the bars.
HIGHER = {"width": 960, "height": 680}
MANY_POINTS = 40  # A line with more points has no markers.
REFERENCE_LINE = {"color": style.MUTED, "width": 1.5, "dash_type": "dash"}
MARK_LINE = {"color": style.MUTED, "width": 0.75, "dash_type": "square_dot"}
DASHES = {"-": "solid", "-.": "dash_dot", ":": "round_dot"}


@dataclasses.dataclass(frozen=True)
class Cells:
  """A range of cells within a column of a sheet."""
  sheet: str
  first_row: int
  column: int
  last_row: int

  def range(self):
    return [self.sheet, self.first_row, self.column, self.last_row, self.column]

  def formula(self):
    """Returns the range as a formula, which is what error bars take."""
    area = utility.xl_range_abs(self.first_row, self.column, self.last_row, self.column)
    return f"={utility.quote_sheetname(self.sheet)}!{area}"


@dataclasses.dataclass(frozen=True)
class SeriesCells:
  """The cells that hold the numbers of a model.Series."""
  series: model.Series
  x: Cells
  y: Cells
  below: Cells = None  # The distance from low to y; None without a spread.
  above: Cells = None
  labels: list = None  # Words.


@dataclasses.dataclass(frozen=True)
class Canvas:
  """The sheet that charts are inserted into, and the style of each series by name."""
  workbook: object  # xlsxwriter.Workbook.
  sheet: object
  styles: dict

  def insert(self, native, figure, cell, size, unnamed=()):
    """Inserts a native chart. cell: (row, column) of its corner; unnamed: indices of series that the legend omits."""
    native.set_title({"name": _literal(f"{figure.title}\n{figure.subtitle}"), "name_font": {"size": 12}, "overlay": False})
    native.set_legend({"position": "right" if len(figure.series) > 5 else "bottom", "delete_series": list(unnamed)})
    native.set_size(size)
    self.sheet.insert_chart(*cell, native)


def insert_scatter(canvas, figure, placed, marks, cell):
  """Inserts a chart of lines or points. placed: SeriesCells; marks: (label, Cells of x, Cells of y) of vertical lines; cell:
  (row, column) of its corner."""
  native = canvas.workbook.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
  for cells in placed:
    options = _series(canvas, figure, cells)
    if figure.kind == model.Kind.POINTS and not cells.series.is_reference:
      options["line"] = {"none": True}
    elif cells.series.is_reference or len(cells.series.x) > MANY_POINTS:
      options["marker"] = {"type": "none"}
    native.add_series(options)
  for label, x, y in marks:
    native.add_series({
        "name": _literal(label), "categories": x.range(), "values": y.range(), "line": MARK_LINE, "marker": {"type": "none"},
        "data_labels": {"value": True, "position": "right", "font": {"size": 8},
                        "custom": [{"delete": True}, {"value": _literal(label)}]}})
  native.set_x_axis(_axis(figure.x, [x for series in figure.series for x in series.x] + [mark.x for mark in figure.marks]))
  native.set_y_axis(_axis(figure.y, values_along_y(figure)))
  canvas.insert(native, figure, cell, SIZE, range(len(placed), len(placed) + len(marks)))


def insert_bars(canvas, figure, placed, cell):
  """Inserts a chart of bars, side by side or stacked; references are lines."""
  stacked = figure.kind == model.Kind.STACKED_BARS
  native = canvas.workbook.add_chart({"type": "column", **({"subtype": "stacked"} if stacked else {})})
  references = canvas.workbook.add_chart({"type": "line"}) if any(cells.series.is_reference for cells in placed) else None
  for cells in placed:
    options = _series(canvas, figure, cells)
    if cells.series.is_reference:
      references.add_series({**options, "marker": {"type": "none"}})
    else:
      native.add_series({**options, "marker": None, "gap": 60})
  if references:
    native.combine(references)
  native.set_x_axis({"name": _literal(figure.x.label), "label_position": "low"})
  native.set_y_axis(_axis(figure.y, values_along_y(figure)))
  longest = max(len(str(word)) for series in figure.series for word in series.x)
  canvas.insert(native, figure, cell, HIGHER if longest > LONG_WORD else SIZE)


def extent(axis, values):
  """Returns the limits of an axis that shows `values`; whole powers on a logarithmic axis. Values that it cannot show, NaN or
  not positive on a logarithmic axis, are ignored; (None, None) where none is left."""
  values = [value for value in values if math.isfinite(value) and not (axis.log and value <= 0)]
  if not values:
    return None, None
  if not axis.log:
    return min(0, *values), max(values)
  base = log_base(values)
  # Rounded because the computed logarithm of a power is not always whole.
  low, high = (round(math.log(value, base), 9) for value in (min(values), max(values)))
  return float(base) ** math.floor(low), float(base) ** max(math.ceil(high), math.floor(low) + 1)


def log_base(values):
  """Returns 2 where most values are powers of two, as sizes often are; otherwise 10."""
  powers = [value >= 1 and math.frexp(value)[0] == 0.5 for value in set(values)]
  return 2 if sum(powers) * 2 > len(powers) and max(values) <= 2 ** 16 * min(values) else 10


def values_along_y(figure):
  """Returns all values that are drawn along y."""
  return [value for series in figure.series for values in (series.y, series.low, series.high) for value in values or []]


def _axis(axis, values):
  options = {"name": _literal(axis.label), "num_format": "General", "label_position": "low",
             "major_gridlines": {"visible": True, "line": {"color": style.GRID}}}
  low, high = extent(axis, values)
  if axis.log and low is not None:
    # Without `crossing` the other axis would cross at 1, in the middle of the plot.
    base = log_base([value for value in values if value > 0])
    options |= {"log_base": base, "major_unit": base, "min": low, "max": high, "crossing": "min",
                "num_format": "0" if base == 2 else "General"}  # The spreadsheet may compute a power of 2 as 4095.9999.
  return options


def _series(canvas, figure, cells):
  """Returns the options that series of all kinds have in common."""
  series = cells.series
  look = None if series.is_reference else canvas.styles[series.name]
  color = style.MUTED if series.is_reference else look.color
  line = REFERENCE_LINE if series.is_reference else {"color": color, "width": 1.5, "dash_type": DASHES[look.dash]}
  options = {"name": _literal(series.name), "categories": cells.x.range(), "values": cells.y.range(), "line": line,
             "fill": {"color": color},
             "marker": {"type": "circle", "size": 5, "fill": {"color": color}, "border": {"color": color}}}
  fills = figure.kind in (model.Kind.BARS, model.Kind.STACKED_BARS)  # Error bars in the colour of a bar would not be seen.
  if cells.below:
    options["y_error_bars"] = {"type": "custom", "minus_values": cells.below.formula(), "plus_values": cells.above.formula(),
                               "end_style": 0, "line": {"color": style.INK if fills else color, "width": 0.75}}
  if cells.labels and any(cells.labels):
    custom = [{"value": _literal(label)} if label else {"delete": True} for label in cells.labels]
    options["data_labels"] = {"value": True, "custom": custom, "font": {"size": 8}}
  return options


def _literal(text):
  """Returns `text` as XlsxWriter takes it for text: it reads a leading '=' as a reference to cells."""
  text = workbook_cells.clean(text)
  return f" {text}" if text.startswith("=") else text

"""The parts of a report: sections, charts, heat maps and tables, as data.

charts/ makes them from rows; drawing/ turns them into pictures and workbook.py into the native charts of a spreadsheet.
Numbers are in the unit that the axis names. A missing value is NaN and leaves a gap. The lists of an object have the same
length, an entry for each point.
"""

import dataclasses
import enum
import math


class Kind(enum.Enum):
  LINES = "lines"  # x is a number; points joined in order of x.
  POINTS = "points"  # x is a number; no lines.
  BARS = "bars"  # x is a word; series side by side.
  STACKED_BARS = "stacked bars"  # x is a word; series on top of each other.


@dataclasses.dataclass(frozen=True)
class Axis:
  label: str  # With the unit: "time (ms)".
  log: bool = False


@dataclasses.dataclass(frozen=True)
class Series:
  name: str
  x: list  # Numbers or words, as the chart's kind asks.
  y: list
  low: list = None  # The spread around y, from low to high; None for none.
  high: list = None
  is_reference: bool = False  # A limit or another's rate, to compare the other series with: a dashed line.
  labels: list = None  # A word at each point or bar; None or "" for none.


@dataclasses.dataclass(frozen=True)
class Mark:
  """A vertical line, such as the size from which one implementation wins."""
  x: float
  label: str


@dataclasses.dataclass(frozen=True)
class Chart:
  slug: str  # Unique in a report, of letters, digits and '-': the name of the files and of the sheet.
  title: str
  subtitle: str  # Machine, date, commit, L2 mode.
  kind: Kind
  x: Axis
  y: Axis
  series: list
  marks: list = dataclasses.field(default_factory=list)
  notes: list = dataclasses.field(default_factory=list)  # Sentences on how to read it and what it shows.
  label: str = "label"  # What the labels of its series are, as the heading of a column.

  def table(self):
    """Returns the chart's numbers as a Table: a row for each point of each series; one for a level reference of bars."""
    has_spread = any(series.low is not None for series in self.series)
    has_labels = any(series.labels is not None for series in self.series)
    columns = ["series", self.x.label, self.y.label] + ["low", "high"] * has_spread + [self.label] * has_labels
    table = Table(self.slug, self.title, columns, [], self.subtitle)
    for series in self.series:
      points = list(zip(series.x, series.y))
      if series.is_reference and self.kind in (Kind.BARS, Kind.STACKED_BARS) and len(set(series.y)) == 1:
        points = [("", series.y[0])]
      for index, (x, y) in enumerate(points):
        spread = [values[index] if values is not None else math.nan for values in (series.low, series.high)]
        label = [series.labels[index] or "" if series.labels else ""]
        table.rows.append([series.name, x, y] + spread * has_spread + label * has_labels)
    return table


@dataclasses.dataclass(frozen=True)
class HeatMap:
  slug: str
  title: str
  subtitle: str
  x_label: str
  y_label: str
  value_label: str  # With the unit.
  columns: list  # Words along x.
  rows: list  # Words along y, from the top down.
  values: list  # For each row a list of numbers.
  notes: list = dataclasses.field(default_factory=list)
  higher_is_better: bool = True

  def table(self):
    table = Table(self.slug, self.title, [f"{self.y_label} \\ {self.x_label}", *self.columns], [],
                  f"{self.value_label}. {self.subtitle}")
    table.rows.extend([name, *values] for name, values in zip(self.rows, self.values))
    return table


@dataclasses.dataclass(frozen=True)
class Table:
  """Cells are words, numbers, or NaN for empty."""
  slug: str
  title: str
  columns: list
  rows: list
  note: str = ""


@dataclasses.dataclass(frozen=True)
class Section:
  """A section of the report: its findings in sentences, then figures (Chart, HeatMap) and tables in this order."""
  slug: str
  title: str
  sentences: list
  figures: list
  tables: list = dataclasses.field(default_factory=list)

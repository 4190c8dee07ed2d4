"""What a chart shows, without how it is drawn: draw.py makes pictures of it, workbook.py native charts of a spreadsheet.

Numbers are in the units that the axis names. A missing value is NaN and leaves a gap. All lists of one object run in
parallel.
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
  low: list = None  # The spread around y, ends included; None where there is none to show.
  high: list = None
  is_bound: bool = False  # What the machine allows, not a measurement: a dashed line.
  labels: list = None  # A word beside each point or bar; None or "" for none.


@dataclasses.dataclass(frozen=True)
class Mark:
  """A vertical line, such as the size from which one implementation wins."""
  x: float
  label: str


@dataclasses.dataclass(frozen=True)
class Chart:
  slug: str  # Unique in a report; letters, digits, '-': names the files and the sheet.
  title: str
  subtitle: str  # Machine, date, commit, L2 mode.
  kind: Kind
  x: Axis
  y: Axis
  series: list
  marks: list = dataclasses.field(default_factory=list)
  notes: list = dataclasses.field(default_factory=list)  # Sentences: how to read it, what it shows.

  def table(self):
    """The chart's numbers: a row for each x and series."""
    has_spread = any(series.low is not None for series in self.series)
    columns = ["series", self.x.label, self.y.label] + (["low", "high"] if has_spread else [])
    table = Table(self.slug, self.title, columns, [], self.subtitle)
    for series in self.series:
      for index, (x, y) in enumerate(zip(series.x, series.y)):
        spread = [values[index] if values is not None else math.nan for values in (series.low, series.high)]
        table.rows.append([series.name, x, y] + (spread if has_spread else []))
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
  rows: list  # Words along y, from the top.
  values: list  # A list for each row.
  notes: list = dataclasses.field(default_factory=list)
  higher_is_better: bool = True

  def table(self):
    table = Table(self.slug, self.title, [f"{self.y_label} \\ {self.x_label}", *self.columns], [],
                  f"{self.value_label}. {self.subtitle}")
    table.rows.extend([name, *values] for name, values in zip(self.rows, self.values))
    return table


@dataclasses.dataclass(frozen=True)
class Table:
  """Cells are words, numbers, or NaN for nothing."""
  slug: str
  title: str
  columns: list
  rows: list
  note: str = ""


@dataclasses.dataclass(frozen=True)
class Section:
  """A heading of the report, what was found in sentences, then figures (Chart, HeatMap) and tables in their order."""
  slug: str
  title: str
  sentences: list
  figures: list
  tables: list = dataclasses.field(default_factory=list)

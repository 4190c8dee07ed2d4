"""Pairs of a study's row and ours of the same configuration."""

import dataclasses
import math

from benchmarks.report import study_data


@dataclasses.dataclass(frozen=True)
class StudyTable:
  """A table of a transpose study."""
  study: str
  table: str  # As in studies.csv.
  title: str
  yardstick: str  # The implementation that each side's speeds are compared with on its own machine.
  block: tuple  # The yardstick's; None for the row's own.
  command: str  # The command that measures our rows.
  time: str = "kernel_ms_median"  # The column of ours that is compared with their time.
  note: str = ""

  def slug(self):
    return f"study-{self.study}-{self.table.replace('_', '-')}"

  def yardstick_text(self):
    return f"{self.yardstick} {self.block[0]}x{self.block[1]}" if self.block else self.yardstick


@dataclasses.dataclass(frozen=True)
class Pair:
  """A row of a study, and ours of one machine. Speeds are in GB/s, shares in percent of the same side's yardstick; NaN for
  unknown."""
  theirs: object  # A row of study_data.read_studies().
  their_speed: float
  their_share: float
  machine: str = ""
  ours: object = None  # A row of Results; None leaves all that follows NaN.
  our_ms: float = math.nan
  our_speed: float = math.nan
  our_share: float = math.nan
  our_step: float = math.nan  # Our speed over that of the study's row before.
  our_gain: float = math.nan  # Our speed over the CPU's.

  def name(self):
    """Returns kernel and block."""
    return f"{self.theirs['implementation']} {block_text(self.theirs)}".strip()

  def our(self, column):
    return math.nan if self.ours is None else self.ours[column]

  def our_share_at(self, column):
    """Returns the share that our row would have with the time in `column`."""
    return math.nan if self.ours is None else self.our_share * self.our_ms / self.ours[column]


def make_pairs(table, rows, machines):
  """Returns for each of the study's `rows` a Pair for each of `machines` ({name: study_data.OurRows}) that has such a row, or
  one Pair without ours."""
  pairs = []
  before, cpu = {}, {}  # Our speeds, by machine.
  for _, theirs in rows.iterrows():
    speed, share = _their_speed(theirs), _their_share(table, rows, theirs)
    found = {machine: ours.timed(theirs) for machine, ours in machines.items()}
    found = {machine: row for machine, row in found.items() if row is not None}
    for machine, row in found.items():
      our_speed = study_data.bytes_moved(row) / row[table.time] / 1e6
      yardstick = machines[machine].timed(_yardstick(table, theirs))
      our_share = math.nan if yardstick is None else 100 * yardstick[table.time] / row[table.time]
      pairs.append(Pair(theirs, speed, share, machine, row, row[table.time], our_speed, our_share,
                        our_speed / before.get(machine, math.nan), our_speed / cpu.get(machine, math.nan)))
      before[machine] = our_speed
      if row["device"] == "":
        cpu[machine] = our_speed
    if not found:
      pairs.append(Pair(theirs, speed, share))
  return pairs


def block_text(row):
  return "" if math.isnan(row["block_x"]) else f"{row['block_x']:.0f}x{row['block_y']:.0f}"


def _their_speed(row):
  """Returns GB/s, computed from the time where there is one, as not every study prints its GB/s in this unit."""
  return row["gbps"] if math.isnan(row["ms"]) else study_data.bytes_moved(row) / row["ms"] / 1e6


def _their_share(table, rows, row):
  yardstick = _yardstick(table, row)
  same = rows[(rows[["implementation", "rows", "cols", "block_x", "block_y"]]
               == yardstick[["implementation", "rows", "cols", "block_x", "block_y"]]).all(axis=1)]
  if same.empty:
    return math.nan
  if math.isnan(_their_speed(row)):
    return 100 * row["pct_of_peak"] / same.iloc[0]["pct_of_peak"]
  return 100 * _their_speed(row) / _their_speed(same.iloc[0])


def _yardstick(table, theirs):
  """Returns the configuration that a row is compared with on its own side."""
  yardstick = theirs.copy()
  yardstick["implementation"] = table.yardstick
  if table.block:
    yardstick["block_x"], yardstick["block_y"] = map(float, table.block)
  return yardstick

"""Reads the CSVs under docs/results/ and selects rows of them, for tables and for figures."""

import csv
import functools
import re

# What older files of the sweeps lack is empty there, as it is where it is not known.
LATE_COLUMNS = ("shared_efficiency", "branch_efficiency", "batch", "layout", "alpha", "beta", "kernels", "bound_ms",
                "vs_cublas", "step", "workspace", "shape_family", "chosen", "vs_memcpy", "permutation",
                "precision", "epilogue", "shard", "threads", "affinity", "cpu_clock_mhz", "vs_eigen",
                "median_error", "max_error", "grid", "grid_block", "ranks", "communication_ms", "overlap_pct",
                "vs_onednn", "vs_chooser")

CONDITION = re.compile(r"(?P<column>\w+) ?(?P<operator>>=|<=|==|=) ?(?P<values>.*)")


class PageError(Exception):
  """What is wrong with a marker of a page, in one line."""


@functools.lru_cache(maxsize=None)
def read(path):
  """The rows of a CSV, which are not to be changed."""
  try:
    with open(path, newline="", encoding="ascii") as file:
      return [{**dict.fromkeys(LATE_COLUMNS, ""), **row} for row in csv.DictReader(file)]
  except FileNotFoundError:
    raise PageError("there is no such file") from None


def number(cell):
  """The cell as a number, None if it is not one."""
  try:
    return float(cell)
  except ValueError:
    return None


def holds(row, column, operator, values):
  if operator == "=":
    return row[column] in values.split("|")
  if operator == "==":
    return row[column] == row[values]
  cell = number(row[column])
  limit = number(values)
  if limit is None:
    raise PageError(f"{column}{operator}{values}: not a number")
  return cell is not None and (cell >= limit if operator == ">=" else cell <= limit)


def select(rows, where):
  """The rows for which all conditions hold: COLUMN=VALUE|VALUE, COLUMN>=NUMBER, COLUMN<=NUMBER or COLUMN==COLUMN,
  separated by commas. Each of several values has to be one of the file: a name that was changed would be left out of
  a table without a word."""
  all_rows = rows
  for text in filter(None, where.split(",")):
    condition = CONDITION.fullmatch(text.strip())
    if not condition:
      raise PageError(f"not a condition: {text.strip()}")
    for column in [condition["column"]] + [condition["values"]] * (condition["operator"] == "=="):
      if rows and column not in rows[0]:
        raise PageError(f"no column {column}")
    if condition["operator"] == "=" and "|" in condition["values"]:
      missing = set(condition["values"].split("|")) - {row[condition["column"]] for row in all_rows}
      if missing:
        raise PageError(f"no row has {condition['column']}={min(missing)}")
    rows = [row for row in rows if holds(row, *condition.groups())]
  return rows

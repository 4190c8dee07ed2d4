"""The records of one CSV file, and those of a sweep as a frame with a column for each of columns.py.

What cannot be used is counted by kind in a Skipped; only a file without a usable header is a ReadError.
"""

import collections
import csv
import io
import math

import numpy
import pandas

from benchmarks.report import columns
from benchmarks.report import ladder_steps

SCHEMA_VERSION = "1"


class ReadError(Exception):
  """A file cannot be used at all. The text names it and says why, in one line."""


class Skipped:
  """The rows of a file that were skipped, by kind: a file of 100,000 bad rows makes one line, not 100,000."""

  def __init__(self, source):
    self._source = source
    self._kinds = {}  # Kind -> [line and reason of the first row, count].

  def add(self, kind, line, reason):
    self._kinds.setdefault(kind, [f"{self._source}:{line}: skipped, {reason}", 0])[1] += 1

  def lines(self):
    return [first + (f" (and {count - 1} more like it)" if count > 1 else "") for first, count in self._kinds.values()]


def records(path, text, skipped):
  """Returns the header, and (line, cells) of each further record."""
  # Strict: a quote that is not closed loses the records up to the next quote, and says so, instead of all that follow.
  reader = csv.reader(io.StringIO(text, newline=""), strict=True)
  header, found = None, []
  last_is_kept = False  # Whether the last record read is in `found`.
  while True:
    line = reader.line_num + 1
    try:
      cells = next(reader)
    except StopIteration:
      break
    except csv.Error as error:
      if header is None:
        raise ReadError(f"{path}:{line}: the header is not CSV ({error})") from error
      skipped.add("not CSV", line, f"it is not CSV ({error})")
      last_is_kept = False
      continue
    if cells and header is None:
      header = cells
    elif cells:
      found.append((line, cells))
      last_is_kept = True
  if header is None:
    raise ReadError(f"{path}: the file is empty")
  if last_is_kept and not text.endswith(("\n", "\r")):
    skipped.add("cut off", found.pop()[0], "the file ends within the row or before its end of line")
  return header, found


def of(path, header, found, skipped):
  """Returns the rows of a sweep's file as a frame, without those that cannot be used."""
  missing = [name for name in columns.REQUIRED if name not in header]
  if missing:
    raise ReadError(f"{path}: the header lacks {', '.join(missing)}")
  repeated = [name for name, count in collections.Counter(header).items() if count > 1]
  if repeated:
    raise ReadError(f"{path}: the header has {', '.join(map(quoted, repeated))} more than once")
  rows, lines = [], []
  for line, cells in found:
    if len(cells) != len(header):
      skipped.add("cells", line, f"it has {len(cells)} cells and the header has {len(header)}")
    elif cells[0] != SCHEMA_VERSION:
      skipped.add("version", line, f"its schema_version is {quoted(cells[0])} and this program reads {SCHEMA_VERSION}")
    else:
      rows.append(cells)
      lines.append(line)
  cells = dict(zip(header, zip(*rows)))  # By column: neighbours in memory, which saves a second for 100,000 rows.
  empty = ("",) * len(rows)
  usable = numpy.full(len(rows), True)
  values = {"line": numpy.array(lines, dtype=int)}
  for name in columns.TEXT:
    values[name] = _shared(cells.get(name, empty))
  for name in columns.NUMBERS:
    values[name], words = _numbers(cells.get(name, empty))
    for index in words:
      if usable[index]:
        skipped.add(f"word in {name}", lines[index], f"{name} is {quoted(cells[name][index])}, not a number")
        usable[index] = False
  for name, value in columns.DEFAULTS.items():
    missing = values[name] == "" if name in columns.TEXT else numpy.isnan(values[name])
    values[name] = numpy.where(missing, value, values[name])
  # A file that a newer program resumed has the column, empty in its older rows.
  historic = ladder_steps.historic_steps(values["operation"], values["implementation"])
  values["step"] = numpy.where(numpy.isnan(values["step"]), historic, values["step"])
  # Made in one step: setting columns one by one would copy the frame each time.
  return pandas.DataFrame(values)[usable].copy()


def _shared(words):
  """Returns `words` as an array in which equal words are the same object: selecting and comparing 100,000 of them then takes
  half the time."""
  distinct = {word: word for word in set(words)}
  shared = numpy.empty(len(words), dtype=object)
  shared[:] = list(map(distinct.__getitem__, words))
  return shared


def _numbers(words):
  """Returns `words` as floats, NaN where empty, and the indices of those that are neither numbers, nor empty, nor "nan"."""
  try:
    return numpy.array([float(word) if word else math.nan for word in words]), []
  except ValueError:
    numbers = pandas.to_numeric(pandas.Series(words, dtype=object), errors="coerce").to_numpy(dtype=float)
    return numbers, [index for index in numpy.flatnonzero(numpy.isnan(numbers))
                     if words[index].lower() not in ("", "nan", "-nan")]


def quoted(cell):
  """Returns a cell's content as it can stand in a message of one line."""
  return repr(cell if len(cell) <= 40 else cell[:40] + "...")

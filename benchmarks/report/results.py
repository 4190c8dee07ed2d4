"""Reads the CSV files of the sweeps into one table, and reports what it could not read.

A file belongs to a sweep if its header begins with `schema_version`. Columns that an older program did not write are empty,
columns that are not in columns.py are ignored. A row that cannot be used (cut off, too few or too many cells, a stray quote,
another schema version, a word where a number belongs) is skipped and reported in `problems`; the other rows are kept.
"""

import collections
import csv
import dataclasses
import io
import math
import os
import pathlib

import numpy
import pandas

from benchmarks.report import columns
from benchmarks.report import ladder_steps

SCHEMA_VERSION = "1"

# The folder of files that were measured with programs built in another way, with other options or from changed sources.
# Their rows have the same configuration and commit as the usual ones, so that only the folder tells them apart.
OTHER_BUILDS = "other_builds"
# Each of these columns tells that a file was written by another program of the project: verdicts on limits, counts and speed
# of the host executor, a profiler's figures, trials (beside a copy, and of all kinds), figures of the studies, planted
# mistakes, distributions over random shapes, host times of calls, regrets of a choice, programs with the drop-in.
KNOWN_BY = frozenset(("verdict", "predicted", "ns_per_event", "ncu_ms", "dram_read_mb", "ratio_to_memcpy", "against", "study",
                      "killed_by", "worse_than_1", "queue", "best_chosen_pct", "drop_in_ms"))


class ReadError(Exception):
  """A file cannot be used at all. The text names it and says why, in one line."""


@dataclasses.dataclass(frozen=True)
class Results:
  """What was read.

  rows: a pandas.DataFrame, in the order of the files, with all of columns.NAMES and these: `source` (the file's name, or its
    path where two files have the same name), `line` (where the row begins in the file, from 1), `machine` (the name of the
    GPU, or of the CPU where the file has no rows of a GPU) and `is_other_build` (bool: the file is in a folder OTHER_BUILDS).
    Numbers are floats, NaN where empty; words are str, "" where empty. `step` is known for older files too.
  other_files: the files that do not belong to a sweep, such as a table of limits: source -> list of rows of cells, the
    header first. Those with a column of KNOWN_BY come from the project's other programs and are no problem.
  problems: one line for each kind of row that was skipped in a file, which names the first such row and counts the others;
    one line for each file that is not known, or that has bytes that are not UTF-8.
  """
  rows: pandas.DataFrame
  other_files: dict
  problems: list


def csv_files(argument):
  """Returns the paths that a user's argument means: the file itself, or the *.csv of a folder, sorted by name. Raises
  ReadError for a folder without any."""
  path = pathlib.Path(argument)
  if not path.is_dir():
    return [path]
  paths = sorted(path.glob("*.csv"))
  if not paths:
    raise ReadError(f"{argument}: the folder has no *.csv")
  return paths


def read_results(paths):
  """Reads `paths` into Results; a file that is named twice is read once. Raises ReadError when a file cannot be opened, is
  empty or has an unusable header, and when no row is left."""
  paths = list({os.path.realpath(path): pathlib.Path(path) for path in paths}.values())
  names = collections.Counter(path.name for path in paths)
  frames, other_files, problems = [], {}, []
  for path in paths:
    source = path.name if names[path.name] == 1 else str(path)
    skipped = _Skipped(source)
    text = _read_text(path, source, problems)
    header, records = _records(path, text, skipped)
    if header[0] != "schema_version":
      other_files[source] = [header, *(cells for _, cells in records)]
      if KNOWN_BY.isdisjoint(header):
        problems.append(f"{source}: not a CSV of a sweep (its first column is {_quoted(header[0])})")
      problems.extend(skipped.lines())
      continue
    frame = _sweep_frame(path, header, records, skipped)
    frame["source"] = source
    frame["machine"] = _machines(frame)
    frame["is_other_build"] = path.absolute().parent.name == OTHER_BUILDS
    frames.append(frame)
    problems.extend(skipped.lines())
  if not frames:
    raise ReadError(f"{_listed(paths)}: no file has rows of a sweep")
  rows = pandas.concat(frames, ignore_index=True)
  problems.extend(_missing_shards(rows))
  if rows.empty:
    raise ReadError(f"{_listed(paths)}: no usable row" + (f" ({problems[0]})" if problems else ""))
  return Results(rows, other_files, problems)


def _missing_shards(rows):
  """Returns a line for each sweep that was measured in parts (--shard=I/N) of which some have no row."""
  found = collections.defaultdict(set)
  for operation, shard in zip(rows["operation"], rows["shard"]):
    index, slash, count = shard.partition("/")
    if slash and index.isdecimal() and count.isdecimal():
      found[operation, int(count)].add(int(index))
  lines = []
  for (operation, count), indices in sorted(found.items()):
    missing = [f"{index}/{count}" for index in range(1, count + 1) if index not in indices]
    if missing:
      more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
      lines.append(f"{operation}: no row is of shard {', '.join(missing[:10])}{more}; "
                   f"{len(indices)} of {count} are there")
  return lines


def is_profilers(rows):
  """Returns which of Results.rows come from a profiler, as a Series of bool: rows of one GPU without host memory. Their time
  is that of a single run under the profiler."""
  return rows["device"].ne("") & rows["host_memory"].eq("") & rows["grid"].eq("")


class _Skipped:
  """The rows of a file that were skipped, by kind: a file of 100,000 bad rows makes one line, not 100,000."""

  def __init__(self, source):
    self._source = source
    self._kinds = {}  # Kind -> [line and reason of the first row, count].

  def add(self, kind, line, reason):
    self._kinds.setdefault(kind, [f"{self._source}:{line}: skipped, {reason}", 0])[1] += 1

  def lines(self):
    return [first + (f" (and {count - 1} more like it)" if count > 1 else "") for first, count in self._kinds.values()]


def _read_text(path, source, problems):
  try:
    data = path.read_bytes()
  except OSError as error:
    raise ReadError(f"{path}: cannot be read: {error.strerror}") from error
  try:
    return data.decode("utf-8-sig")
  except UnicodeDecodeError as error:
    line = data.count(b"\n", 0, error.start) + 1
    problems.append(f"{source}:{line}: from here on, bytes that are not UTF-8 are read as '\N{REPLACEMENT CHARACTER}'")
    return data.decode("utf-8-sig", errors="replace")


def _records(path, text, skipped):
  """Returns the header, and (line, cells) of each further record."""
  # Strict: a quote that is not closed loses the records up to the next quote, and says so, instead of all that follow.
  reader = csv.reader(io.StringIO(text, newline=""), strict=True)
  header, records = None, []
  last_is_kept = False  # Whether the last record read is in `records`.
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
      records.append((line, cells))
      last_is_kept = True
  if header is None:
    raise ReadError(f"{path}: the file is empty")
  if last_is_kept and not text.endswith(("\n", "\r")):
    skipped.add("cut off", records.pop()[0], "the file ends within the row or before its end of line")
  return header, records


def _sweep_frame(path, header, records, skipped):
  missing = [name for name in columns.REQUIRED if name not in header]
  if missing:
    raise ReadError(f"{path}: the header lacks {', '.join(missing)}")
  repeated = [name for name, count in collections.Counter(header).items() if count > 1]
  if repeated:
    raise ReadError(f"{path}: the header has {', '.join(map(_quoted, repeated))} more than once")
  rows, lines = [], []
  for line, cells in records:
    if len(cells) != len(header):
      skipped.add("cells", line, f"it has {len(cells)} cells and the header has {len(header)}")
    elif cells[0] != SCHEMA_VERSION:
      skipped.add("version", line, f"its schema_version is {_quoted(cells[0])} and this program reads {SCHEMA_VERSION}")
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
        skipped.add(f"word in {name}", lines[index], f"{name} is {_quoted(cells[name][index])}, not a number")
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


def _machines(frame):
  """Returns the machine of each row. Rows of the CPU belong to the machine of the GPU in the same file, if there is one."""
  devices = sorted(set(frame["device"]) - {""})
  if len(devices) == 1:
    return frame["device"].where(frame["device"] != "", devices[0])
  return frame["device"].where(frame["device"] != "", frame["cpu"])


def _quoted(cell):
  """Returns a cell's content as it can stand in a message of one line."""
  return repr(cell if len(cell) <= 40 else cell[:40] + "...")


def _listed(paths):
  return ", ".join(str(path) for path in paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")

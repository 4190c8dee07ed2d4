"""Reads the CSV files of the sweeps into one table, and says what it could not read.

A file is a sweep's if its header begins with `schema_version`. Columns that an older program did not write are empty,
columns that this program does not know are left out. A row that cannot be used (cut off, too few or too many cells, a stray
quote, another schema version, a word where a number belongs) is left out and told of in `problems`; the others stay.
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

SCHEMA_VERSION = "1"

# Columns of words; all others hold numbers. docs/measuring.md says what each means.
TEXT_COLUMNS = (
    "schema_version", "timestamp_utc", "git_commit", "host", "cpu", "device", "compute_capability", "driver", "cuda",
    "operation", "implementation", "dtype", "math", "l2", "host_memory", "status", "message", "throttle_reason", "layout",
    "kernels")
NUMBER_COLUMNS = (
    "rows", "cols", "depth", "block_x", "block_y", "samples", "init_ms", "alloc_ms", "h2d_ms", "first_launch_ms",
    "kernel_ms_min", "kernel_ms_median", "kernel_ms_ci_low", "kernel_ms_ci_high", "kernel_ms_mean", "kernel_ms_stddev",
    "kernel_ms_p95", "empty_kernel_ms", "d2h_ms", "free_ms", "total_ms", "gbps", "pct_of_copy", "pct_of_peak", "gflops",
    "speedup_vs_previous", "speedup_vs_cpu", "relative_error", "max_error_over_bound", "sm_clock_mhz", "power_w",
    "temperature_c", "load_efficiency", "store_efficiency", "load_transactions", "store_transactions",
    "shared_load_wavefronts_per_request", "shared_store_wavefronts_per_request", "achieved_occupancy", "shared_efficiency",
    "branch_efficiency", "batch", "alpha", "beta", "bound_ms", "vs_cublas")
# Without these a row says nothing.
REQUIRED_COLUMNS = ("schema_version", "operation", "implementation", "rows", "cols", "status", "kernel_ms_median")

# What makes two rows measurements of the same thing, on whatever machine.
CONFIGURATION = ("operation", "implementation", "dtype", "math", "rows", "cols", "depth", "block_x", "block_y", "l2",
                 "host_memory", "batch", "layout", "alpha", "beta")
# The folder of files that another build of the programs made, with other options or of changed sources: their rows have the
# configuration and the commit of the usual ones, and do not say so.
OTHER_BUILDS = "other_builds"
# Columns of other programs' files, each of one kind only: verdicts on limits, the host executor's counts and speed, a
# profiler's figures, trials beside a copy, what the studies quote, planted mistakes.
KNOWN_BY = frozenset(("verdict", "predicted", "ns_per_event", "ncu_ms", "dram_read_mb", "ratio_to_memcpy", "study",
                      "killed_by"))
# What older files leave out because there was only this.
DEFAULTS = {"batch": 1.0, "layout": "nn", "alpha": 1.0, "beta": 0.0}


class ReadError(Exception):
  """A file of which nothing can be used. The text names it and says why, in one line."""


@dataclasses.dataclass(frozen=True)
class Results:
  """What was read.

  rows: a pandas.DataFrame with all columns above, and `source` (the file's name; its path, where two files have one name),
    `line` (in the file, from 1; where the row begins), `machine` (the GPU's name, or the CPU's where the file has rows of no
    GPU) and `is_other_build` (bool: of a file in a folder named OTHER_BUILDS). Numbers are floats, NaN where empty; words
    are str, "" where empty. In the order of the files.
  other_files: the files that are no sweep's, such as a limits table: source -> list of rows of cells, the header first.
    Those with a column of KNOWN_BY are what the project's other programs write, and no problem.
  problems: a line for each kind of row that was left out of a file, which names the first one and says how many more there
    are; a line for each file that nobody knows or that has bytes that are not UTF-8.
  """
  rows: pandas.DataFrame
  other_files: dict
  problems: list


def csv_files(argument):
  """The paths of what a user named: a file, or a folder's *.csv in order of their names. Raises ReadError for a folder
  without any."""
  path = pathlib.Path(argument)
  if not path.is_dir():
    return [path]
  paths = sorted(path.glob("*.csv"))
  if not paths:
    raise ReadError(f"{argument}: the folder has no *.csv")
  return paths


def read_results(paths):
  """Reads `paths` into Results, a file that is named twice once. Raises ReadError when a file cannot be opened, is empty or
  has a header that cannot be used, and when no row is left."""
  paths = list({os.path.realpath(path): pathlib.Path(path) for path in paths}.values())
  names = collections.Counter(path.name for path in paths)
  frames, other_files, problems = [], {}, []
  for path in paths:
    source = path.name if names[path.name] == 1 else str(path)
    left_out = _LeftOut(source)
    text = _read_text(path, source, problems)
    header, records = _records(path, text, left_out)
    if header[0] != "schema_version":
      other_files[source] = [header, *(cells for _, cells in records)]
      if KNOWN_BY.isdisjoint(header):
        problems.append(f"{source}: not a sweep's file (its first column is {_quoted(header[0])})")
      problems.extend(left_out.lines())
      continue
    frame = _sweep_frame(path, header, records, left_out)
    frame["source"] = source
    frame["machine"] = _machines(frame)
    frame["is_other_build"] = path.absolute().parent.name == OTHER_BUILDS
    frames.append(frame)
    problems.extend(left_out.lines())
  if not frames:
    raise ReadError(f"{_listed(paths)}: no file with rows of a sweep")
  rows = pandas.concat(frames, ignore_index=True)
  if rows.empty:
    raise ReadError(f"{_listed(paths)}: no row that can be used" + (f" ({problems[0]})" if problems else ""))
  return Results(rows, other_files, problems)


def is_profilers(rows):
  """Which of Results.rows a profiler wrote, a Series of bool: a GPU's without host memory. Their time is that of one run,
  taken in another way."""
  return rows["device"].ne("") & rows["host_memory"].eq("")


class _LeftOut:
  """The rows of a file that were left out, by kind: a file of 100,000 bad rows makes one line, not as many."""

  def __init__(self, source):
    self._source = source
    self._kinds = {}  # Kind -> [line and reason of the first row, number of rows].

  def add(self, kind, line, reason):
    self._kinds.setdefault(kind, [f"{self._source}:{line}: left out, {reason}", 0])[1] += 1

  def lines(self):
    return [first + (f" (and {count - 1} more of the kind)" if count > 1 else "") for first, count in self._kinds.values()]


def _read_text(path, source, problems):
  try:
    data = path.read_bytes()
  except OSError as error:
    raise ReadError(f"{path}: cannot be read: {error.strerror}") from error
  try:
    return data.decode("utf-8-sig")
  except UnicodeDecodeError as error:
    line = data.count(b"\n", 0, error.start) + 1
    problems.append(f"{source}:{line}: bytes that are not UTF-8, here and later, are read as '\N{REPLACEMENT CHARACTER}'")
    return data.decode("utf-8-sig", errors="replace")


def _records(path, text, left_out):
  """The header, and of each further record (line, cells)."""
  # Strict: a quote that is not closed costs the records up to the next quote, and not silently all that follow.
  reader = csv.reader(io.StringIO(text, newline=""), strict=True)
  header, records = None, []
  last_is_there = False  # Among `records`, and not left out for what is in it.
  while True:
    line = reader.line_num + 1
    try:
      cells = next(reader)
    except StopIteration:
      break
    except csv.Error as error:
      if header is None:
        raise ReadError(f"{path}:{line}: the header is not CSV ({error})") from error
      left_out.add("not CSV", line, f"it is not CSV ({error})")
      last_is_there = False
      continue
    if cells and header is None:
      header = cells
    elif cells:
      records.append((line, cells))
      last_is_there = True
  if header is None:
    raise ReadError(f"{path}: the file is empty")
  if last_is_there and not text.endswith(("\n", "\r")):
    left_out.add("cut off", records.pop()[0], "the file ends within it or before its end of line")
  return header, records


def _sweep_frame(path, header, records, left_out):
  missing = [name for name in REQUIRED_COLUMNS if name not in header]
  if missing:
    raise ReadError(f"{path}: the header lacks {', '.join(missing)}")
  repeated = [name for name, count in collections.Counter(header).items() if count > 1]
  if repeated:
    raise ReadError(f"{path}: the header has {', '.join(map(_quoted, repeated))} more than once")
  rows, lines = [], []
  for line, cells in records:
    if len(cells) != len(header):
      left_out.add("cells", line, f"it has {len(cells)} cells where the header has {len(header)}")
    elif cells[0] != SCHEMA_VERSION:
      left_out.add("version", line, f"its schema_version is {_quoted(cells[0])} and this program knows {SCHEMA_VERSION}")
    else:
      rows.append(cells)
      lines.append(line)
  cells = dict(zip(header, zip(*rows)))  # By column: neighbours in memory, which takes a second less of 100,000 rows.
  nothing = ("",) * len(rows)
  usable = numpy.full(len(rows), True)
  columns = {"line": numpy.array(lines, dtype=int)}
  for name in TEXT_COLUMNS:
    columns[name] = _shared(cells.get(name, nothing))
  for name in NUMBER_COLUMNS:
    columns[name], words = _numbers(cells.get(name, nothing))
    for index in words:
      if usable[index]:
        left_out.add(f"word in {name}", lines[index], f"{name} is {_quoted(cells[name][index])}, not a number")
        usable[index] = False
  for name, value in DEFAULTS.items():
    missing = columns[name] == "" if name in TEXT_COLUMNS else numpy.isnan(columns[name])
    columns[name] = numpy.where(missing, value, columns[name])
  # Made in one step: setting columns one by one would copy the frame each time.
  return pandas.DataFrame({name: columns[name] for name in (*TEXT_COLUMNS, "line", *NUMBER_COLUMNS)})[usable].copy()


def _shared(words):
  """`words`, equal ones the same object: what selects and compares 100,000 of them then takes half the time."""
  distinct = {word: word for word in set(words)}
  shared = numpy.empty(len(words), dtype=object)
  shared[:] = list(map(distinct.__getitem__, words))
  return shared


def _numbers(words):
  """`words` as floats, NaN where there is none, and the indices of those that are neither a number, nor empty, nor "nan"."""
  try:
    return numpy.array([float(word) if word else math.nan for word in words]), []
  except ValueError:
    numbers = pandas.to_numeric(pandas.Series(words, dtype=object), errors="coerce").to_numpy(dtype=float)
    return numbers, [index for index in numpy.flatnonzero(numpy.isnan(numbers))
                     if words[index].lower() not in ("", "nan", "-nan")]


def _machines(frame):
  """Rows measured on the CPU belong to the machine of the GPU that the same file has rows of."""
  devices = sorted(set(frame["device"]) - {""})
  if len(devices) == 1:
    return frame["device"].where(frame["device"] != "", devices[0])
  return frame["device"].where(frame["device"] != "", frame["cpu"])


def _quoted(cell):
  """For a line of text, whatever the cell holds."""
  return repr(cell if len(cell) <= 40 else cell[:40] + "...")


def _listed(paths):
  return ", ".join(str(path) for path in paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")

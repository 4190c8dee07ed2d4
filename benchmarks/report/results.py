"""Reads the CSV files of the sweeps into one table, and reports what it could not read.

A file belongs to a sweep if its header begins with `schema_version`. Columns that an older program did not write are empty,
columns that are not in columns.py are ignored. A row that cannot be used (cut off, too few or too many cells, a stray quote,
another schema version, a word where a number belongs) is skipped and reported in `problems`; the other rows are kept.
"""

import collections
import dataclasses
import os
import pathlib

import pandas

from benchmarks.report import sweep_frame
from benchmarks.report.sweep_frame import ReadError

# The folder of files that were measured with programs built in another way, with other options or from changed sources.
# Their rows have the same configuration and commit as the usual ones, so that only the folder tells them apart.
OTHER_BUILDS = "other_builds"
# Each of these columns tells that a file was written by another program of the project: verdicts on limits, counts and speed
# of the host executor, a profiler's figures, trials (beside a copy, and of all kinds), figures of the studies, planted
# mistakes, distributions over random shapes, host times of calls, regrets of a choice, programs with the drop-in.
KNOWN_BY = frozenset(("verdict", "predicted", "ns_per_event", "ncu_ms", "dram_read_mb", "ratio_to_memcpy", "against", "study",
                      "killed_by", "worse_than_1", "queue", "best_chosen_pct", "drop_in_ms"))


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
    skipped = sweep_frame.Skipped(source)
    text = _read_text(path, source, problems)
    header, records = sweep_frame.records(path, text, skipped)
    if header[0] != "schema_version":
      other_files[source] = [header, *(cells for _, cells in records)]
      if KNOWN_BY.isdisjoint(header):
        problems.append(f"{source}: not a CSV of a sweep (its first column is {sweep_frame.quoted(header[0])})")
      problems.extend(skipped.lines())
      continue
    frame = sweep_frame.of(path, header, records, skipped)
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


def _machines(frame):
  """Returns the machine of each row. Rows of the CPU belong to the machine of the GPU in the same file, if there is one."""
  devices = sorted(set(frame["device"]) - {""})
  if len(devices) == 1:
    return frame["device"].where(frame["device"] != "", devices[0])
  return frame["device"].where(frame["device"] != "", frame["cpu"])


def _listed(paths):
  return ", ".join(str(path) for path in paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")

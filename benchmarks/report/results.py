"""Reads the CSV files of the sweeps into one table, and says what it could not read.

A file is a sweep's if its header begins with `schema_version`. Columns that an older program did not write are empty, columns
that this program does not know are left out. A row that cannot be used (cut off, too few or too many cells, another schema
version, a word where a number belongs) is left out and named in `problems`; the others stay.
"""

import csv
import dataclasses
import pathlib

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
# What older files leave out because there was only this.
DEFAULTS = {"batch": 1.0, "layout": "nn", "alpha": 1.0, "beta": 0.0}


class ReadError(Exception):
  """A file of which nothing can be used. The text names it and says why, in one line."""


@dataclasses.dataclass(frozen=True)
class Results:
  """What was read.

  rows: a pandas.DataFrame with all columns above, and `source` (the file's name), `line` (in the file, from 1) and
    `machine` (the GPU's name, or the CPU's where the file has rows of no GPU). Numbers are floats, NaN where empty;
    words are str, "" where empty. In the order of the files.
  other_files: the files that are no sweep's, such as a limits table: file name -> list of rows of cells, the header first.
  problems: a line for each row that was left out, and for each file that is no sweep's.
  """
  rows: pandas.DataFrame
  other_files: dict
  problems: list


def read_results(paths):
  """Reads `paths` into Results. Raises ReadError when a file cannot be opened or is empty, or when no file is a sweep's."""
  frames, other_files, problems = [], {}, []
  for path in map(pathlib.Path, paths):
    cells, cut_off = _read_cells(path)
    if cells[0][1][0] != "schema_version":
      other_files[path.name] = [row for _, row in cells]
      problems.append(f"{path.name}: not a sweep's file (its first column is '{cells[0][1][0]}'); no charts of it")
      continue
    if cut_off and len(cells) > 1:
      problems.append(f"{path.name}:{cells[-1][0]}: left out, the line is cut off")
      cells.pop()
    frames.append(_sweep_frame(path, cells, problems))
  if not frames:
    raise ReadError(f"{', '.join(str(path) for path in paths)}: no file with rows of a sweep")
  rows = pandas.concat(frames, ignore_index=True)
  if rows.empty:
    raise ReadError(f"{', '.join(str(path) for path in paths)}: no row that can be used"
                    + (f" ({problems[0]})" if problems else ""))
  return Results(rows, other_files, problems)


def _read_cells(path):
  """The file's (line number, cells), and whether the last line has no end."""
  try:
    text = path.read_text(encoding="utf-8-sig")
  except (OSError, UnicodeDecodeError) as error:
    raise ReadError(f"{path}: cannot be read ({error})") from error
  lines = csv.reader(text.splitlines(keepends=True))
  try:
    cells = [(lines.line_num, row) for row in lines if row]
  except csv.Error as error:
    raise ReadError(f"{path}:{lines.line_num}: not CSV ({error})") from error
  if not cells:
    raise ReadError(f"{path}: the file is empty")
  return cells, not text.endswith(("\n", "\r"))


def _sweep_frame(path, cells, problems):
  header = cells[0][1]
  missing = [name for name in REQUIRED_COLUMNS if name not in header]
  if missing:
    raise ReadError(f"{path}: the header lacks {', '.join(missing)}")
  repeated = sorted({name for name in header if header.count(name) > 1})
  if repeated:
    raise ReadError(f"{path}: the header has {', '.join(repeated)} more than once")
  rows, lines = [], []
  for line, row in cells[1:]:
    if len(row) != len(header):
      problems.append(f"{path.name}:{line}: left out, it has {len(row)} cells where the header has {len(header)}")
    elif row[0] != SCHEMA_VERSION:
      problems.append(f"{path.name}:{line}: left out, its schema_version is '{row[0]}' and this program knows "
                      f"{SCHEMA_VERSION}")
    else:
      rows.append(row)
      lines.append(line)
  frame = pandas.DataFrame(rows, columns=header, dtype=str)
  # The columns wanted, in one step: inserting them one by one would copy the frame each time.
  frame = frame.reindex(columns=[*TEXT_COLUMNS, *NUMBER_COLUMNS], fill_value="")
  frame["line"] = lines
  frame = _with_numbers(path, frame, problems)
  frame["source"] = path.name
  frame["machine"] = _machines(frame)
  return frame


def _with_numbers(path, frame, problems):
  usable = pandas.Series(True, index=frame.index)
  for name in NUMBER_COLUMNS:
    words = frame[name].where(frame[name] != "")
    numbers = pandas.to_numeric(words, errors="coerce")
    for index in frame.index[words.notna() & numbers.isna() & ~words.astype(str).str.lower().isin(("nan", "-nan"))]:
      if usable[index]:
        problems.append(f"{path.name}:{frame['line'][index]}: left out, {name} is '{frame[name][index]}', not a number")
        usable[index] = False
    frame[name] = numbers.astype(float)
  for name, value in DEFAULTS.items():
    frame[name] = frame[name].fillna(value) if name in NUMBER_COLUMNS else frame[name].replace("", value)
  return frame[usable].copy()


def _machines(frame):
  """Rows measured on the CPU belong to the machine of the GPU that the same file has rows of."""
  devices = sorted(set(frame["device"]) - {""})
  if len(devices) == 1:
    return frame["device"].where(frame["device"] != "", devices[0])
  return frame["device"].where(frame["device"] != "", frame["cpu"])

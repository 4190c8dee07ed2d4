"""The figures that the matmul assignment quotes in its text, beside ours."""

import dataclasses
import math
from typing import Callable

from benchmarks.report import model
from benchmarks.report.digits import significant

LOADING = ("alloc_ms", "h2d_ms", "d2h_ms", "free_ms")  # The phases that the assignment calls loading.

_QUALIFIERS = ("over", "below", "around")  # Remarks that belong to the number.
_SWEEP = "bazel run //benchmarks:matmul_sweep -- --preset="
_PROFILE = "bazel run //benchmarks:profile -- --operation=matmul --implementations=tiled --sizes=1024"


@dataclasses.dataclass(frozen=True)
class Quote:
  """How a `table` of studies.csv is quoted. The texts are formatted with the columns of a row."""
  what: str
  column: str  # The column of their figure.
  ours: Callable  # (row of theirs, study_data.OurRows) -> our figure, NaN where the files do not have it.
  sentence: str  # Formatted with {theirs}, {ours} and {machine} too.
  command: str  # The command that measures ours.


def make_table(rows, machines):
  """Returns the model.Table of the assignment's `rows`, and a sentence for each figure that both sides have."""
  cells, sentences, commands = [], [], []
  for _, row in rows.iterrows():
    quote = QUOTES[row["table"]]
    found = {machine: quote.ours(row, ours) for machine, ours in machines.items()}
    found = {machine: value for machine, value in found.items() if not math.isnan(value)}
    if not found:
      commands.append(quote.command.format(preset="cublas_vs_eigen" if row["implementation"] in ("eigen", "cublas")
                                           else "own_kernels"))
    for machine, value in (found or {"": math.nan}).items():
      cells.append([quote.what.format(**row), row["implementation"], row["rows"], row[quote.column], machine, value,
                    row["remark"]])
      if machine:
        sentences.append(_sentence(quote, row, machine, value))
  note = "Their figures are as quoted, and a remark such as 'over' qualifies the number."
  if commands:
    listed = ", ".join(f"`{command}`" for command in dict.fromkeys(commands))
    note += f" Empty cells are not in these files; they are measured by {listed}."
  columns = ["what", "implementation", "n", "theirs", "our device", "ours", "remark"]
  return model.Table("study-matmul-quotes", "Matmul assignment: what its text quotes", columns, cells, note), sentences


def _sentence(quote, row, machine, value):
  theirs = significant(row[quote.column])
  if row["remark"] in _QUALIFIERS:
    theirs = f"{row['remark']} {theirs}"
  ours = "no measured n" if value == 0 else significant(value)
  words = {**row, "rows": significant(row["rows"]), "theirs": theirs, "ours": ours, "machine": machine}
  return quote.sentence.format(**words)


def _at(row, products, values):
  """Returns the one of `values` at the size of `row`."""
  found = values[products["n"] == row["rows"]]
  return found.iloc[0] if len(found) else math.nan


def _last_ahead(row, ours):
  """Returns the largest n at which the implementation is faster than the other one; 0 for none."""
  both = ours.products(row["implementation"]).merge(ours.products(row["compared_with"]), on="n", suffixes=("", "_other"))
  ahead = both[both["total_ms"] < both["total_ms_other"]]["n"]
  return math.nan if both.empty else max(ahead, default=0.0)


def _total(row, ours):
  products = ours.products(row["implementation"])
  return _at(row, products, products["total_ms"])


def _largest(row, ours):
  return ours.products(row["implementation"])["n"].max()


def _loading(row, ours):
  products = ours.products(row["implementation"])
  return _at(row, products, products[list(LOADING)].sum(axis=1, skipna=False))


def _gain(row, ours):
  products, others = ours.products(row["implementation"]), ours.products(row["compared_with"])
  return _at(row, others, others["kernel_ms_median"]) / _at(row, products, products["kernel_ms_median"])


def _profiled(column):
  """Returns the function that reads a profiler's `column`."""
  def ours_of(row, ours):
    products = ours.products(row["implementation"], column)
    return _at(row, products, products[column])
  return ours_of


QUOTES = {
    "crossover": Quote(
        "largest n at which {implementation} is faster than {compared_with}, with copies", "rows", _last_ahead,
        "With copies, {implementation} is faster than {compared_with} up to n = {theirs} in theirs, up to {ours} on {machine}.",
        _SWEEP + "{preset}"),
    "total": Quote(
        "ms with copies", "ms", _total,
        "With copies, {implementation} takes {theirs} ms at n = {rows} in theirs, {ours} ms on {machine}.",
        _SWEEP + "{preset}"),
    "memory": Quote(
        "largest n measured", "rows", _largest,
        "The largest n of {implementation} is {theirs} in theirs ({remark}), {ours} on {machine}.",
        _SWEEP + "{preset}"),
    "loading": Quote(
        "ms for allocation, copies and freeing", "ms", _loading,
        "Allocation and copies of {implementation} take {theirs} ms at n = {rows} in theirs, {ours} ms on {machine}.",
        _SWEEP + "{preset}"),
    "fma": Quote(
        "times the speed of {compared_with}", "speedup_vs_previous", _gain,
        "{implementation} has {theirs} times the speed of {compared_with} in theirs, {ours} on {machine} at n = {rows}.",
        _SWEEP + "{preset}"),
    "bank_conflicts": Quote(
        "wavefronts of a shared load", "shared_load_wavefronts_per_request",
        _profiled("shared_load_wavefronts_per_request"),
        "A shared load of {implementation} takes {theirs} wavefronts in theirs, {ours} on {machine}.",
        _PROFILE),
    "throughput": Quote(
        "compute throughput, percent of the peak", "value", _profiled("compute_pct_of_peak"),
        "The compute throughput of {implementation} at n = {rows} is {theirs} % of the peak in theirs, {ours} % on {machine}.",
        _PROFILE),
    "stalls": Quote(
        "cycles per instruction that a warp waits at barriers", "value", _profiled("stalled_barrier"),
        "Per instruction, a warp of {implementation} waits {theirs} cycles at barriers in theirs, {ours} on {machine}.",
        _PROFILE),
}

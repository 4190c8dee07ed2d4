"""Speed against error over all element types and precisions of products: what does a less exact product gain?

Each machine has a chart of the fastest implementation of each type and precision, this project's and the vendor's, at one
size, and a table of the same. Where a file has most of them, as that of `matmul_sweep --preset=front` has, the points are of
that file alone: one run measured them.
"""

import math

from benchmarks.report import group as groups
from benchmarks.report import model
from benchmarks.report import roles
from benchmarks.report.charts import accuracy
from benchmarks.report.charts import lines

_NOTES = [
    "Each point is the fastest of this project's implementations, or of the vendor's, for one element type and precision.",
    "The error is that of the product of the operands as their type holds them: what is lost when floats are rounded to a "
    "shorter type first is not part of it, and the rounding of the result to its type is.",
    accuracy.FRONT_NOTE, lines.INTERVAL_NOTE]
_CONFIGURATION = ("implementation", "dtype", "math", "precision", "layout", "rows")
# Headings of the table by column; those without a value in any row are left out.
_COLUMNS = {"kind": "type and precision", "side": "side", "implementation": "implementation", "kernel_ms_median": "kernel ms",
            "gflops": "GFLOP/s", "vs_sgemm": "rate over SGEMM's", "relative_error": "relative error",
            "median_error": "median error", "max_error": "maximum error"}
_LEAST_KINDS = 3  # Fewer types and precisions are no front.
_WHOLE_FRONT = 8  # A file with this number is one: FP64, FP32, TF32, two of 16 bits, three schemes.


def make_sections(results):
  """Returns a model.Section for each machine that has products of several types or precisions at one size."""
  rows = results.rows
  n = rows["rows"]
  square = n.gt(0) & rows["cols"].eq(n) & rows["depth"].eq(n)
  rows = rows[groups.is_timed(rows) & groups.is_plain(rows) & rows["operation"].eq("matmul") & rows["device"].ne("") & square
              & rows["gflops"].notna() & rows["relative_error"].notna()]
  sections = []
  for machine, of_machine in rows.groupby("machine", sort=True):
    fastest = _fastest(of_machine)
    if not fastest.empty:
      sections.append(_section(machine, fastest))
  return sections


def _fastest(rows):
  """Returns the fastest row of each kind and side at the size with the most of them; none with fewer kinds than a front
  needs."""
  vendor = roles.is_vendor(rows)
  # The vendor has no split: at such a point it computes in FP32.
  reduced = rows["precision"].ne("fp32") & ~(vendor & rows["precision"].eq("fp32_split"))
  kind = rows["dtype"] + (" " + rows["precision"]).where(reduced, "")
  kind += (" " + rows["math"]).where(rows["math"].isin(("tf32", "tensor_fast")) & rows["precision"].ne("tf32"), "")
  # Each scheme that writes floats as sums of narrower numbers is a trade of its own.
  schemes = ~vendor & rows["math"].eq("split")
  kind = kind.mask(schemes, rows["dtype"] + " " + rows["implementation"])
  rows = rows.assign(n=rows["rows"], kind=kind, side=vendor.map({True: "vendor", False: "ours"}))
  rows = rows.assign(name=rows["kind"].mask(~schemes, rows["implementation"] + " " + rows["kind"]))
  rows = groups.latest(_of_one_file(rows), _CONFIGURATION)
  n = roles.largest_common_size(rows.drop_duplicates(["kind", "side", "n"]).assign(name=rows["kind"] + rows["side"]))
  rows = rows[rows["n"].eq(n)].sort_values("kernel_ms_median", kind="stable").drop_duplicates(["kind", "side"])
  sgemm = rows["gflops"][rows["kind"].eq("float") & rows["side"].eq("vendor")]
  rows = rows.assign(vs_sgemm=rows["gflops"] / (sgemm.iloc[0] if len(sgemm) else math.nan))
  return rows if rows["kind"].nunique() >= _LEAST_KINDS else rows[:0]


def _of_one_file(rows):
  """Returns the rows of the latest file that has a whole front, all rows if none has."""
  kinds = rows.groupby("source")["kind"].nunique()
  whole = rows[rows["source"].isin(kinds.index[kinds >= _WHOLE_FRONT])].sort_values("timestamp_utc", kind="stable")
  return rows[rows["source"].eq(whole["source"].iloc[-1])] if len(whole) else rows


def _section(machine, rows):
  n = rows["n"].iloc[0]
  days, commits = sorted(set(rows["timestamp_utc"].str[:10])), sorted(set(rows["git_commit"]) - {""})
  when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
  where = ", ".join(part for part in (machine, when, f"commit {commits[0]}" if len(commits) == 1 else "") if part)
  slug = "".join(c if c.isalnum() else "-" for c in f"precisions-{machine}".lower())
  inexact = rows[rows["relative_error"] > 0]
  work = inexact["gflops"] * inexact["kernel_ms_median"]
  inexact = inexact.assign(rate=inexact["gflops"], rate_low=work / inexact["kernel_ms_ci_high"],
                           rate_high=work / inexact["kernel_ms_ci_low"])
  notes = list(_NOTES)
  exact = rows[rows["relative_error"] == 0]
  if not exact.empty:
    notes.append("Exact, and so not on this axis: " +
                 "; ".join(f"{name}, {rate:.0f} GFLOP/s" for name, rate in zip(exact["name"], exact["gflops"])) + ".")
  title = f"Speed and error of all types and precisions: matmul, n = {n:.0f}"
  chart = accuracy.front_chart(inexact, slug, title, where, "GFLOP/s", notes)
  shown = [column for column in _COLUMNS if rows[column].notna().any()]
  table = model.Table(f"{slug}-table", title, [_COLUMNS[column] for column in shown], _cells(rows, shown), where)
  return model.Section(slug, f"Types and precisions, {machine}", [], [chart], [table])


def _cells(rows, columns):
  ordered = rows.sort_values(["relative_error", "kind", "side"], kind="stable")
  return [list(row) for row in ordered[columns].itertuples(index=False)]

"""Tables of the report: the fastest by size or shape, all times by size, failed rows, and the files of other programs."""

import math

import numpy

from benchmarks.report import model
from benchmarks.report import results
from benchmarks.report import roles
from benchmarks.report import wording

_MOST_ROWS = 40


def of_group(group):
  """Returns tables of the fastest at each square size and at each other shape, and of all implementations' times by size."""
  squares = roles.by_size(group)
  rows = roles.all_rows(group)
  others = roles.fastest_blocks(rows[~rows.index.isin(roles.squares(group).index)])
  others = others.assign(n=wording.shapes(others), elements=wording.elements(others))
  tables = []
  if len(squares):
    few, note = thinned(squares)
    tables += [_fastest(group, few, "fastest", "Fastest by size", "n", note), _all_times(group, few, note)]
  if len(others):
    few, note = _most_measured(others)
    tables.append(_fastest(group, few, "fastest-other-shapes", "Fastest by shape, other than square", "shape", note))
  return tables


def not_measured(rows):
  """Returns a table that counts the rows that failed, by what they are and why; none where no row failed."""
  # Rows that a search for a block skipped did not fail.
  rows = rows[~rows["status"].isin(("ok", "skipped"))]
  if rows.empty:
    return []
  counts = rows.groupby(["status", "operation", "implementation", "dtype"], sort=False)["message"].agg(["size", "first"])
  columns = ["status", "operation", "implementation", "dtype", "rows", "first message"]
  return [model.Table("not-measured", "Not measured", columns,
                      [[*key, int(size), message] for key, size, message in counts.itertuples()])]


def known_tables(other_files):
  """Returns the tables of those Results.other_files that the project's programs write."""
  tables = []
  for name, (header, *rows) in other_files.items():
    if not results.KNOWN_BY.isdisjoint(header):
      whole = [[_cell(word) for word in row] for row in rows if len(row) == len(header)]
      slug = "".join(c if c.isalnum() else "-" for c in name.lower())
      tables.append(model.Table(f"file-{slug}", name, header, whole))
  return tables


def _fastest(group, rows, slug, title, label, note):
  """Returns a table with a row for each value of column n, in the order of `rows`."""
  computing = roles.computing(rows)
  order = rows["n"].drop_duplicates()
  gpu, cpu, vendor = (_best(some).reindex(order) for some in (
      computing[~computing["is_cpu"]], computing[computing["is_cpu"]],
      computing[computing["implementation"] == group.operation.vendor]))
  share, share_label = ("pct_of_peak", "% of peak") if group.operation.is_arithmetic else ("pct_of_copy", "% of a copy")
  columns = {
      label: order if label == "shape" else order.astype(int),
      "fastest on the GPU": gpu["name"].fillna(""),
      "kernel (ms)": gpu["kernel_ms_median"],
      "low": gpu["kernel_ms_ci_low"],
      "high": gpu["kernel_ms_ci_high"],
      group.operation.rate_unit: gpu["rate"],
      share_label: gpu[share],
      "speed over the vendor's library": vendor["kernel_ms_median"] / gpu["kernel_ms_median"],
      "fastest on the CPU": cpu["name"].fillna(""),
      "its kernel (ms)": cpu["kernel_ms_median"],
  }
  cells = [list(row) for row in zip(*(values.tolist() for values in columns.values()))]
  return model.Table(group.slug(slug), group.title(title), list(columns), cells,
                     f"{note}{group.subtitle(rows)}.")


def _all_times(group, rows, note):
  names = rows.sort_index()["name"].unique()
  table = rows.pivot_table(index="n", columns="name", values="kernel_ms_median").reindex(columns=names)
  cells = [[int(n), *times] for n, times in zip(table.index, table.values.tolist())]
  return model.Table(group.slug("times"), group.title("Kernel times (ms) by size"), ["n", *names],
                     cells, f"{note}{group.subtitle(rows)}.")


def _best(rows):
  return rows.sort_values("kernel_ms_median", kind="stable").drop_duplicates("n").set_index("n")


def thinned(rows):
  """Returns the rows of at most _MOST_ROWS sizes, spread evenly on a logarithmic scale, and a note that says so. Of
  neighbouring sizes it keeps the one with the most names."""
  counts = rows.groupby("n").size()
  if len(counts) <= _MOST_ROWS:
    return rows, ""
  edges = numpy.geomspace(counts.index[0], counts.index[-1], _MOST_ROWS + 1)
  kept = counts.groupby(numpy.digitize(counts.index, edges[1:-1])).idxmax()
  return rows[rows["n"].isin(kept)], f"{len(kept)} of {len(counts)} sizes are shown. "


def _most_measured(rows):
  """Returns the rows of the _MOST_ROWS shapes with the most names, from small to large, and a note that says so."""
  counts = rows.groupby("n").size().sort_values(ascending=False, kind="stable")
  kept = rows[rows["n"].isin(counts.index[:_MOST_ROWS])].sort_values(["elements", "rows"], kind="stable")
  return kept, f"{_MOST_ROWS} of {len(counts)} shapes are shown. " if len(counts) > _MOST_ROWS else ""


def _cell(word):
  if word == "":
    return math.nan
  try:
    return float(word) if "." in word or "e" in word else int(word)
  except ValueError:
    return word

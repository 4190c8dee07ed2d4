"""Tables of the report: the fastest by size or shape, all implementations' times, what has none, other programs' files."""

import math

import numpy

from benchmarks.report import chart
from benchmarks.report import results
from benchmarks.report import roles
from benchmarks.report import wording

_MOST_ROWS = 40


def of_group(group):
  """The fastest at each size of square problems and at each other shape, and the times of all implementations by size."""
  squares = roles.by_size(group)
  rows = roles.all_rows(group)
  others = roles.fastest_blocks(rows[~rows.index.isin(roles.squares(group).index)])
  others = others.assign(n=wording.shapes(others), elements=others["rows"] * others["cols"] * others["depth"].fillna(1))
  tables = []
  if len(squares):
    few, note = _thinned(squares)
    tables += [_fastest(group, few, "fastest", "Fastest by size", "n", note), _all_times(group, few, note)]
  if len(others):
    few, note = _most_measured(others)
    tables.append(_fastest(group, few, "fastest-other-shapes", "Fastest by shape, other than square", "shape", note))
  return tables


def not_measured(rows):
  """Rows that are not ok, counted by what they are and why; no table where all are."""
  # What a search for a block left out is no failure.
  rows = rows[~rows["status"].isin(("ok", "skipped"))]
  if rows.empty:
    return []
  counts = rows.groupby(["status", "operation", "implementation", "dtype"], sort=False)["message"].agg(["size", "first"])
  columns = ["status", "operation", "implementation", "dtype", "rows", "first message"]
  return [chart.Table("not-measured", "Not measured", columns,
                      [[*key, int(size), message] for key, size, message in counts.itertuples()])]


def known_tables(other_files):
  """Those of Results.other_files that the project's programs write."""
  tables = []
  for name, (header, *rows) in other_files.items():
    if not results.KNOWN_BY.isdisjoint(header):
      whole = [[_cell(word) for word in row] for row in rows if len(row) == len(header)]
      slug = "".join(c if c.isalnum() else "-" for c in name.lower())
      tables.append(chart.Table(f"file-{slug}", name, header, whole))
  return tables


def _fastest(group, rows, slug, title, label, note):
  """A row for each value of column n, in the order of `rows`."""
  computing = roles.computing(rows)
  order = rows["n"].drop_duplicates()
  gpu, cpu, vendor = (_best(some).reindex(order) for some in (
      computing[~computing["is_cpu"]], computing[computing["is_cpu"]],
      computing[computing["implementation"].isin(roles.VENDORS)]))
  share, share_label = ("pct_of_peak", "% of peak") if group.operation == "matmul" else ("pct_of_copy", "% of a copy")
  columns = {
      label: order if label == "shape" else order.astype(int),
      "fastest on the GPU": gpu["name"].fillna(""),
      "kernel (ms)": gpu["kernel_ms_median"],
      "low": gpu["kernel_ms_ci_low"],
      "high": gpu["kernel_ms_ci_high"],
      roles.rate_unit(group): gpu["rate"],
      share_label: gpu[share],
      "speed over the vendor's": vendor["kernel_ms_median"] / gpu["kernel_ms_median"],
      "fastest on the CPU": cpu["name"].fillna(""),
      "its kernel (ms)": cpu["kernel_ms_median"],
  }
  cells = [list(row) for row in zip(*(values.tolist() for values in columns.values()))]
  return chart.Table(group.slug(slug), f"{title}: {group.operation}, {group.dtype}", list(columns), cells,
                     f"{note}{group.subtitle(rows)}.")


def _all_times(group, rows, note):
  names = rows.sort_index()["name"].unique()
  table = rows.pivot_table(index="n", columns="name", values="kernel_ms_median").reindex(columns=names)
  cells = [[int(n), *times] for n, times in zip(table.index, table.values.tolist())]
  return chart.Table(group.slug("times"), f"Kernel times (ms) by size: {group.operation}, {group.dtype}", ["n", *names],
                     cells, f"{note}{group.subtitle(rows)}.")


def _best(rows):
  return rows.sort_values("kernel_ms_median", kind="stable").drop_duplicates("n").set_index("n")


def _thinned(rows):
  """Rows of at most _MOST_ROWS sizes, spread evenly on a logarithmic scale: of neighbours that with the most names. And a
  note that says so."""
  counts = rows.groupby("n").size()
  if len(counts) <= _MOST_ROWS:
    return rows, ""
  edges = numpy.geomspace(counts.index[0], counts.index[-1], _MOST_ROWS + 1)
  kept = counts.groupby(numpy.digitize(counts.index, edges[1:-1])).idxmax()
  return rows[rows["n"].isin(kept)], f"{len(kept)} of {len(counts)} sizes. "


def _most_measured(rows):
  """Rows of at most _MOST_ROWS shapes, those with the most names, from small to large. And a note that says so."""
  counts = rows.groupby("n").size().sort_values(ascending=False, kind="stable")
  kept = rows[rows["n"].isin(counts.index[:_MOST_ROWS])].sort_values(["elements", "rows"], kind="stable")
  return kept, f"{_MOST_ROWS} of {len(counts)} shapes. " if len(counts) > _MOST_ROWS else ""


def _cell(word):
  if word == "":
    return math.nan
  try:
    return float(word) if "." in word or "e" in word else int(word)
  except ValueError:
    return word

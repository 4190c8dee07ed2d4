"""Products and transposes spread over several GPUs: how much faster are more of them, and do they do larger problems as fast?

Each machine has, for each operation and type, a chart of the speed-up at one size (strong scaling), one of the rate of a GPU
where the problem grows with their number (weak scaling), and a table of all. All are squares. What is compared with is what
one GPU does alone: `auto`, or without such a row the fastest grid of one GPU.
"""

import pandas

from benchmarks.report import group as groups
from benchmarks.report import model
from benchmarks.report import operations
from benchmarks.report import roles

_VENDOR = "cublasmp"
_NEAR = 0.02  # Problems whose elements of a GPU differ by no more are of one size for weak scaling.
_COLUMNS = {"implementation": "implementation", "n": "n", "grid": "grid", "grid_block": "block", "kernel_ms_median": "kernel ms",
            "rate": "rate", "speed_up": "speed-up", "efficiency": "efficiency", "vs_cublas": "rate over cuBLASMp's",
            "communication_ms": "communication ms", "overlap_pct": "hidden %"}
_STRONG_NOTE = ("The speed-up is the time of one GPU alone over that of the grid, at the same size. Of several grids and blocks the "
                "fastest is drawn, and its grid is the label.")
_WEAK_NOTE = ("Each GPU has about as many elements of each matrix as the one that is compared with, to 2 %. The efficiency is the "
              "rate of a GPU over that of the one alone.")


def make_sections(results):
  """Returns a model.Section for each machine that has rows of several GPUs."""
  rows = results.rows
  n = rows["rows"]
  square = n.gt(0) & rows["cols"].eq(n) & (rows["depth"].eq(n) | rows["depth"].isna())
  rows = rows.assign(n=n)[groups.is_timed(rows) & square & rows["layout"].eq("nn") & rows["precision"].eq("fp32")
                          & rows["device"].ne("") & groups.is_plain(rows.assign(grid=""))]
  sections = []
  for machine, of_machine in rows.groupby("machine", sort=True):
    figures, tables = [], []
    for operation in operations.find_operations(of_machine).values():
      for dtype, of_type in of_machine[of_machine["operation"].eq(operation.name)].groupby("dtype", sort=True):
        spread = _spread(of_type, operation)
        if spread["ranks"].gt(1).any():
          slug = "".join(c if c.isalnum() else "-" for c in f"gpus-{operation.name}-{dtype}-{machine}".lower())
          where = ", ".join([machine, *sorted(set(spread["timestamp_utc"].str[:10]))])
          figures += _figures(spread, f"{operation.name}, {dtype}", slug, where)
          tables.append(_table(spread, operation, dtype, slug, where))
    if tables:
      slug = "".join(c if c.isalnum() else "-" for c in f"gpus-{machine}".lower())
      sections.append(model.Section(slug, f"Several GPUs, {machine}", [], figures, tables))
  return sections


def _spread(rows, operation):
  """Returns the latest row of each configuration on a grid, with `rate`, and with `speed_up` and `efficiency` where one GPU
  was measured at the size."""
  on_grid = rows["grid"].ne("")
  alone = _fastest(rows[~on_grid & rows["implementation"].eq(roles.LIBRARY_CALL)])
  first = _fastest(rows[on_grid & rows["ranks"].eq(1) & rows["implementation"].ne(_VENDOR)])
  one = {**first, **alone}
  found = groups.latest(rows[on_grid])
  found = found.assign(rate=found[operation.rate], speed_up=found["n"].map(one) / found["kernel_ms_median"])
  return found.assign(efficiency=found["speed_up"] / found["ranks"], one_ms=found["n"].map(one))


def _fastest(rows):
  """Returns the shortest time by size."""
  return rows.groupby("n")["kernel_ms_median"].min().to_dict()


def _best_grids(rows):
  """Returns of each implementation, size and number of GPUs the fastest row, in order of the number."""
  ordered = rows.sort_values("kernel_ms_median", kind="stable")
  return ordered.drop_duplicates(["implementation", "n", "ranks"]).sort_values(["n", "implementation", "ranks"])


def _figures(rows, what, slug, where):
  best = _best_grids(rows)
  most = int(best["ranks"].max())
  ranks = sorted(set(best["ranks"]) | {1, most})
  charts = []
  strong = _lines(best[best["speed_up"].notna()].groupby(["n", "implementation"], sort=True), "speed_up",
                  lambda n, name: f"{name}, n = {n:.0f}")
  if strong:
    strong.append(model.Series("as many times as GPUs", ranks, ranks, is_reference=True))
    charts.append(model.Chart(f"{slug}-strong", f"Strong scaling: {what}", where, model.Kind.LINES, model.Axis("GPUs"),
                              model.Axis("speed-up over one GPU"), strong, notes=[_STRONG_NOTE], label="grid"))
  weak = _lines(_weak(best).groupby(["base", "implementation"], sort=True), "weak_efficiency",
                lambda n, name: f"{name}, from n = {n:.0f}")
  if weak:
    weak.append(model.Series("as fast as one GPU", ranks, [1] * len(ranks), is_reference=True))
    charts.append(model.Chart(f"{slug}-weak", f"Weak scaling: {what}", where, model.Kind.LINES, model.Axis("GPUs"),
                              model.Axis("efficiency"), weak, notes=[_WEAK_NOTE], label="grid"))
  return charts


def _lines(grouped, column, name_of):
  """Returns a Series for each group with several GPUs, of the largest sizes. What a grid of one GPU was not measured for begins
  with what one GPU does alone, which is 1."""
  found = [(key, of_line.sort_values("ranks")) for key, of_line in grouped if of_line["ranks"].gt(1).any()]
  series = []
  for key, line in found[-(roles.MOST_LINES - 1):]:
    x, y, labels = list(line["ranks"]), list(line[column]), list(line["grid"])
    if x[0] > 1:
      x, y, labels = [1, *x], [1, *y], ["", *labels]
    series.append(model.Series(name_of(*key), x, y, labels=labels))
  return series


def _weak(best):
  """Returns the rows of `best` whose elements of a GPU are those of a size that one GPU did alone, `base`."""
  one = best[best["one_ms"].notna()].drop_duplicates("n")
  # The rate of one GPU follows from the work, which is in the rate of any row of the size.
  bases = [(row.n, row.rate * row.kernel_ms_median / row.one_ms) for row in one.itertuples()]
  parts = []
  for n, rate in bases:
    near = (best["n"] ** 2 / best["ranks"] / n ** 2 - 1).abs().le(_NEAR)
    parts.append(best[near].assign(base=n, weak_efficiency=best["rate"] / best["ranks"] / rate))
  return pandas.concat(parts) if parts else best.iloc[:0].assign(base=[], weak_efficiency=[])


def _table(rows, operation, dtype, slug, where):
  ordered = rows.sort_values(["n", "ranks", "kernel_ms_median"], kind="stable")
  shown = [column for column in _COLUMNS if ordered[column].notna().any()]
  headings = [operation.rate_unit if column == "rate" else _COLUMNS[column] for column in shown]
  cells = [list(row) for row in ordered[shown].itertuples(index=False)]
  return model.Table(f"{slug}-table", f"Over several GPUs: {operation.name}, {dtype}", headings, cells, where)

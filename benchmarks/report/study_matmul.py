"""The matmul assignment beside our results: the graphs that it has, drawn from our rows, and the figures that its text quotes.

Its text does not give the numbers behind its graphs. So the lines are ours, and marks show where it says that its lines cross.
"""

import dataclasses
import math

import pandas

from benchmarks.report import model, study_data, study_quotes

_OURS = {"kernel": ("kernel_ms_median",), "loading": study_quotes.LOADING, "total": ("total_ms",)}


@dataclasses.dataclass(frozen=True)
class Graph:
  slug: str
  title: str
  implementations: tuple
  sizes: tuple  # First and last.
  parts: tuple  # Of _OURS.


# The largest sizes of the assignment: beyond them a graph would hide the sizes that it had.
_LARGEST = {"cpu_naive": 1024, "naive_one_thread_blocks": 2048}

_LIBRARIES, _KERNELS = ("eigen", "cublas"), ("naive_one_thread_blocks", "tiled")
GRAPHS = (
    Graph("libraries", "cuBLAS and Eigen with copies, up to 5001", _LIBRARIES, (1, 5001), ("total",)),
    Graph("libraries-large", "cuBLAS and Eigen with copies, from 5000 on", _LIBRARIES, (5000, 26000), ("total",)),
    Graph("libraries-small", "cuBLAS and Eigen with copies, small products", _LIBRARIES, (1, 200), ("total",)),
    Graph("own", "kernels and three loops with copies", ("cpu_naive", *_KERNELS), (1, 4096), ("total",)),
    Graph("own-small", "kernels and three loops with copies, small products", ("cpu_naive", *_KERNELS), (1, 100),
          ("total",)),
    Graph("own-small-split", "loading and computing apart, small products", ("cpu_naive", *_KERNELS), (1, 100),
          ("loading", "kernel")),
    Graph("own-split", "loading and computing apart on the GPU", _KERNELS, (1, 4096), ("loading", "kernel")),
)


def make_section(rows, machines):
  """Returns the model.Section of the assignment's `rows` of studies.csv; None where no machine has rows for it."""
  figures = [figure for machine, ours in machines.items() for graph in GRAPHS
             for figure in _draw(graph, rows, machine, ours)]
  table, sentences = study_quotes.make_table(rows, machines)
  if not figures and not sentences:
    return None
  return model.Section("study-matmul", "Matmul assignment: its figures beside ours", sentences, figures, [table])


def _draw(graph, rows, machine, ours):
  """Returns a list of the graph's model.Chart; empty where it has fewer than two lines of two points."""
  series, used = [], []
  for implementation in graph.implementations:
    products = ours.products(implementation)
    products = products[products["n"].between(graph.sizes[0], min(graph.sizes[1], _LARGEST.get(implementation, math.inf)))]
    for part in graph.parts:
      made = _series(implementation if len(graph.parts) == 1 else f"{implementation}, {part}", part, products)
      if len(made.x) >= 2:
        series.append(made)
        used.append(products)
  if len(series) < 2:
    return []
  marks = []
  if graph.slug.endswith("-small"):
    crossings = rows[rows["table"].eq("crossover") & rows["implementation"].isin(graph.implementations)]
    marks = [model.Mark(n, f"theirs cross at {n:.0f}") for n in crossings["rows"].unique()]
  slug = "".join(c if c.isalnum() else "-" for c in f"study-matmul-{graph.slug}-{machine}".lower())
  return [model.Chart(slug, f"Matmul assignment: {graph.title}", study_data.where_and_when(pandas.concat(used)),
                      model.Kind.LINES, model.Axis("n"), model.Axis("time (ms)"), series, marks)]


def _series(name, part, products):
  times = products[list(_OURS[part])].sum(axis=1, skipna=False)
  products, times = products[times.notna()], times[times.notna()]  # The CPU has nothing to load.
  # Only kernels have an interval.
  spread = [products[f"kernel_ms_ci_{end}"].fillna(times).tolist() for end in ("low", "high")] if part == "kernel" else []
  return model.Series(name, products["n"].tolist(), times.tolist(), *spread)

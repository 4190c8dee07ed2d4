"""Tables of the GPU beside the best CPU: at each size the kernel, its copies and the whole call, and the fastest on the CPU.

Rows of the CPU are those of the files that the GPU's rows are of, so that both are of one machine. What the CPU takes is its
kernel time, since nothing is copied for it.
"""

from benchmarks.report import crossovers
from benchmarks.report import model
from benchmarks.report import roles
from benchmarks.report import summaries

_COLUMNS = {"kernel_ms_median": "kernel (ms)", "h2d_ms": "to the GPU (ms)", "d2h_ms": "back (ms)", "total_ms": "whole call (ms)"}
_WORDS = {"kernel": "kernel alone", "total": "with allocation and copies"}


def tables(group):
  """Returns a table of this project's best and one of the vendor's library; none where no size has both GPU and CPU."""
  rows = roles.computing(roles.by_size(group))
  who = roles.find_roles(rows)
  names = dict.fromkeys(name for name in (who.own, who.vendor) if name is not None)
  made = [_table(group, rows, name) for name in names]
  return [table for table in made if table is not None]


def _table(group, rows, name):
  best = crossovers.best_cpu(rows)
  both = rows["n"].isin(set(best["n"]) & set(rows["n"][rows["name"] == name]))
  few, thinned = summaries.thinned(rows[both])
  if few.empty:
    return None
  gpu = few[few["name"] == name].set_index("n")
  cpu = best.set_index("n").reindex(gpu.index)
  columns = {"n": gpu.index.astype(int), **{label: gpu[column] for column, label in _COLUMNS.items()},
             "fastest on the CPU": cpu["name"], "its kernel (ms)": cpu["kernel_ms_median"],
             "CPU over kernel": cpu["kernel_ms_median"] / gpu["kernel_ms_median"],
             "CPU over whole call": cpu["kernel_ms_median"] / gpu["total_ms"]}
  cells = [list(row) for row in zip(*(values.tolist() for values in columns.values()))]
  return model.Table(group.slug(f"beside-cpu-{name}"), group.title(f"{name} beside the best CPU by size"), list(columns), cells,
                     f"{_crossings(rows, name)}{thinned}{group.subtitle(few)}.")


def _crossings(rows, name):
  """Returns a sentence that names the size from which on the GPU is faster, with and without copies."""
  rows, cpu = crossovers.with_best_cpu(rows)
  found = [(words, crossovers.find_crossing(rows, name, cpu, measure)) for measure, words in _WORDS.items()]
  words = [f"{words} {_from(crossing)}" for words, crossing in found if crossing is not None]
  return f"{name} is faster than {cpu}: {'; '.join(words)}. " if words else ""


def _from(crossing):
  if crossing.always():
    return f"at all {len(crossing.sizes)} sizes of both"
  if crossing.start is None:
    return f"not at the largest sizes of both, up to n = {crossing.sizes[-1]:.0f}"
  return f"from n = {crossing.start:.0f} on"

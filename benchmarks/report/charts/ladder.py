"""The ladder: the rate of each step at one size, in the order of the steps, and what each step gained.

Only steps of the ladder are bars. The vendor's library, this project's library call and the copies that bound the operation
are reference lines. The steps are of one file, so that one sweep measured them in one go. A gain is over the fastest step
before: the step before, unless that one was slower.
"""

import math

from benchmarks.report import model
from benchmarks.report import operations
from benchmarks.report import roles

_FEWEST_STEPS = 3
_REFERENCES = (*operations.VENDORS, *operations.BOUNDS, roles.LIBRARY_CALL)
_SPREAD_NOTE = "The spread is the rate at the ends of the 95 % confidence interval of the median time."


@roles.once_for_each_group
def steps(group):
  """Returns the rows of the GPU's ladder in the order of its steps, at one size `n`, with `gain`: the rate over that of the
  fastest step before, NaN for the first. They come from the file with the most steps at one size, at the largest such size;
  of several blocks the fastest counts. Empty where no file has three steps."""
  rows = roles.with_names(group.squares(group.repeats), group.operation)
  rows = rows[(rows["operation"] == group.operation.name) & ~rows["is_cpu"] & (rows["step"] > 0) & rows["rate"].notna()]
  rows = rows.sort_values("kernel_ms_median", kind="stable").drop_duplicates(["source", "implementation", "n"])
  counts = rows.groupby(["source", "n"]).size()
  if counts.empty or counts.max() < _FEWEST_STEPS:
    return rows[:0].assign(gain=math.nan)
  source, n = counts[counts == counts.max()].sort_index(level="n", kind="stable").index[-1]
  rows = rows[(rows["source"] == source) & (rows["n"] == n)].sort_values("step", kind="stable")
  return rows.assign(gain=rows["rate"] / rows["rate"].cummax().shift())


def figures(group):
  rows = steps(group)
  if rows.empty:
    return []
  n = rows["n"].iloc[0]
  words = [f"{step:.0f}  {name}" for step, name in zip(rows["step"], rows["implementation"])]
  gains = ["" if math.isnan(gain) else f"{gain:.2f}x" for gain in rows["gain"]]
  series = [model.Series("step", words, rows["rate"].tolist(), rows["rate_low"].tolist(), rows["rate_high"].tolist(),
                         labels=gains)]
  squares = roles.by_size(group)
  references = squares[(squares["n"] == n) & squares["implementation"].isin(_REFERENCES) & squares["rate"].notna()]
  series += [model.Series(name, words, [rate] * len(words), is_reference=True)
             for name, rate in zip(references["name"], references["rate"].tolist())]
  notes = [f"The steps of the ladder in {rows['source'].iloc[0]}, each with its fastest block. The factor is the rate over "
           "that of the fastest step before.", _SPREAD_NOTE]
  if len(references):
    notes.append("Dashed lines are references, not steps: the vendor's library, this project's library call (auto) and "
                 "copies of the same bytes, where they were measured at this size.")
  return [model.Chart(group.slug("ladder"), f"{group.title('The ladder')}, n = {n:.0f}", group.subtitle(rows),
                      model.Kind.BARS, model.Axis("step"), model.Axis(group.operation.rate_unit), series, notes=notes,
                      label="gain")]

"""The findings of comparison.py as lines for a terminal."""

import math

from benchmarks.report import columns, comparison, digits, wording

_FIRST_FEW = 3  # Names in a line.
_CLOCK_APART = 0.02


def side(name, rows, runs):
  """Returns a line on one side: `name` as the user gave it, its rows, of which `runs` count, and where they come from."""
  days = rows["timestamp_utc"].str[:10]
  commits = rows.sort_values("timestamp_utc", kind="stable")["git_commit"].drop_duplicates()
  parts = [f"{name}: {wording.counted(len(rows), 'row')}", *rows["machine"].unique()[:_FIRST_FEW],
           days.min() if days.min() == days.max() else f"{days.min()} to {days.max()}",
           f"commit {commits.iloc[0]}" if len(commits) == 1 else f"{len(commits)} commits, the last {commits.iloc[-1]}"]
  older = [f"{len(rows) - runs} of older commits or other machines ignored"] if runs < len(rows) else []
  return ", ".join(part for part in parts + older if part)


def differences(compared):
  """Returns a line for each circumstance that differs between the sides."""
  pairs = compared[~compared["verdict"].isin(("missing", "extra"))]
  lines = []
  for column in comparison.CIRCUMSTANCES:
    if column == "sm_clock_mhz":
      continue
    apart = pairs[pairs[f"{column}_a"] != pairs[f"{column}_b"]]
    counts = apart.groupby([f"{column}_a", f"{column}_b"]).size().sort_values(ascending=False, kind="stable")
    changes = [f"{a or 'nothing'} -> {b or 'nothing'}" for a, b in counts.index[:_FIRST_FEW]]
    if len(counts):
      more = f" and {len(counts) - _FIRST_FEW} other changes" if len(counts) > _FIRST_FEW else ""
      lines.append(f"{column}: {', '.join(changes)}{more} in {len(apart)} of {wording.counted(len(pairs), 'row')}")
  clock = (pairs["sm_clock_mhz_b"] / pairs["sm_clock_mhz_a"]).replace([0, math.inf], math.nan).dropna()
  apart = clock[(clock > 1 + _CLOCK_APART) | (clock < 1 / (1 + _CLOCK_APART))]
  if len(apart):
    lines.append(f"sm_clock_mhz: B/A from {apart.min():.3f} to {apart.max():.3f} in {len(apart)} of "
                 f"{wording.counted(len(clock), 'row')}")
  return lines


def unmatched(compared):
  """Returns lines on rows that were not timed on both sides, those of one side only, and what kept these from matching."""
  lines = []
  untimed = compared[compared["verdict"].isin(("broken", "untimed"))]
  for (a, b), rows in untimed.groupby(["status_a", "status_b"], sort=False):
    lines.append(f"{f'{a} in both' if a == b else f'{a} -> {b}'}: {_named(rows)}")
  without_time = compared[compared["verdict"].isin(comparison.VERDICTS) & compared["ratio"].isna()]
  if len(without_time):
    lines.append(f"ok without a time: {_named(without_time)}")
  for verdict, where in (("missing", "A"), ("extra", "B")):
    rows = compared[compared["verdict"].eq(verdict)]
    if len(rows):
      lines.append(f"only in {where}: {_named(rows)}")
  lines.extend(f"{column} keeps {wording.counted(count, 'row')} from matching: {a or 'nothing'} in A, {b or 'nothing'} in B"
               for column, count, a, b in comparison.nearly_matching(compared))
  return lines


def rows_table(compared, limit):
  """Returns a table of the first `limit` rows with a ratio, worst first, and the number of further ones; all for limit 0."""
  timed = compared[compared["ratio"].notna()]
  shown = timed.head(limit) if limit else timed
  # Only columns without which some rows would look the same.
  telling = [name for name in ("operation", "math", "l2", "host_memory") if _tells_apart(timed, name)]
  columns = [*((name, False) for name in ("implementation", "type", "shape", "block", *telling)),
             ("A ms", True), ("B ms", True), ("B/A", True), ("95 % interval", False), ("verdict", False)]
  cells = [[row["implementation"], row["dtype"], _shape(row), _block(row), *(row[name] for name in telling),
            digits.significant(row["ms_a"]), digits.significant(row["ms_b"]), f"{row['ratio']:.3f}", _interval(row),
            row["verdict"] + (", regression" if row["regression"] else "")] for row in shown.to_dict("records")]
  more = [f"... and {len(timed) - len(shown)} more (--limit=0 shows all)"] if len(shown) < len(timed) else []
  return _aligned(columns, cells) + more


def summary_table(compared):
  columns = [("operation", False), ("implementation", False), ("rows", True), ("geometric mean of B/A", True),
             *((verdict, True) for verdict in comparison.VERDICTS)]
  return _aligned(columns, [[row["operation"], row["implementation"], str(row["rows"]), f"{row['geometric_mean']:.3f}",
                             *(str(row[verdict]) for verdict in comparison.VERDICTS)]
                            for row in comparison.summarize(compared).to_dict("records")])


def chance(compared, rules):
  """Returns lines on how reliable the verdicts are."""
  lines = []
  if compared["ratio_low"].notna().any():
    moved = comparison.expected_by_chance(compared, rules.same)
    rows = f"{moved:.1f}" if moved >= 0.1 else "less than 0.1"
    lines.append(f"If nothing had changed, noise within the runs would make {rows} rows slower and {rows} faster.")
  timed = compared["ratio"].notna()
  if (compared.loc[timed, ["runs_a", "runs_b"]].max(axis=1) == 1).any():
    lines.append("Rows with one run a side have intervals that do not cover changes from run to run: name several runs.")
  without = int((timed & compared["ratio_low"].isna()).sum())
  if without:
    lines.append(f"{wording.counted(without, 'row')} without an interval: slower or faster only if the times differ by more "
                 f"than a factor of {comparison.UNKNOWN_FACTOR:g}.")
  alone = int(((compared["ratio_low"] > 1 + rules.threshold) & ~compared["regression"]).sum())
  if alone:
    lines.append(f"{wording.counted(alone, 'row')} slower by more than {percent(rules.threshold)} by its own interval, but "
                 f"not by one that holds for all rows at once: no regression.")
  return lines


def verdict(compared, rules):
  """Returns the last line: whether there is a regression, and the counts."""
  timed = compared[compared["ratio"].notna()]
  counts = ", ".join(f"{timed['verdict'].eq(name).sum()} {name}" for name in comparison.VERDICTS)
  tally = f"{wording.counted(len(timed), 'row')} compared: {counts}"
  found = compared[compared["regression"]]
  if found.empty:
    return f"no regression beyond {percent(rules.threshold)}; {tally}"
  broken = int(found["verdict"].eq("broken").sum())
  slower = found[found["verdict"].ne("broken")]
  parts = [f"{len(slower)} slower by more than {percent(rules.threshold)} (worst: {_name(slower.iloc[0])}, "
           f"{slower.iloc[0]['ratio']:.3f} times as long)"] if len(slower) else []
  parts += [f"{broken} wrong in B and not in A"] if broken else []
  return f"REGRESSION: {', '.join(parts)}; {tally}"


def percent(fraction):
  return f"{digits.significant(100 * fraction, 3)} %"


def _tells_apart(rows, column):
  others = [name for name in columns.CONFIGURATION if name not in ("operation", "math", "l2", "host_memory")]
  return rows.groupby(others, dropna=False)[column].nunique().max() > 1


def _interval(row):
  return "" if math.isnan(row["ratio_low"]) else f"{row['ratio_low']:.3f} .. {row['ratio_high']:.3f}"


def _sides(row, columns):
  return "x".join(f"{row[column]:.0f}" for column in columns if not math.isnan(row[column]))


def _block(row):
  return _sides(row, ("block_x", "block_y"))


def _shape(row):
  """Returns a shape as the sweeps print it: "4096x4096", "64x64 x 4096" for a batch of 4096, "64x64x64 tn beta=0.5"."""
  text = _sides(row, ("rows", "cols", "depth"))
  text += f" x {row['batch']:.0f}" if row["batch"] != 1 else ""
  text += f" {row['layout']}" if row["layout"] != "nn" else ""
  text += f" alpha={row['alpha']:g}" if row["alpha"] != 1 else ""
  text += f" beta={row['beta']:g}" if row["beta"] != 0 else ""
  return text + (f" workspace={row['workspace']}" if row["workspace"] != "asked" else "")


def _name(row):
  return " ".join(word for word in (row["implementation"], row["dtype"], _shape(row), _block(row)) if word)


def _named(rows):
  names = [_name(row) for row in rows.head(_FIRST_FEW).to_dict("records")]
  return f"{wording.counted(len(rows), 'row')} ({'; '.join(names)}{'; ...' if len(rows) > len(names) else ''})"


def _aligned(columns, rows):
  """Returns the lines of a table: titles, a rule, the rows. `columns`: (title, whether it is right-aligned)."""
  titles = [title for title, _ in columns]
  widths = [max(len(cells[i]) for cells in [titles, *rows]) for i in range(len(columns))]
  lines = [titles, ["-" * width for width in widths], *rows]
  justify = [str.rjust if right else str.ljust for _, right in columns]
  return ["  ".join(place(cell, width) for place, cell, width in zip(justify, cells, widths)).rstrip() for cells in lines]

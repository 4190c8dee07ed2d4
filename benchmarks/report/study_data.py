"""The figures of the studies that the project began with, and our rows of the same configurations."""

import pathlib

import pandas

from benchmarks.report import results

STUDIES_CSV = pathlib.Path(__file__).absolute().parents[2] / "docs" / "results" / "studies.csv"

_WORDS = ("study", "table", "device", "implementation", "dtype", "l1", "compared_with", "remark")
_CONFIGURATION = ("implementation", "dtype", "rows", "cols", "block_x", "block_y", "l1")
# An option of the build (--config=dlcm_cg) turns L1 off. Rows do not state it, but their file is named after it. Rows of any
# other build (results.OTHER_BUILDS) are not compared with a study.
_WITHOUT_L1 = "dlcm_cg"
_ELEMENT_BYTES = 4  # float and int; the studies have no others.


def read_studies(path=STUDIES_CSV):
  """Returns a DataFrame of the studies' figures, in their order: numbers are NaN and words "" where a study has none.

  `table` names the table of a study; the other columns are those of the sweeps. `gbps` and the percentages are as printed.
  """
  frame = pandas.read_csv(path, dtype={name: str for name in _WORDS}, encoding="ascii")
  frame[list(_WORDS)] = frame[list(_WORDS)].fillna("")
  numbers = [name for name in frame.columns if name not in _WORDS]
  frame[numbers] = frame[numbers].astype(float)
  return frame


def bytes_moved(row):
  """Returns the bytes that a transpose or copy moves: each element is read once and written once."""
  return 2 * row["rows"] * row["cols"] * _ELEMENT_BYTES


class OurRows:
  """The rows of one machine that can be compared with a study: cold L2, no batches, plain products."""

  def __init__(self, rows, implementations):
    without_l1 = rows["source"].str.contains(_WITHOUT_L1, regex=False)
    has_time = rows["kernel_ms_median"].gt(0)  # Without a GPU, the host executor counts but has no times.
    is_timed = has_time & ~results.is_profilers(rows)
    usable = (rows["status"].eq("ok") & (has_time | rows["load_transactions"].notna()) & rows["batch"].eq(1)
              & rows["l2"].ne("hot") & rows["layout"].eq("nn") & rows["alpha"].eq(1) & rows["beta"].eq(0)
              & rows["workspace"].eq("asked")
              & rows["implementation"].isin(list(implementations)) & (without_l1 | ~rows["is_other_build"]))
    rows = rows[usable].assign(l1=without_l1[usable].map({True: "off", False: "on"}), is_timed=is_timed[usable])
    self.rows = rows.sort_values("timestamp_utc", kind="stable")
    self._indices = {}
    for index, key in enumerate(zip(*(self.rows[name].fillna(-1) for name in _CONFIGURATION))):
      self._indices.setdefault(key, []).append(index)

  def timed(self, wanted):
    """Returns the latest timed row of the configuration of `wanted`, a row of read_studies(); None where there is none."""
    return self._latest(wanted, "is_timed")

  def counted(self, wanted):
    """Returns the latest row of that configuration with counters of memory behaviour; None where there is none."""
    return self._latest(wanted, "load_transactions")

  def products(self, implementation, column="is_timed"):
    """Returns the implementation's square products of floats by size `n`: of each size the latest row with a value in
    `column`."""
    rows = self.rows
    rows = rows[rows["implementation"].eq(implementation) & rows["operation"].eq("matmul") & rows["dtype"].eq("float")
                & rows["l1"].eq("on") & rows["rows"].eq(rows["cols"]) & rows["rows"].eq(rows["depth"])
                & rows[column].fillna(0).ne(0)]
    return rows.assign(n=rows["rows"]).drop_duplicates("n", keep="last").sort_values("n", kind="stable")

  def _latest(self, wanted, column):
    key = tuple(-1 if pandas.isna(wanted[name]) else wanted[name] for name in _CONFIGURATION)
    for index in reversed(self._indices.get(key, [])):
      row = self.rows.iloc[index]
      if row[column] and not pandas.isna(row[column]):
        return row
    return None


def by_machine(rows, implementations):
  """Returns {machine: OurRows} in alphabetical order, of the machines that have any."""
  found = {machine: OurRows(of_machine, implementations) for machine, of_machine in rows.groupby("machine", sort=True)}
  return {machine: ours for machine, ours in found.items() if len(ours.rows)}


def where_and_when(rows):
  """Returns the subtitle of a chart of these rows, a DataFrame: machines, days, commits, L2 mode."""
  machines, commits = (_distinct(rows[name]) for name in ("machine", "git_commit"))
  days = sorted(_distinct(rows["timestamp_utc"].str[:10]))
  parts = [", ".join(machines)]
  if days:
    parts.append(days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}")
  if commits:
    parts.append(f"commit {commits[0]}" if len(commits) == 1 else f"{len(commits)} commits ({commits[0]} to {commits[-1]})")
  if rows["l2"].ne("").any():
    parts.append("cold L2")
  return ", ".join(part for part in parts if part)


def _distinct(words):
  return [word for word in words.unique() if word]

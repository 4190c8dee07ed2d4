"""Memory behaviour of the studies' kernels: their profiler's counters above ours."""

import dataclasses
import math

import pandas

from benchmarks.report import digits
from benchmarks.report.study_pairs import block_text

COUNTERS = ("load_efficiency", "store_efficiency", "load_transactions", "store_transactions",
            "shared_load_wavefronts_per_request", "shared_store_wavefronts_per_request", "shared_efficiency",
            "achieved_occupancy", "branch_efficiency")
# Throughput of L1 in GB/s, from the sectors of 32 bytes that loads and stores request.
THROUGHPUTS = {"load_gbps": "load_transactions", "store_gbps": "store_transactions"}
SECTOR_BYTES = 32

COMMANDS = {
    "000": "bazel run //benchmarks:profile -- --kernels='naive_*,unroll4_*,tile_unroll2_padded_dynamic' --sizes=8192",
    "002": "bazel run //benchmarks:profile -- --kernels='copy_row,copy_col,naive_*' --sizes=2048",
}


@dataclasses.dataclass(frozen=True)
class Memory:
  slug: str
  columns: list
  rows: list
  note: str
  sentences: list
  has_ours: bool


def make_memory(study, rows, machines):
  """Returns the Memory of a study's `rows`; None where it has no counters."""
  named = [name for name in (*COUNTERS, *THROUGHPUTS) if rows[name].notna().any()]
  rows = rows[rows[named].notna().any(axis=1)] if named else rows.iloc[:0]
  if rows.empty:
    return None
  cells, compared, missing = [], [], 0
  for _, theirs in rows.iterrows():
    kernel = [theirs["implementation"], block_text(theirs)]
    cells.append([*kernel, f"theirs ({theirs['device']})", *(theirs[name] for name in named)])
    found = {machine: ours.counted(theirs) for machine, ours in machines.items()}
    found = {machine: row for machine, row in found.items() if row is not None}
    missing += not found
    for machine, row in found.items():
      where = machine if row["device"] else "the host executor"
      cells.append([*kernel, f"ours ({where})", *(_ours(row, name) for name in named)])
      compared += [(where, " ".join(kernel), name, theirs[name], row[name]) for name in named if name in COUNTERS]
  note = ["Theirs are counters of nvprof or Nsight Compute under the names of our columns. A cell is empty where there is "
          "nothing to count, or no time."]
  if missing:
    note.append(f"For {missing} of these {len(rows)} kernels the files have no counters of ours; "
                f"`{COMMANDS[study]}` counts them.")
  return Memory(f"study-{study}-memory", ["implementation", "block", "whose", *named], cells, " ".join(note),
                _sentences(compared), missing < len(rows))


def _ours(row, name):
  if name in THROUGHPUTS:
    return row[THROUGHPUTS[name]] * SECTOR_BYTES / row["kernel_ms_median"] / 1e6
  return row[name]


def _sentences(compared):
  """Returns a sentence for each machine. compared: (machine, kernel, counter, theirs, ours)."""
  sentences = []
  for machine in dict.fromkeys(entry[0] for entry in compared):
    both = [entry for entry in compared if entry[0] == machine and not pandas.isna(entry[3]) and not pandas.isna(entry[4])]
    if not both:
      continue
    alike = [entry for entry in both if math.isclose(entry[3], entry[4], rel_tol=0.01)]
    text = (f"Of {len(both)} counters that their profiler and ours both have, {len(alike)} are the same within 1 % on "
            f"{machine}")
    if len(alike) < len(both):
      _, kernel, name, theirs, ours = max(both, key=_distance)
      text += f"; furthest apart is {name} of {kernel}: {digits.significant(theirs)} theirs, {digits.significant(ours)} ours"
    sentences.append(text + ".")
  return sentences


def _distance(entry):
  theirs, ours = entry[3:]
  return math.inf if min(theirs, ours) <= 0 < max(theirs, ours) else abs(math.log(ours / theirs)) if theirs != ours else 0

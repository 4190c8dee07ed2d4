"""What a group's rows say, in sentences with figures. Each function below has one finding: a list of sentences, empty where
the rows do not tell.

"Bounds" is said where at least half of a limit is reached: of FP32 arithmetic, of the memory's bandwidth, or of the shortest
time that a kernel can take, which is that of one that does nothing (`empty_kernel_ms`).
"""

import math

from benchmarks.report import crossovers
from benchmarks.report import peaks
from benchmarks.report import roles
from benchmarks.report import wording
from benchmarks.report.charts import ladder
from benchmarks.report.charts import phases

_BOUNDS = 0.5
_STEP = 1.005
_FEWEST_SAMPLES = 6


def sentences(group):
  """At most twelve, the most asked for first."""
  rows = roles.by_size(group)
  who = roles.find_roles(rows)
  return [*_winners(rows, who), *_over_cpu(rows, who), *_over_vendor(group, rows, who), *_ladder(group),
          *_what_bounds(group, rows), *_launches(rows), *_share_of_copy(group, who), *_phases(rows, who),
          *_accuracy(group, rows), *_noise(group), *_throttling(group)]


def _winners(rows, who):
  if who.cpu is None:
    return []
  found = []
  for name in (who.own, who.vendor):
    clauses = [f"{words}, {verdict}" for words, measure in (("by kernel time", "kernel"), ("with copies", "total"))
               if name is not None and (verdict := _winner(rows, name, who.cpu, measure))]
    if clauses:
      words = "; ".join(clauses) + "."
      found.append(words[0].upper() + words[1:])
  return found


def _winner(rows, one, other, measure):
  """Which of the two wins, and where; "" where too few sizes have both."""
  forward, backward = (crossovers.find_crossing(rows, *pair, measure) for pair in ((one, other), (other, one)))
  if forward is None:
    return ""
  for crossing in (forward, backward):
    if crossing.always():
      return (f"{crossing.winner} is faster than {crossing.loser} at all {len(crossing.sizes)} sizes measured, "
              f"{crossing.sizes[0]:.0f} to {crossing.sizes[-1]:.0f}")
    if crossing.start is not None:
      return (f"{crossing.winner} is faster than {crossing.loser} from n = {crossing.start:.0f} on "
              f"(not yet surely at {crossing.before:.0f}, the size measured below it)")
  return f"neither {one} nor {other} is surely faster at the largest sizes measured, up to {forward.sizes[-1]:.0f}"


def _over_cpu(rows, who):
  name = who.own or who.vendor
  one, other = (rows[rows["name"] == side].set_index("n") for side in (name, who.cpu))
  common = one.index.intersection(other.index)
  if common.empty:
    return []
  one, other = one.loc[common.max()], other.loc[common.max()]
  ms, other_ms = one["kernel_ms_median"], other["kernel_ms_median"]
  words = (f"At n = {common.max():.0f}, the largest size of both, {name} needs {wording.milliseconds(ms)} and {who.cpu} "
           f"{wording.milliseconds(other_ms)}: {wording.number(other_ms / ms)} times as fast")
  with_copies = other["total_ms"] / one["total_ms"]
  if not math.isnan(with_copies):
    words += f", with copies {wording.number(with_copies)} times as fast"
  return [words + "."]


def _over_vendor(group, rows, who):
  if who.own is None:
    return []
  own, vendor = (rows[rows["name"] == name].set_index("n").sort_index() for name in (who.own, who.vendor))
  ratio = vendor["kernel_ms_median"].reindex(own.index) / own["kernel_ms_median"]
  vendor_name = who.vendor or "cublas"
  if group.operation == "matmul":
    ratio = own["vs_cublas"].fillna(ratio)  # Sampled in turn, where the sweep did so.
  ratio = ratio.dropna()
  if ratio.empty:
    return []
  words = f"At n = {ratio.index[-1]:.0f} {who.own} has {_ratio(ratio.iloc[-1])} times the speed of {vendor_name}"
  if len(ratio) > 1:
    words += (f"; at {len(ratio)} sizes between {_ratio(ratio.min())} (n = {ratio.idxmin():.0f}) and {_ratio(ratio.max())} "
              f"(n = {ratio.idxmax():.0f}), {_ratio(ratio.median())} in the median")
  return [words + "."]


def _ladder(group):
  steps = ladder.steps(group)
  if steps.empty:
    return []
  ladder_name = f"the ladder of {steps['source'].iloc[0]} at n = {steps['n'].iloc[0]:.0f}"
  up = steps[steps["gain"] >= _STEP]
  if up.empty:
    return [f"In {ladder_name} no kernel is more than 0.5 % faster than the first, {steps['name'].iloc[0]}."]
  total = steps["rate"].max() / steps["rate"].iloc[0]
  gains = wording.listed(f"{name} {gain:.2f}" for name, gain in zip(up["name"], up["gain"]))
  found = [f"In {ladder_name} the fastest kernel, {steps['name'][steps['rate'].idxmax()]}, has {wording.number(total)} "
           f"times the rate of the first, {steps['name'].iloc[0]}. Steps up, over the fastest before: {gains}."]
  behind = int((steps["gain"] < _STEP).sum())
  if behind:
    found.append(f"{behind} of its {len(steps)} kernels {'is' if behind == 1 else 'are'} slower than the fastest before, or "
                 "less than 0.5 % faster.")
  return found


def _what_bounds(group, rows):
  gpu = roles.computing(rows)
  gpu = gpu[~gpu["is_cpu"] & gpu["rate"].notna()]
  if gpu.empty:
    return []
  best = gpu.loc[gpu["rate"][gpu["n"] == gpu["n"].max()].idxmax()]
  shares = {"its launch": best["empty_kernel_ms"] / best["kernel_ms_median"]}
  if group.operation == "matmul" and group.dtype == "float":
    shares["arithmetic"] = best["gflops"] / peaks.fp32_gflops(group.machine_rows)
  if group.l2 != "hot":  # What is in the L2 is not read from memory.
    shares["memory"] = best["gbps"] / peaks.memory_gbps(group.machine_rows)
  known = {what: share for what, share in shares.items() if not math.isnan(share)}
  peak_names = {"arithmetic": "the FP32 peak", "memory": "the DRAM peak"}
  words = [f"{_percent(known[what])} of {name}" for what, name in peak_names.items() if what in known]
  known_from = "" if best["n"] == rows["n"].max() else " with a rate"
  start = (f"At n = {best['n']:.0f}, the largest square{known_from}, {best['name']} is the fastest with "
           f"{wording.number(best['rate'])} {roles.rate_unit(group)}")
  if not words:
    return [start + "."]
  bound = max(known, key=known.get)
  if known[bound] >= _BOUNDS:
    verdict = f"{bound} bounds it"
  elif group.operation == "matmul" and "arithmetic" not in known:
    verdict = f"memory does not bound it, and no row states the peak of {group.dtype} arithmetic"
  else:
    verdict = "it is below half of these limits, so something else bounds it"
  return [f"{start}, {wording.listed(words)}: {verdict}."]


def _launches(rows):
  gpu = roles.computing(rows)
  gpu = gpu[~gpu["is_cpu"] & (gpu["empty_kernel_ms"] > 0)].sort_values(["n", "kernel_ms_median"], kind="stable")
  fastest = gpu.drop_duplicates("n")
  short = fastest[(fastest["empty_kernel_ms"] >= _BOUNDS * fastest["kernel_ms_median"]).cummin()]
  if short.empty:
    return []
  last = short.iloc[-1]
  return [f"Up to n = {last['n']:.0f} a kernel that does nothing, {wording.milliseconds(last['empty_kernel_ms'])}, takes at "
          "least half the time of the fastest: the launch bounds it."]


def _share_of_copy(group, who):
  rows = roles.fastest_blocks(roles.all_rows(group))
  rows = rows[(rows["name"] == who.own) & rows["pct_of_copy"].notna()]
  if group.operation == "matmul" or rows.empty:
    return []
  share, shapes = rows["pct_of_copy"] / 100, wording.shapes(rows)
  if len(rows) == 1:
    return [f"At {shapes.iloc[0]} {who.own} has {_percent(share.iloc[0])} of the speed of a copy of the same bytes."]
  return [f"Over {len(rows)} shapes {who.own} has {_percent(share.median())} of the speed of a copy of the same bytes in "
          f"the median, {_percent(share.min())} at {shapes[share.idxmin()]} and {_percent(share.max())} at "
          f"{shapes[share.idxmax()]}."]


def _phases(rows, who):
  of_call = [column for _, column in phases.CALL]
  name = who.own or who.vendor
  rows = rows[(rows["name"] == name) & rows[of_call].notna().all(axis=1)]
  if rows.empty:
    return []
  last = rows.iloc[-1]
  whole = last[of_call].sum()
  copies, kernel = (last["h2d_ms"] + last["d2h_ms"]) / whole, last["kernel_ms_median"] / whole
  return [f"Of a whole call of {name} at n = {last['n']:.0f}, {wording.milliseconds(whole)}, copies between host and device "
          f"are {_percent(copies)} and the kernel is {_percent(kernel)}."]


def _accuracy(group, rows):
  rows = rows[rows["relative_error"] > 0]
  rows = rows[rows["n"] == roles.largest_common_size(rows)]
  if group.operation != "matmul" or rows["name"].nunique() < 2:
    return []
  least, most = rows.loc[rows["relative_error"].idxmin()], rows.loc[rows["relative_error"].idxmax()]
  low, high = f"{least['relative_error']:.2g}", f"{most['relative_error']:.2g}"
  words = f"At n = {least['n']:.0f} the relative error is "
  if low == high:
    words += f"{low} with all {rows['name'].nunique()} implementations"
  else:
    words += f"between {low} ({least['name']}) and {high} ({most['name']})"
  worst = group.rows["max_error_over_bound"].max()
  if worst <= 1:
    words += f"; over all rows no element's error is above {wording.number(worst)} of its bound"
  elif worst > 1:
    words += f"; an element's error is up to {wording.number(worst)} times its bound"
  return [words + "."]


def _noise(group):
  rows = roles.all_rows(group)
  rows = rows[rows["samples"] >= _FEWEST_SAMPLES]
  spread = (rows["kernel_ms_p95"] - rows["kernel_ms_min"]) / rows["kernel_ms_median"]
  parts = []
  for device, is_its in (("GPU", ~rows["is_cpu"]), ("CPU", rows["is_cpu"])):
    of_device = spread[is_its].dropna()
    if len(of_device):
      parts.append(f"{_percent(of_device.median())} on the {device} ({wording.counted(len(of_device), 'row')})")
  if not parts:
    return []
  return [f"A row's samples spread by {wording.listed(parts)} in the median: 95th percentile less minimum, over the median."]


def _throttling(group):
  rows = roles.all_rows(group)
  gpu = rows[~rows["is_cpu"]]
  held = gpu[~gpu["throttle_reason"].isin(("", "none"))]
  if held.empty:
    return []
  longest = held.loc[held["kernel_ms_median"].idxmax()]
  clock = "" if math.isnan(longest["sm_clock_mhz"]) else f", with {longest['sm_clock_mhz']:.0f} MHz"
  return [f"The GPU held its clock back during {wording.counted(len(held), 'row')} of {len(gpu)} "
          f"({', '.join(sorted(held['throttle_reason'].unique()))}); the longest of them is {longest['name']} at "
          f"{wording.shapes(held)[longest.name]}{clock}."]


def _ratio(value):
  return wording.number(value, 4)


def _percent(share):
  return f"{wording.number(share * 100)} %"

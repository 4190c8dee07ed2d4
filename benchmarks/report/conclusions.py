"""The findings of a group of rows, in sentences with figures. Each function below makes the sentences of one finding, none
where the rows do not tell.

A limit "bounds" a kernel that reaches at least half of it: FP32 arithmetic, the memory's bandwidth, or the shortest time that
a kernel can take, which is that of an empty kernel (`empty_kernel_ms`).
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
  """Returns at most twelve sentences, those that are asked for most first."""
  rows = roles.by_size(group)
  who = roles.find_roles(rows)
  return [*_winners(rows, who), *_over_cpu(rows, who), *_over_vendor(group, rows, who), *_ladder(group),
          *_what_bounds(group, rows), *_launches(rows), *_share_of_copy(group, who), *_phases(rows, who),
          *_accuracy(group, rows), *_noise(group), *_throttling(group)]


def _winners(rows, who):
  rows, cpu = crossovers.with_best_cpu(rows)
  if cpu is None:
    return []
  found = []
  for name in (who.own, who.vendor):
    clauses = [f"{words}, {verdict}" for words, measure in (("by kernel time", "kernel"), ("with copies", "total"))
               if name is not None and (verdict := _winner(rows, name, cpu, measure))]
    if clauses:
      words = "; ".join(clauses) + "."
      found.append(words[0].upper() + words[1:])
  return found


def _winner(rows, one, other, measure):
  """Returns which of the two wins, and where; "" where too few sizes have both."""
  forward, backward = (crossovers.find_crossing(rows, *pair, measure) for pair in ((one, other), (other, one)))
  if forward is None:
    return ""
  for crossing in (forward, backward):
    if crossing.always():
      return (f"{crossing.winner} is faster than {crossing.loser} at all {len(crossing.sizes)} sizes measured, "
              f"{crossing.sizes[0]:.0f} to {crossing.sizes[-1]:.0f}")
    if crossing.start is not None:
      return (f"{crossing.winner} is faster than {crossing.loser} from n = {crossing.start:.0f} on "
              f"(not significantly at {crossing.before:.0f}, the size measured below it)")
  return f"neither {one} nor {other} is significantly faster at the largest sizes measured, up to {forward.sizes[-1]:.0f}"


def _over_cpu(rows, who):
  name = who.own or who.vendor
  one, other = rows[rows["name"] == name].set_index("n"), crossovers.best_cpu(rows).set_index("n")
  common = one.index.intersection(other.index)
  if common.empty:
    return []
  one, other = one.loc[common.max()], other.loc[common.max()]
  ms, other_ms = one["kernel_ms_median"], other["kernel_ms_median"]
  words = (f"At n = {common.max():.0f}, the largest size of both, {name} takes {wording.milliseconds(ms)} and {other['name']} "
           f"{wording.milliseconds(other_ms)}: {name} is {wording.number(other_ms / ms)} times as fast")
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
  ratio = own["vs_cublas"].fillna(ratio)  # Sampled alternately, where the sweep did so.
  ratio = ratio.dropna()
  if ratio.empty:
    return []
  words = f"At n = {ratio.index[-1]:.0f} {who.own} has {_ratio(ratio.iloc[-1])} times the speed of {vendor_name}"
  if len(ratio) > 1:
    words += (f"; over {len(ratio)} sizes it has between {_ratio(ratio.min())} (n = {ratio.idxmin():.0f}) and "
              f"{_ratio(ratio.max())} (n = {ratio.idxmax():.0f}), with a median of {_ratio(ratio.median())}")
  return [words + "."]


def _ladder(group):
  steps = ladder.steps(group)
  if steps.empty:
    return []
  ladder_name = f"the ladder of {steps['source'].iloc[0]} at n = {steps['n'].iloc[0]:.0f}"
  up = steps[steps["gain"] >= _STEP]
  if up.empty:
    return [f"In {ladder_name} no step is more than 0.5 % faster than the first, {steps['implementation'].iloc[0]}."]
  total = steps["rate"].max() / steps["rate"].iloc[0]
  gains = wording.listed(f"{name} {gain:.2f}x" for name, gain in zip(up["implementation"], up["gain"]))
  found = [f"In {ladder_name} the fastest step, {steps['implementation'][steps['rate'].idxmax()]}, has "
           f"{wording.number(total)} times the rate of the first, {steps['implementation'].iloc[0]}. Gains over the fastest "
           f"step before: {gains}."]
  behind = int((steps["gain"] < _STEP).sum())
  if behind:
    found.append(f"{behind} of its {len(steps)} steps {'is' if behind == 1 else 'are'} slower than the fastest step before, "
                 "or less than 0.5 % faster.")
  return found


def _what_bounds(group, rows):
  gpu = roles.computing(rows)
  gpu = gpu[~gpu["is_cpu"] & gpu["rate"].notna()]
  if gpu.empty:
    return []
  best = gpu.loc[gpu["rate"][gpu["n"] == gpu["n"].max()].idxmax()]
  shares = {"its launch": best["empty_kernel_ms"] / best["kernel_ms_median"]}
  if group.operation.is_arithmetic and group.dtype == "float":
    shares["arithmetic"] = best["gflops"] / peaks.fp32_gflops(group.machine_rows)
  if group.l2 != "hot":  # Data in the L2 are not read from memory.
    shares["memory"] = best["gbps"] / peaks.memory_gbps(group.machine_rows)
  known = {what: share for what, share in shares.items() if not math.isnan(share)}
  peak_names = {"arithmetic": "the FP32 peak", "memory": "the DRAM peak"}
  words = [f"{_percent(known[what])} of {name}" for what, name in peak_names.items() if what in known]
  known_from = "" if best["n"] == rows["n"].max() else " with a rate"
  start = (f"At n = {best['n']:.0f}, {group.operation.largest}{known_from}, {best['name']} is the fastest with "
           f"{wording.number(best['rate'])} {group.operation.rate_unit}")
  if not words:
    return [start + "."]
  bound = max(known, key=known.get)
  if known[bound] >= _BOUNDS:
    verdict = f"{bound} bounds it"
  elif group.operation.is_arithmetic and "arithmetic" not in known:
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
  return [f"Up to n = {last['n']:.0f} an empty kernel, {wording.milliseconds(last['empty_kernel_ms'])}, takes at least half the "
          "time of the fastest kernel: the launch bounds it."]


def _share_of_copy(group, who):
  rows = roles.fastest_blocks(roles.all_rows(group))
  rows = rows[(rows["name"] == who.own) & rows["pct_of_copy"].notna()]
  if rows.empty:
    return []
  share, shapes = rows["pct_of_copy"] / 100, wording.shapes(rows)
  if len(rows) == 1:
    return [f"At {shapes.iloc[0]} {who.own} has {_percent(share.iloc[0])} of the speed of a copy of the same bytes."]
  return [f"Over {len(rows)} shapes {who.own} has a median of {_percent(share.median())} of the speed of a copy of the same "
          f"bytes, {_percent(share.min())} at {shapes[share.idxmin()]} and {_percent(share.max())} at "
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
  return [f"A whole call of {name} at n = {last['n']:.0f} takes {wording.milliseconds(whole)}: copies between host and device "
          f"are {_percent(copies)} of it and the kernel is {_percent(kernel)}."]


def _accuracy(group, rows):
  rows = rows[rows["relative_error"] > 0]
  rows = rows[rows["n"] == roles.largest_common_size(rows)]
  if rows["name"].nunique() < 2:
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
    words += f"; in all rows the error of each element is at most {wording.number(worst)} of its bound"
  elif worst > 1:
    words += f"; the error of an element is up to {wording.number(worst)} times its bound"
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
  return [f"The samples of a row spread by a median of {wording.listed(parts)}: 95th percentile minus minimum, over the median."]


def _throttling(group):
  rows = roles.all_rows(group)
  gpu = rows[~rows["is_cpu"]]
  held = gpu[~gpu["throttle_reason"].isin(("", "none"))]
  if held.empty:
    return []
  longest = held.loc[held["kernel_ms_median"].idxmax()]
  clock = "" if math.isnan(longest["sm_clock_mhz"]) else f", with {longest['sm_clock_mhz']:.0f} MHz"
  return [f"The GPU throttled its clock during {wording.counted(len(held), 'row')} of {len(gpu)} "
          f"({', '.join(sorted(held['throttle_reason'].unique()))}); the longest of them is {longest['name']} at "
          f"{wording.shapes(held)[longest.name]}{clock}."]


def _ratio(value):
  return wording.number(value, 4)


def _percent(share):
  return f"{wording.number(share * 100)} %"

"""Sentences on how a study's table and ours agree and differ, which hold for any rows."""

import itertools
import math
import statistics

from benchmarks.report.digits import significant


def sentences(table, pairs):
  found = _impossible(table, pairs)
  for machine in dict.fromkeys(pair.machine for pair in pairs if pair.ours is not None):
    ours = [pair for pair in pairs if pair.machine == machine]
    both = [pair for pair in ours if not math.isnan(pair.their_speed) and pair.ours["device"]]  # Rows of the GPU.
    if both:
      found += [_ratio(table, machine, both), *_order(both), *_fastest(both), *_furthest(table, both)]
    else:
      found += _ours_alone(table, machine, ours)
  return found


def _ratio(table, machine, pairs):
  ratios = [pair.our_speed / pair.their_speed for pair in pairs]
  device = pairs[0].theirs["device"]
  if len(pairs) == 1:
    ratio = significant(ratios[0], 3)
    return f"{_title(table)}: with {pairs[0].name()} {machine} is {ratio} times as fast as their {device}."
  low, median, high = (significant(ratio, 3) for ratio in (min(ratios), statistics.median(ratios), max(ratios)))
  return (f"{_title(table)}: {machine} is {low} to {high} times as fast as their {device} in {len(pairs)} configurations, "
          f"{median} in the median.")


def _order(pairs):
  """Returns a sentence on the number of pairs of rows that have the same order on both sides."""
  compared = [(a.their_speed - b.their_speed) * (a.our_speed - b.our_speed) for a, b in itertools.combinations(pairs, 2)]
  decided = [product for product in compared if product != 0]
  if len(decided) < 2:
    return []
  same = sum(product > 0 for product in decided)
  return [f"Of {len(decided)} pairs of these configurations {same} are in the same order on both sides."]


def _fastest(pairs):
  theirs, ours = (max(pairs, key=speed) for speed in (lambda pair: pair.their_speed, lambda pair: pair.our_speed))
  if len(pairs) < 2:
    return []
  if theirs is ours:
    return [f"The fastest on both sides is {ours.name()}."]
  share = significant(100 * theirs.our_speed / ours.our_speed, 3)
  return [f"Their fastest is {theirs.name()}, ours is {ours.name()}; on our side, theirs has {share} % of the speed of ours."]


def _furthest(table, pairs):
  """Returns a sentence on the kernel whose shares of the yardstick differ most."""
  pairs = [pair for pair in pairs if pair.their_share > 0 and pair.our_share > 0]
  if len(pairs) < 2:
    return []
  pair = max(pairs, key=lambda pair: abs(math.log(pair.our_share / pair.their_share)))
  theirs, ours = significant(pair.their_share, 3), significant(pair.our_share, 3)
  return [f"Relative to {table.yardstick_text()} on the same side they differ most in {pair.name()}: {theirs} % of it in theirs, "
          f"{ours} % in ours."]


def _ours_alone(table, machine, pairs):
  pairs = [pair for pair in pairs if pair.theirs["implementation"] != table.yardstick] or pairs
  best = max(pairs, key=lambda pair: pair.our_speed)
  text = f"{_title(table)}, {machine}: the fastest is {best.name()} with {significant(best.our_speed)} GB/s"
  if not math.isnan(best.our_share) and best.theirs["implementation"] != table.yardstick:
    text += f", {significant(best.our_share, 3)} % of {table.yardstick_text()}"
  return [text + "."]


def _impossible(table, pairs):
  """Returns a sentence on speeds that no kernel can have that moves all elements through memory."""
  above = {pair.name(): pair.theirs["pct_of_peak"] for pair in pairs if pair.theirs["pct_of_peak"] > 100}
  if not above:
    return []
  named = ", ".join(f"{name} {significant(percent)} %" for name, percent in above.items())
  return [f"{_title(table)}: some of theirs exceed the bandwidth of their board's memory ({named}), so not all elements can have "
          "been moved."]


def _title(table):
  return table.title[0].upper() + table.title[1:]

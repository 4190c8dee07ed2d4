"""Compares two sets of measurements by configuration: the ratio B/A of times, its confidence interval, and a verdict.

The interval of a ratio r = b/a of two medians with 95 % intervals [a_low, a_high] and [b_low, b_high] is, in logarithms,

  log r_low  = log r - sqrt(log(b/b_low)^2  + log(a_high/a)^2)
  log r_high = log r + sqrt(log(b_high/b)^2 + log(a/a_low)^2)

(MOVER: Zou and Donner, Statistics in Medicine 27, 2008). It assumes that the two medians are independent and that the errors
of their logarithms are about normal to either side, but not that both sides are equally wide. Exchanging A and B gives the
inverse. Of rows that did not change, the interval is entirely above 1 for at most one in 40, and entirely below for at most
one in 40, provided that it covers everything that moves a median. The interval of one run does not cover the clock, the
neighbours and the addresses of the next run; that of several runs a side does (one_side).

Verdicts, with a band of 1/(1 + same) to 1 + same in which a difference does not matter:
  slower, faster  the whole interval is above, or below, the band
  same            the whole interval is within the band
  unclear         anything else: the noise hides the difference
A row without an interval (fewer than six samples, or a metric that has none) is assumed to be known to a factor of
UNKNOWN_FACTOR: a larger ratio is slower or faster, any other is unclear. A row without a time is unclear.

A regression is a row that is slower by more than `threshold` even with an interval widened to hold for all rows at once
(Bonferroni: with n intervals, each is at 1 - 0.05/n), since of 1000 unchanged rows 25 would exceed their own interval by
chance; or a row that is `mismatch` or `error` in B and not in A.
"""

import dataclasses
import math
import statistics

import numpy
import pandas

from benchmarks.report import columns, group

# As in common/measure/statistics.h: the interval of a median needs six samples; with fewer, the cells hold minimum and
# maximum.
FEWEST_SAMPLES = 6
UNKNOWN_FACTOR = 2.0
WRONG = ("mismatch", "error")
VERDICTS = ("slower", "unclear", "same", "faster")

# The columns of the median, and of the ends of its interval where the rows have one.
METRICS = {
    "kernel_ms": ("kernel_ms_median", "kernel_ms_ci_low", "kernel_ms_ci_high"),
    "total_ms": ("total_ms", None, None),
}
# What a row states besides its configuration and time.
CIRCUMSTANCES = ("machine", "host", "cpu", "driver", "cuda", "git_commit", "throttle_reason", "sm_clock_mhz")

_KEYS = list(columns.CONFIGURATION)
_NORMAL = statistics.NormalDist()
_Z = _NORMAL.inv_cdf(0.975)


@dataclasses.dataclass(frozen=True)
class Rules:
  metric: str = "kernel_ms"
  same: float = 0.02  # Twice the noise that the sweeps sample down to by default, as both medians have it.
  threshold: float = 0.05


@numpy.errstate(over="ignore")  # For an end of 1e300 ms.
def compare(a, b, rules=Rules()):
  """Compares Results.rows `a` and `b`.

  Returns a row for each configuration of either side with these columns: those of the configuration; `status_a`, `status_b`
  ("" where a side lacks it), `ms_*`, `low_*`, `high_*`, `runs_*`, `samples_*` and CIRCUMSTANCES of both sides; `ratio`,
  `ratio_low`, `ratio_high`, NaN where unknown; `verdict`: one of VERDICTS where both are ok, "broken" where B is WRONG and A
  is not, "untimed" for other pairs, "missing" for A only, "extra" for B only; `regression`. The worst is first: broken rows,
  then by the low end of the interval.
  """
  sides = one_side(a, rules.metric), one_side(b, rules.metric)
  both = sides[0].merge(sides[1], on=_KEYS, how="outer", suffixes=("_a", "_b"), indicator="found")
  both[["status_a", "status_b"]] = both[["status_a", "status_b"]].fillna("")
  paired = both["found"].eq("both")
  ok = paired & both["status_a"].eq("ok") & both["status_b"].eq("ok")
  ratio = (both["ms_b"] / both["ms_a"]).where(ok)
  down = numpy.hypot(numpy.log(both["ms_b"] / both["low_b"]), numpy.log(both["high_a"] / both["ms_a"])).where(ok)
  up = numpy.hypot(numpy.log(both["high_b"] / both["ms_b"]), numpy.log(both["ms_a"] / both["low_a"])).where(ok)
  surely_above = (ratio / numpy.exp(down)).fillna(ratio / UNKNOWN_FACTOR)
  surely_below = (ratio * numpy.exp(up)).fillna(ratio * UNKNOWN_FACTOR)
  above_with_all = (ratio / numpy.exp(down * _widening(down.notna().sum()))).fillna(ratio / UNKNOWN_FACTOR)
  broken = paired & both["status_b"].isin(WRONG) & ~both["status_a"].isin(WRONG)
  band = 1 + rules.same
  verdict = numpy.select(
      [both["found"].eq("left_only"), both["found"].eq("right_only"), broken, ~ok, surely_above > band,
       surely_below < 1 / band, (surely_above >= 1 / band) & (surely_below <= band)],
      ["missing", "extra", "broken", "untimed", "slower", "faster", "same"], "unclear")
  return both.drop(columns="found").assign(
      ratio=ratio, ratio_low=ratio / numpy.exp(down), ratio_high=ratio * numpy.exp(up), verdict=verdict,
      regression=broken | (above_with_all > 1 + rules.threshold), _worst=surely_above.where(~broken, math.inf),
  ).sort_values("_worst", ascending=False, kind="stable", ignore_index=True).drop(columns="_worst")


def one_side(rows, metric):
  """Returns a row of Results.rows for each configuration: its columns, `status`, `ms`, `low`, `high`, `runs`, `samples` and
  CIRCUMSTANCES; NaN where there is no time or no interval.

  Of several runs of a configuration those count that have the machine and the commit of the latest one. Their time is the
  median of the runs' times, and its interval spans all of their intervals, so that it covers the differences from run to
  run. Six runs without intervals get their minimum and maximum. If one run is WRONG, the configuration is.
  """
  median, low, high = METRICS[metric]
  needed = dict.fromkeys([*_KEYS, *CIRCUMSTANCES, "timestamp_utc", "status", "samples", median, low, high])
  rows = rows[[column for column in needed if column is not None]]
  of_a_run = [*_KEYS, "machine", "git_commit"]
  runs = rows.merge(group.latest(rows)[of_a_run], on=of_a_run)
  severity = runs["status"].map({**dict.fromkeys(WRONG, 2), "ok": 1}).fillna(0)
  told = runs.assign(_severity=severity).sort_values(["_severity", "timestamp_utc"], kind="stable")
  told = told.drop_duplicates(_KEYS, keep="last")[[*_KEYS, "status", *CIRCUMSTANCES]]

  ms = runs[median].where(runs["status"].eq("ok") & runs[median].gt(0) & numpy.isfinite(runs[median]))
  if low is None:
    known = pandas.Series(False, index=runs.index)
    ends = (ms, ms)
  else:
    known = (runs["samples"] >= FEWEST_SAMPLES) & (runs[low] > 0) & (runs[low] <= ms) & (ms <= runs[high]) & (
        runs[high] < math.inf)
    ends = (runs[low].where(known, ms), runs[high].where(known, ms))
  times = runs[_KEYS].assign(ms=ms, low=ends[0], high=ends[1], known=known, timed=ms, runs=1,
                             samples=runs["samples"].where(ms.notna()))
  times = times.groupby(_KEYS, dropna=False, as_index=False, sort=False).agg(
      {"ms": "median", "low": "min", "high": "max", "known": "any", "timed": "count", "runs": "sum", "samples": "sum"})
  known = times["known"] | (times["timed"] >= FEWEST_SAMPLES)
  times["low"], times["high"] = times["low"].where(known), times["high"].where(known)
  return told.merge(times.drop(columns=["known", "timed"]), on=_KEYS)


def summarize(compared):
  """Returns a row for each operation and implementation with a ratio: `rows`, the `geometric_mean` of the ratios, and the
  count of each of VERDICTS; the slowest is first."""
  timed = compared[compared["ratio"].notna()]
  counts = pandas.DataFrame({verdict: timed["verdict"].eq(verdict) for verdict in VERDICTS})
  by = [timed["operation"], timed["implementation"]]
  table = counts.groupby(by).sum()
  table.insert(0, "rows", counts.groupby(by).size())
  table.insert(1, "geometric_mean", numpy.exp(numpy.log(timed["ratio"]).groupby(by).mean()))
  return table.sort_values("geometric_mean", ascending=False, kind="stable").reset_index()


def expected_by_chance(compared, beyond):
  """Returns the expected number of rows whose whole interval is above 1 + `beyond` if no time changed and the errors of the
  medians are those of the intervals. The same number is expected below 1 / (1 + `beyond`)."""
  error = numpy.log(compared["ratio"] / compared["ratio_low"]).dropna() / _Z
  return sum(_NORMAL.cdf(-_Z - math.log1p(beyond) / sigma) for sigma in error[error > 0])


def nearly_matching(compared):
  """Returns what keeps missing configurations from matching an extra one, where that is only `math`, `l2` or `host_memory`: a
  list of (column, number of rows, value in A, value in B), the most rows first."""
  columns = ["math", "l2", "host_memory"]
  missing = compared.loc[compared["verdict"].eq("missing"), _KEYS].assign(row=lambda rows: rows.index)
  extra = compared.loc[compared["verdict"].eq("extra"), _KEYS]
  pairs = missing.merge(extra, on=[key for key in _KEYS if key not in columns], suffixes=("_a", "_b"))
  found = []
  for column in columns:
    values = [f"{column}_a", f"{column}_b"]
    counts = pairs[pairs[values[0]] != pairs[values[1]]].groupby(values)["row"].nunique()
    found.extend((column, count, *pair) for pair, count in counts.items())
  return sorted(found, key=lambda item: -item[1])


def _widening(count):
  """Returns the factor by which a 95 % interval must be widened to hold for all of `count` rows at once with 95 %."""
  return _NORMAL.inv_cdf(1 - 0.025 / max(int(count), 1)) / _Z

"""compare: tells whether the same configurations got faster or slower between two runs or two machines.

  bazel run //benchmarks:compare -- A B [--metric=kernel_ms|total_ms] [--threshold=0.05] [--same=0.02] [--csv=FILE]

A (before) and B (after) are CSV files of the sweeps or folders of them, several separated by commas. The exit code is 0; 1 if
a row is slower by more than --threshold beyond its noise, or is wrong in B and not in A; 2 for bad input, after one line that
names it. docs/report.md explains the verdicts.
"""

import argparse
import os
import signal
import sys

from benchmarks.report import comparison, comparison_text, results


class _Flags(argparse.ArgumentParser):
  """Reports a mistake in one line."""

  def error(self, message):
    sys.exit(_refused(message))


def main(arguments):
  flags = _parse(arguments)
  # Paths are relative to the folder where the user called, not to where Bazel starts programs.
  os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
  rules = comparison.Rules(flags.metric, flags.same, flags.threshold)
  try:
    paths = [[path for part in side.split(",") for path in results.csv_files(part)] for side in (flags.a, flags.b)]
    sides = [results.read_results(side) for side in paths]
  except results.ReadError as error:
    return _refused(error)
  compared = comparison.compare(sides[0].rows, sides[1].rows, rules)
  if not compared["ratio"].notna().any() and not compared["regression"].any():
    why = "; ".join(comparison_text.unmatched(compared))
    return _refused(f"{flags.a} and {flags.b} have no configuration that is timed in both: {why}")
  if flags.csv is not None:
    if os.path.realpath(flags.csv) in map(os.path.realpath, paths[0] + paths[1]):
      return _refused(f"--csv={flags.csv} is one of the files to compare")
    try:
      table = compared.astype({"regression": int})
      table.to_csv(flags.csv, index=False, float_format="%.12g", lineterminator="\r\n")
    except OSError as error:
      return _refused(f"--csv={flags.csv}: cannot be written: {error.strerror or error}")
  for problem in sides[0].problems + sides[1].problems:
    print(problem, file=sys.stderr)
  _print(compared, sides, rules, flags)
  return 1 if compared["regression"].any() else 0


def _parse(arguments):
  parser = _Flags(prog="compare", description=__doc__, allow_abbrev=False,
                  formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("a", metavar="A", help="before: CSVs of a sweep, or a folder of them")
  parser.add_argument("b", metavar="B", help="after")
  parser.add_argument("--metric", choices=sorted(comparison.METRICS), default="kernel_ms", help="default: kernel_ms")
  parser.add_argument("--threshold", type=_fraction, default=comparison.Rules.threshold,
                      help="this much slower is a regression; default: 0.05")
  parser.add_argument("--same", type=_fraction,
                      help="a smaller difference does not matter; default: 0.02, or --threshold if that is less")
  parser.add_argument("--limit", type=_count, default=30, help="rows to print, 0 for all; default: 30")
  parser.add_argument("--csv", metavar="FILE", help="write all rows to FILE")
  flags = parser.parse_args(arguments)
  if flags.same is None:
    flags.same = min(comparison.Rules.same, flags.threshold)
  if flags.same > flags.threshold:
    parser.error(f"--same={flags.same:g} is more than --threshold={flags.threshold:g}")
  return flags


def _fraction(word):
  try:
    value = float(word)
  except ValueError:
    value = -1
  if not 0 <= value < 1:
    raise argparse.ArgumentTypeError(f"'{word}' is not a number from 0 to below 1 (0.05 is 5 %)")
  return value


def _count(word):
  if not (word.isascii() and word.isdigit()):
    raise argparse.ArgumentTypeError(f"'{word}' is not a whole number, 0 or more")
  return int(word)


def _refused(reason):
  print(f"compare: {reason}", file=sys.stderr)
  return 2


def _print(compared, sides, rules, flags):
  print(f"{rules.metric} of B over that of A: above 1 is slower.")
  for letter, path, side in zip("AB", (flags.a, flags.b), sides):
    runs = int(compared[f"runs_{letter.lower()}"].sum())
    print(f"  {letter}: {comparison_text.side(path, side.rows, runs)}")
  for title, lines in (("Different:", comparison_text.differences(compared)),
                       ("Not compared:", comparison_text.unmatched(compared))):
    if lines:
      print(title, *lines, sep="\n  ")
  if compared["ratio"].notna().any():
    for lines in (comparison_text.rows_table(compared, flags.limit), comparison_text.summary_table(compared),
                  comparison_text.chance(compared, rules)):
      print("", *lines, sep="\n")
  print("", comparison_text.verdict(compared, rules), sep="\n")


if __name__ == "__main__":
  # Neither Ctrl-C nor `compare ... | head` ends in a traceback.
  signal.signal(signal.SIGINT, signal.SIG_DFL)
  signal.signal(signal.SIGPIPE, signal.SIG_DFL)
  sys.exit(main(sys.argv[1:]))

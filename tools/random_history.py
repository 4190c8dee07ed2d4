#!/usr/bin/env python3
"""Keeps a row of each seed that was measured at random shapes, so that the sweep's files need not be kept.

  tools/random_history.py docs/results/h100/transpose_random_7_distribution.csv --seed=20270421 --change='few_planes'

Adds the distribution over all families to random_history.csv beside the file: a row for each metric and variant. If there
is a NAME_before_distribution.csv, of the program before the change in turn in the same run, its figures become the columns
before_*: of as many shapes, since a sweep whose time is up has drawn fewer. A row of the same operation, variant, metric,
seed and commit is replaced. The files of the sweep are left; pages show those of the newest seeds.
"""

import argparse
import csv
import pathlib
import sys

SUFFIX = "_distribution.csv"
FIGURES = ("geomean", "median", "p5", "worst")
COLUMNS = (("operation", "change", "variant", "metric", "seed", "count") + FIGURES + ("git_commit",) +
           tuple(f"before_{name}" for name in FIGURES) + ("before_commit",))
KEY = ("operation", "variant", "metric", "seed", "git_commit")


def read(path):
  with open(path, newline="", encoding="ascii") as file:
    return list(csv.DictReader(file))


def of_all_families(path):
  """{(metric, variant): row} of the distribution over all families."""
  return {(row["metric"], row["variant"]): row for row in read(path) if row["family"] == "all"}


def history_rows(distribution, before, seed, change):
  """The rows of a seed, of two results of of_all_families()."""
  rows = []
  for key, row in distribution.items():
    new = {name: row[name] for name in ("operation", "variant", "metric", "count") + FIGURES + ("git_commit",)}
    new.update(seed=seed, change=change)
    if key in before:
      new.update({f"before_{name}": before[key][name] for name in FIGURES}, before_commit=before[key]["git_commit"])
    rows.append(new)
  return rows


def merged(old, new):
  """The old rows with the new ones, each in the place of the one with its key or at the end of its operation."""
  rows = list(old)
  for row in new:
    same = [i for i, other in enumerate(rows) if all(other[name] == row[name] for name in KEY)]
    if same:
      rows[same[0]] = row
    else:
      ends = [i + 1 for i, other in enumerate(rows) if other["operation"] == row["operation"]]
      rows.insert(ends[-1] if ends else len(rows), row)
  return rows


def write(path, rows):
  with open(path, "w", newline="", encoding="ascii") as file:
    writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def main(arguments):
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("distribution", type=pathlib.Path, help="a file that --distribution_csv wrote")
  parser.add_argument("--seed", required=True, help="the sweep's --seed")
  parser.add_argument("--change", default="", help="what is new beside the program before, in a few words")
  options = parser.parse_args(arguments)
  if not options.distribution.name.endswith(SUFFIX) or not options.distribution.is_file():
    print(f"{options.distribution}: not a file NAME{SUFFIX}", file=sys.stderr)
    return 2
  stem = options.distribution.name[:-len(SUFFIX)]
  before = options.distribution.with_name(f"{stem}_before{SUFFIX}")
  history = options.distribution.with_name("random_history.csv")
  distribution, old = of_all_families(options.distribution), of_all_families(before) if before.is_file() else {}
  differing = [key for key, row in distribution.items() if key in old and old[key]["count"] != row["count"]]
  if differing or not distribution:
    print(f"{options.distribution}: no shapes" if not distribution else
          f"{before}: {old[differing[0]]['count']} shapes instead of {distribution[differing[0]]['count']}", file=sys.stderr)
    return 2
  new = history_rows(distribution, old, options.seed, options.change)
  write(history, merged(read(history) if history.is_file() else [], new))
  print(f"{history}: {len(new)} rows of seed {options.seed}")
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))

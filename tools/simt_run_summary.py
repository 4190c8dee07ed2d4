#!/usr/bin/env python3
"""Adds up how many launches of public programs simt_run counts as Nsight Compute does, list by list.

    tools/simt_run_summary.py --csv=docs/results/xeon_2cores/simt_run_lists.csv

reads the CSVs of tools/simt_run_lists.py and tools/simt_run_counters.py in docs/results and writes a row for each list: launches and how many of them have all six
counts equal, as first measured (by accesses of the source and by compiled ones) and as counted again; `undetermined` are launches that differ and that two runs of
ncu count differently, too. With --check it fails where the file has other numbers, which is also a test.
"""

import argparse
import collections
import csv
import io
import pathlib
import sys

RESULTS = pathlib.Path(__file__).absolute().parent.parent / "docs/results"
# By list: what it is, its CSV as first measured, and the one of now.
LISTS = (
    ("samples of NVIDIA", None, "h200/simt_run_counters.csv"),
    ("samples, llm.c, SGEMM_CUDA", None, "h100/simt_run_counters.csv"),
    ("first", "h100/simt_run_held_out_first.csv", "h100/simt_run_held_out.csv"),
    ("second", "h100/simt_run_held_out_2_first.csv", "h200/simt_run_held_out_2.csv"),
    ("third", "h100/simt_run_held_out_3_first.csv", "h100/simt_run_held_out_3.csv"),
    ("fourth", "h200/simt_run_held_out_4_first.csv", "h200/simt_run_held_out_4.csv"),
    ("fifth", "h100/simt_run_held_out_5_first.csv", "h100/simt_run_held_out_5.csv"),
    ("sixth", "h100/simt_run_held_out_6_first.csv", "h100/simt_run_held_out_6.csv"),
    ("seventh", "h200/simt_run_held_out_7_first.csv", "h200/simt_run_held_out_7.csv"),
    ("eighth", "h200/simt_run_held_out_8_first.csv", "h200/simt_run_held_out_8.csv"),
    ("ninth", "h100/simt_run_held_out_9_first.csv", "h100/simt_run_held_out_9.csv"),
)
ALL = "6"


def rows_of(path):
  with (RESULTS / path).open(newline="", encoding="ascii") as file:
    return list(csv.DictReader(file))


def equal(rows, column="compiled_exact"):
  return sum(row[column] == ALL for row in rows)


def undetermined(rows):
  return sum(row["compiled_exact"] != ALL and row["determined"] == "no" for row in rows)


def summary_of(name, first, now):
  """The row of a list. A list that was not measured before its rules were made has no first counts."""
  row = collections.OrderedDict(git_commit=rows_of(now)[0]["git_commit"], list=name)  # One of those that the list was counted at.
  rows = rows_of(first) if first else []
  row["first_launches"] = len(rows) or ""
  row["first_equal_source"] = equal(rows, "exact") if rows else ""
  row["first_equal"] = equal(rows) if rows else ""
  row["first_determined"] = len(rows) - undetermined(rows) if rows else ""
  rows = rows_of(now)
  row["launches"] = len(rows)
  row["equal"] = equal(rows)
  row["undetermined"] = undetermined(rows)
  row["determined"] = row["launches"] - row["undetermined"]
  row["percent_of_determined"] = f"{100 * row['equal'] / row['determined']:.1f}"
  return row


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--csv", type=pathlib.Path, default=RESULTS / "xeon_2cores/simt_run_lists.csv")
  parser.add_argument("--check", action="store_true")
  args = parser.parse_args()
  rows = [summary_of(*each) for each in LISTS]
  text = io.StringIO()
  writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
  writer.writeheader()
  writer.writerows(rows)
  if args.check:
    if args.csv.read_text(encoding="ascii") != text.getvalue():
      sys.exit(f"{args.csv} is older than the CSVs that it adds up: run tools/simt_run_summary.py")
    return
  args.csv.write_text(text.getvalue(), encoding="ascii")
  launches, determined, same = (sum(row[column] for row in rows) for column in ("launches", "determined", "equal"))
  print(f"{same} of {launches} launches, {100 * same / launches:.1f} %; of {determined} that are determined {100 * same / determined:.1f} %")


if __name__ == "__main__":
  main()

#!/usr/bin/env python3
"""Says which of the results in docs/results are older than the kernels that they show, and what they lack.

  tools/stale_results.py                                    checks, and lists what is old
  tools/stale_results.py --programs=bazel-bin/benchmarks    also lists configurations that a file lacks
  tools/stale_results.py --write                            writes the table of files in docs/results/README.md

Results age whenever a kernel is edited, so an old file is a line of output and no error, and so is a README whose column
"changed since" is not that of the checked-out commit. Errors (exit 1) are: a table whose other columns are not those of
measure_all.sh and of the files, a CSV that no page of docs/results links, and a CSV without the column git_commit.

A row is old if a source of its implementation has changed since the row's commit (tools/docs/kernel_sources.py). Rows
of the library's calls, which name no implementation, are those of `auto`.
"""

import argparse
import collections
import csv
import os
import pathlib
import re
import shlex
import subprocess
import sys

# Not resolved: among a test's files this is a link to another folder.
ROOT = pathlib.Path(os.path.abspath(__file__)).parent.parent
sys.path.insert(0, str(ROOT))

from tools.docs import kernel_sources  # noqa: E402 pylint: disable=wrong-import-position

TABLE = re.compile(r"(<!-- commands of tools/measure_all.sh -->\n).*?(<!-- end of commands -->)", re.S)
MEASUREMENT = re.compile(r"^part (\d+) +(\d+) s  (\w+) +(.*)$", re.M)

REASON = "compute_pct_of_peak"  # The first of the columns that profiles of older commits lack.

CALLS = {"MatMul": "matmul", "Transpose": "transpose", "Permute": "transpose"}  # Of call_time, and their operations.

Measurement = collections.namedtuple("Measurement", "name command files")


def measurements(root):
  """Returns the measurements of measure_all.sh, in its order, with the files that they make."""
  text = subprocess.run(["sh", root / "tools" / "measure_all.sh", "--list"], check=True, stdout=subprocess.PIPE,
                        text=True).stdout
  return [Measurement(name, command, list(dict.fromkeys(re.findall(r"(?<![\w/])\w+\.csv", command))))
          for _, _, name, command in MEASUREMENT.findall(text)]


def readme_table(found, machine, ages):
  """Returns the Markdown of the files: links to those that `machine`, a folder, has, when and at which commits they were
  measured, what has changed since (`ages`, by file), and their commands."""
  commands = {}
  for measurement in found:
    for file in measurement.files:
      commands.setdefault(file, []).append(f"`{measurement.command}`")
  lines = ["| file | measured | changed since | made by |", "| --- | --- | --- | --- |"]
  for file, made_by in commands.items():
    exists = (machine / file).exists()
    link = f"[{file}]({machine.name}/{file})" if exists else f"{file} (not measured yet)"
    when = measured(read(machine / file)) if exists else ""
    lines.append(f"| {link} | {when} | {ages.get(file, '')} | {'; then '.join(made_by)} |")
  return "\n".join(lines) + "\n"


def measured(rows):
  """Returns the days of the rows, where they say them, and their commits, the oldest first."""
  rows = sorted(rows, key=lambda row: row.get("timestamp_utc", ""))
  days = list(dict.fromkeys(row["timestamp_utc"][:10] for row in rows if row.get("timestamp_utc")))
  commits = list(dict.fromkeys(commit_of(row)[:7] for row in rows if commit_of(row)))
  return ", ".join([" to ".join(dict.fromkeys(days[:1] + days[-1:]))] * bool(days) + [listed(commits, 3)] * bool(commits))


def readme_ages(readme):
  """Returns {file: its cell "changed since"} of the README's text."""
  return {match[1]: match[2] for match in re.finditer(r"^\| \[([^\]]*)\][^|]*\|[^|]*\| ([^|]*) \| `", readme, re.M)}


def ages(root, found):
  """Returns {file: the implementations whose sources have changed since it was measured, as a text}."""
  machine = root / "docs" / "results" / "h200"
  sources, history = kernel_sources.Sources(root), kernel_sources.History(root)
  texts = {}
  for measurement in found:
    path = machine / measurement.files[0]
    if path.exists():
      texts.update(dict.fromkeys(measurement.files, listed(old_rows(read(path), sources, history), 3)))
  return texts


def read(path):
  with open(path, newline="", encoding="ascii") as file:
    return list(csv.DictReader(file))


def errors(root, found):
  """Returns what is wrong with the README and the files, one line each."""
  results = root / "docs" / "results"
  readme = (results / "README.md").read_text(encoding="utf-8")
  wrong = []
  for match in TABLE.finditer(readme):
    if match[0] != match[1] + readme_table(found, results / "h200", readme_ages(readme)) + match[2]:
      wrong.append("docs/results/README.md: the table of files is not up to date; tools/stale_results.py --write mends it")
  links = {link for page in results.glob("*.md") for link in re.findall(r"\]\(([^)]*)\)", page.read_text(encoding="utf-8"))}
  for path in sorted(results.glob("*/**/*.csv")):
    file = path.relative_to(results)
    if not links & {str(file), str(file.parent)}:
      wrong.append(f"docs/results/{file}: no page of the folder links it")
    if not all("git_commit" in row for row in read(path)):
      wrong.append(f"docs/results/{file}: no column git_commit")
  return wrong


def commit_of(row):
  """Returns the commit that a row names, as git knows it: without the g in front of it and without -dirty."""
  return row.get("git_commit", "").removeprefix("g").removesuffix("-dirty")


def subject(row):
  """Returns the operation and the implementation that a row shows; None for neither of ours."""
  if "implementation" in row:
    return row.get("operation") or ("matmul" if row.get("depth") else "transpose"), row["implementation"]
  if "products" in row:  # The choice that stridewise_tune judges.
    return "matmul", "auto"
  call = re.match(r"MatMul|Transpose|Permute", row.get("call", ""))
  return (CALLS[call[0]], "auto") if call else (None, None)


def old_rows(rows, sources, history):
  """Returns {implementation: the names of its sources that changed since its rows were measured}, in the rows' order."""
  old = {}
  for row in rows:
    (operation, implementation), commit = subject(row), commit_of(row)
    paths = sources.of(operation, implementation)
    if not implementation or not commit:
      continue
    for path in sorted(paths):
      changed = history.changed(path, commit)
      if changed or changed is None:
        old.setdefault(implementation, set()).add(path.split("/")[-1] if changed else f"unknown commit {commit}")
  return old


def configuration(flags):
  """Returns the configuration that a line of `--list --preset=NAME` selects: ((flag, value), ...) without the block, and
  the block."""
  values = dict(flag.removeprefix("--").split("=", 1) for flag in flags)
  block = values.pop("blocks", None)
  return tuple(sorted(values.items())), block


def configurations_of(row):
  """Returns the same of a row, with its block and without."""
  shape = "x".join(row[column] for column in ("rows", "cols", "depth") if row.get(column))
  values = {"implementations": row["implementation"], "shapes": shape, "types": row["dtype"]}
  values.update((flag, row[column]) for flag, column in (("batch", "batch"), ("layouts", "layout"), ("alpha", "alpha"),
                                                         ("beta", "beta"), ("workspace", "workspace"),
                                                         ("permutations", "permutation"),
                                                         ("precision", "precision"), ("epilogue", "epilogue")) if row.get(column))
  key = tuple(sorted(values.items()))
  return {(key, None), (key, f"{row['block_x']}x{row['block_y']}")}


def missing(rows, lines):
  """Returns {implementation: number of configurations} of the lines of --list that no row is of."""
  have = set().union(*(configurations_of(row) for row in rows))
  wanted = [configuration(shlex.split(line)) for line in lines]
  return collections.Counter(dict(key)["implementations"] for key, block in wanted if (key, block) not in have)


def planned(measurement, programs):
  """Returns the configurations that a sweep's command measures, a line each; None for other commands."""
  words = shlex.split(measurement.command)
  if words[0] not in ("matmul_sweep", "transpose_sweep", "ceilings"):
    return None
  return subprocess.run([programs / words[0], *words[1:], "--list"], check=True, stdout=subprocess.PIPE,
                        text=True).stdout.splitlines()


def listed(counts, limit=6):
  """Returns "a, b and 3 more"."""
  names = list(counts)
  more = f" and {len(names) - limit} more" if len(names) > limit else ""
  return ", ".join(names[:limit]) + more


def warnings(root, found, programs):
  """Returns what is old or missing, one line each, and at the end the names for measure_all.sh."""
  machine = root / "docs" / "results" / "h200"
  sources, history = kernel_sources.Sources(root), kernel_sources.History(root)
  lines, again = [], {}
  for measurement in found:
    path = machine / measurement.files[0]
    if not path.exists():
      lines.append(f"{path.name}: not measured yet")
      again[measurement.name] = True
      continue
    rows = read(path)
    old = old_rows(rows, sources, history)
    if old:
      files = listed(sorted(set().union(*old.values())))
      lines.append(f"{path.name}: older than the sources of {listed(old)} ({files})")
      again[measurement.name] = True
    if "profile " in measurement.command and "status" in rows[0] and REASON not in rows[0]:
      lines.append(f"{path.name}: lacks the columns that say why a kernel is as fast as it is")
      again[measurement.name] = True
    plan = planned(measurement, programs) if programs else None
    lacks = missing(rows, plan) if plan else {}
    if lacks:
      lines.append(f"{path.name}: lacks {sum(lacks.values())} configurations of {listed(lacks)}")
      again[measurement.name] = True
  shown, current = readme_ages((machine.parent / "README.md").read_text(encoding="utf-8")), ages(root, found)
  if any(text != current.get(file, "") for file, text in shown.items()):
    lines.append('docs/results/README.md: the column "changed since" is not up to date; tools/stale_results.py --write mends it')
  if again:
    lines.append("to be measured again: tools/measure_all.sh --output=DIR " + " ".join(again))
  return lines


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--write", action="store_true", help="write the table of files in docs/results/README.md")
  parser.add_argument("--programs", type=pathlib.Path, help="the folder of the sweeps")
  parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
  arguments = parser.parse_args()
  root, found = arguments.root, measurements(arguments.root)
  readme = root / "docs" / "results" / "README.md"
  if arguments.write:
    text = TABLE.sub(lambda match: match[1] + readme_table(found, readme.parent / "h200", ages(root, found)) + match[2],
                     readme.read_text(encoding="utf-8"))
    readme.write_text(text, encoding="utf-8")
  for line in warnings(root, found, arguments.programs):
    print(line)
  wrong = errors(root, found)
  for line in wrong:
    print(f"ERROR: {line}")
  sys.exit(1 if wrong else 0)


if __name__ == "__main__":
  main()

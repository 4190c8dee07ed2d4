#!/usr/bin/env python3
"""Counts a list of public programs again: what simt_run counts beside what Nsight Compute counted, launch by launch.

    tools/simt_run_lists.py --list=tools/simt_run_held_out_4.csv --sources=DIR --ncu=docs/results/h200/simt_run_held_out_4_first.csv --csv=FILE.csv

A list has the program's name, repository@commit, sources (or a folder with them), sizes and arguments. DIR has checkouts of the repositories at these commits as
DIR/OWNER/NAME; nothing of them is committed. Each program is copied to --work with its sizes, run by simt_run with accesses of the source and with compiled ones, and
compared as tools/simt_run_counters.py does, by which --csv is written. --ncu is a CSV that this tool has written before, or a folder of ncu's CSVs. --only=REGEX runs
some programs, and the others' profiles stay those that --work has from before. What ends otherwise than by itself is listed, and so are the launches that ncu has
counted and no profile has. simt_run must be built.

    tools/simt_run_lists.py --list=LIST --sources=DIR --work=WORK --prepare

only copies, for the machine with a GPU: WORK/programs/NAME has the sources and WORK/programs.txt a line for each: name, main source, all sources, arguments.
tools/simt_run_ncu.sh compiles them there by nvcc and runs them under ncu.

Sizes are NAME=VALUE, separated by blanks or, where values have some, by semicolons. Each replaces a #define of the program's files, or the first initialiser or
assignment NAME = ... of another value; a name that they do not have becomes a macro. In arguments {values:N} is a file of N numbers, {output} one that the program may write,
{file:PATH} a file of the checkout. A column `repeats` is simt_run's --max_repeats,
for programs that repeat what they measure; `headers` names a folder of another checkout whose headers the program includes, as OWNER/NAME@COMMIT/FOLDER.
"""

import argparse
import collections
import concurrent.futures
import csv
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

if __package__:
  from tools import simt_run_counters
else:
  import simt_run_counters

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILED = (".cu", ".cpp", ".cc", ".c")
HEADERS = (".cuh", ".h", ".hpp", ".hh", ".inl", ".inc", ".num", ".com", ".main")
# Folders that programs take headers from, beside their own and beside those that it lies in.
INCLUDED = ("include", "inc", "common", "Common", "utilities", "util", "src")


def sizes_of(text):
  """The pairs of "N=8 M=9" and of "N=1 << 7;S={1, 2}"."""
  parts = text.split(";") if ";" in text else re.split(r"\s+(?=\w+=)", text)
  return [tuple(part.split("=", 1)) for part in parts if part.strip()]


def with_size(text, name, value):
  """The text with another size, or None where it does not name it. A loop's own variable is none."""
  define = re.compile(rf"(?m)^([ \t]*#[ \t]*define[ \t]+{name})(?!\()\b[ \t]+[^\n]*")
  if define.search(text):
    return define.sub(lambda found: found[1] + " " + value, text)
  before = rf"(?m)^((?![ \t]*//)[^\n;(]*?(?<![\w.>]){name}[ \t]*"
  other = rf"(?![ \t]|=|{re.escape(value)}[;,}}])"  # So that a size that is given twice is the next one of this name.
  for pattern in (before + r"(?:\[[^\]]*\][ \t]*)?=[ \t]*)" + other + r"(?:\{[^}]*\}|[^;,\n]*)(?=[;,])", before + r"\{)" + other + r"[^}\n]*(?=\};)"):
    changed, count = re.subn(pattern, lambda found: found[1] + value, text, count=1)
    if count:
      return changed
  return None


def read(path):
  return path.read_text(encoding="utf-8", errors="surrogateescape")


def write(path, text):
  path.write_text(text, encoding="utf-8", errors="surrogateescape")


class Program:
  """A row of a list and where it lies."""

  def __init__(self, row, checkouts, work):
    self.name = row["program"]
    self.sizes = sizes_of(row["sizes"])
    self.before = row.get("before", "")
    self.repeats = row.get("repeats") or "0"
    self.headers = checkouts / re.sub(r"@\w+", "", row["headers"]) if row.get("headers") else None
    self.checkout = checkouts / row["repository"].split("@")[0]
    self.folder = work / "programs" / self.name
    self.sources = []
    for source in row["sources"].split():
      path = self.checkout / source
      found = sorted(p for p in path.iterdir() if p.suffix in COMPILED) if path.is_dir() else [path]
      self.sources += [p.relative_to(self.checkout) for p in found]
    self.arguments = row["arguments"].split()

  def include_folders(self):
    """Of the checkout: where headers may lie, the nearest first."""
    result = []
    for source in self.sources:
      for folder in source.parents:
        for other in [folder] + [folder / name for name in INCLUDED]:
          if other not in result and (self.checkout / other).is_dir():
            result.append(other)
    return result

  def copy(self):
    """Copies the program with its sizes. Returns the sizes that it does not have."""
    shutil.rmtree(self.folder, ignore_errors=True)
    own = {source.parent for source in self.sources}
    for folder in self.include_folders():
      # Headers of <project/name.h> lie a folder deeper; what lies around the sources may be a whole repository.
      deep = folder.name in INCLUDED and not any(folder in (other, *other.parents) for other in own)
      for path in sorted((self.checkout / folder).glob("**/*" if deep else "*")):
        if path.is_file() and path.suffix in HEADERS + COMPILED:
          to = self.folder / path.relative_to(self.checkout)
          to.parent.mkdir(parents=True, exist_ok=True)
          shutil.copyfile(path, to)
    for path in sorted(self.headers.glob("*.h")) if self.headers else []:
      (self.folder / "headers").mkdir(parents=True, exist_ok=True)
      shutil.copyfile(path, self.folder / "headers" / path.name)
    missing = []
    for name, value in self.sizes:
      if not self.set_size(own, name, value):
        missing.append(f"{name}={value}")
    for source in self.sources:
      lines = [f"#include <{self.before}>\n"] if self.before else []
      lines += ["#define {} {}\n".format(*part.split("=", 1)) for part in missing]
      # Lines keep their numbers.
      write(self.folder / source, "".join(lines + ["#line 1\n"] if lines else []) + read(self.folder / source))
    return missing

  def set_size(self, folders, name, value):
    files = list(self.sources)
    files += [p.relative_to(self.folder) for folder in folders for p in sorted((self.folder / folder).iterdir()) if p.suffix in HEADERS + (".cu",)]
    changed = False
    for file in dict.fromkeys(files):
      text = with_size(read(self.folder / file), name, value)
      if text is not None:
        write(self.folder / file, text)
        changed = True
    return changed

  def real_arguments(self):
    """With names of files in place of what stands for one."""
    result = []
    for i, argument in enumerate(self.arguments):
      found = re.fullmatch(r"\{values:(\d+)\}|\{output\}|\{file:(.*)\}", argument)
      if found:
        file = self.folder / f"file_{i}"
        if found[2]:
          shutil.copyfile(self.checkout / found[2], file)
        else:
          write(file, "".join(f"{300 + k % 17}.5\n" for k in range(int(found[1] or 0))))
        argument = os.path.relpath(file, (self.folder / self.sources[0]).parent)
      result.append(argument)
    return result

  def command(self):
    """simt_run's sources and folders of headers, in the copy."""
    folders = [str(self.folder / folder) for folder in self.include_folders() if (self.folder / folder).is_dir()]
    folders += [str(self.folder / "headers")] if self.headers else []
    return ["--include_dirs=" + ",".join(folders)] + [str(self.folder / source) for source in self.sources]


def run(program, simt_run, accesses, work, seconds):
  """Runs a program; its profile is WORK/ACCESSES/NAME.csv. Returns what is to be said of it."""
  profile = work / accesses / (program.name + ".csv")
  profile.unlink(missing_ok=True)
  command = [simt_run, "--accesses=" + accesses, f"--max_repeats={program.repeats}", f"--max_cpu_seconds={seconds}", f"--csv={profile}"] + program.command()
  process = subprocess.Popen(command + ["--"] + program.real_arguments(), cwd=(program.folder / program.sources[0]).parent, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
  try:
    output = process.communicate(timeout=20 * seconds)[0].decode(errors="replace")
  except subprocess.TimeoutExpired:  # It waits for something, which takes no CPU time.
    os.killpg(process.pid, signal.SIGKILL)
    output = process.communicate()[0].decode(errors="replace")
  write(work / accesses / (program.name + ".txt"), output)
  if process.returncode in (0, 3):
    return ""
  said = re.findall(r"error: .*|simt_run: .*", output)
  return f"{program.name}, {accesses}: exit code {process.returncode}{', ' + said[0][:150] if said else ''}"


def compare(commit, programs, measured, work):
  """Returns the rows of all programs, and ncu's launches that are in none."""
  rows = []
  missing = collections.OrderedDict()
  for program in programs:
    launches = measured.get(program.name, [])
    profile, compiled = (work / accesses / (program.name + ".csv") for accesses in ("source", "compiled"))
    if profile.exists() and compiled.exists():
      rows += simt_run_counters.compare(commit, program.name, profile, compiled, launches)
    for launch in launches:
      if not launch["taken"]:
        missing[(program.name, launch["kernel"], launch["at"] or "", launch["grid"], launch["block"])] = launch
  return rows, list(missing)


def main(arguments=None):
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--list", required=True)
  parser.add_argument("--sources", type=pathlib.Path, required=True)
  parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/simt_run_lists"))
  parser.add_argument("--prepare", action="store_true")
  parser.add_argument("--ncu", help="folders or CSVs, separated by commas")
  parser.add_argument("--again", help="a folder of ncu's CSVs of a second run")
  parser.add_argument("--csv")
  parser.add_argument("--only", default="")
  parser.add_argument("--accesses", default="source,compiled", help="those to run; the others' profiles stay those that --work has")
  parser.add_argument("--jobs", type=int, default=os.cpu_count())
  parser.add_argument("--max_cpu_seconds", type=int, default=40)
  parser.add_argument("--commit", help="that simt_run was built from; this checkout's by default")
  parser.add_argument("--simt_run", default=str(ROOT / "bazel-bin/common/executor/run/simt_run"))
  args = parser.parse_args(arguments)
  if not args.prepare and not (args.ncu and args.csv):
    parser.error("--ncu and --csv, or --prepare")
  with open(args.list, newline="", encoding="ascii") as file:
    programs = [Program(row, args.sources, args.work) for row in csv.DictReader(file)]
  measured = collections.OrderedDict() if args.prepare else simt_run_counters.measured_by(args.ncu, args.again)
  chosen = [p for p in programs if re.search(args.only, p.name) and (args.prepare or p.name in measured)]
  for program in chosen:
    for size in program.copy():
      print(f"{program.name}: {size} is a macro, as no file has that name")
  if args.prepare:
    lines = ["\t".join([p.name, str(p.sources[0]), " ".join(map(str, p.sources)), " ".join(p.real_arguments())]) for p in chosen]
    write(args.work / "programs.txt", "\n".join(lines) + "\n")
    return 0
  for accesses in ("source", "compiled"):
    (args.work / accesses).mkdir(parents=True, exist_ok=True)
  with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    runs = [(p, accesses) for p in chosen for accesses in args.accesses.split(",")]
    for said in pool.map(lambda one: run(*one[:1], args.simt_run, one[1], args.work, args.max_cpu_seconds), runs):
      if said:
        print(said, flush=True)
  commit = args.commit or "g" + subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=8"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().strip()
  rows, missing = compare(commit, programs, measured, args.work)
  for launch in missing:
    print("not in a profile:", *launch)
  simt_run_counters.write(rows, args.csv)
  return 0


if __name__ == "__main__":
  sys.exit(main())

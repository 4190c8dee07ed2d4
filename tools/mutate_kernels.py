#!/usr/bin/env python3
"""Plants mistakes in the kernels, one at a time, and sees whether the tests on the host executor notice.

  tools/mutate_kernels.py                                       all kernels that run on the host executor
  tools/mutate_kernels.py --only=tiled.cu --csv=mutants.csv     those of one file
  tools/mutate_kernels.py --only='barrier left out' --list      which there are of one kind
  tools/mutate_kernels.py --sample=200 --seed=1 --csv=s.csv     a random sample, of each file its share

A mutant is a kernel's source with one change: a barrier fewer, `<=` for `<`, rows for columns (kernel_mutants.py), or a
header of split products with a mistake of arithmetic that only their accuracy shows (header_mutants.py). It is killed when a test fails, crashes or does not end. Those that do not compile, and those that
mutate_kernels_equivalent.txt says are no mistake, do not count. Bazel builds the tests and tells how; from there each
mutant costs a call of the compiler, one or two of the linker, and the tests: some seconds to minutes on a core. The tests
run with their usual cases first and, for a mutant that survives, with all of them, unless --usual_cases leaves these
out. The CSV has each mutant as soon as it is judged, so a run that is ended early leaves what it has found. Exits with 1
if a mutant that counts survives.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import csv
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

from header_mutants import header_mutants
from kernel_mutants import ROOT, described, kernel_files, mutants_of
from mutant_build import ALL_CASES, USUAL_CASES, Build, judges
from mutant_sample import sampled

EQUIVALENT_LIST = ROOT / "tools" / "mutate_kernels_equivalent.txt"
# CheckName() of common/executor/finding.cc.
FINDINGS = re.compile(
    "out-of-bounds access|access to no memory of the device|misaligned access|write to read-only memory|"
    "read of uninitialised memory|data race|divergent barrier|too much shared memory|thread that does not end")

OUTCOMES = KILLED, SURVIVED, EQUIVALENT, BROKEN = "killed", "survived", "equivalent", "does not compile"
# `killed_by` says which test noticed, and how.
Verdict = collections.namedtuple("Verdict", "mutant outcome killed_by")


def failure(binary, directory, tests, environment, seconds):
  """Why the tests fail, or None. Stops at the first failure."""
  process = subprocess.Popen([binary, "--gtest_filter=" + ":".join(tests)], cwd=directory, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                             env=environment)
  try:
    output = process.communicate(timeout=seconds)[0]
  except subprocess.TimeoutExpired:
    os.killpg(process.pid, signal.SIGKILL)
    return f"{binary.name}: does not end"
  if process.returncode == 0:
    return None
  test = re.findall(r"^\[ RUN      \] (?:\w+/)?\w+\.(\S+)", output, flags=re.M)[-1:]
  reasons = (sorted(set(FINDINGS.findall(output))) or re.findall(r"([^/\n]*:\d+): Failure$", output, flags=re.M) or
             [f"exit {process.returncode}"])
  return f"{binary.name} {' '.join(test)}: {', '.join(reasons)}"


class Jury:
  """Judges mutants: builds the tests with them and runs those that concern them, with the cases of each environment."""

  def __init__(self, build, files, kernels, equivalent, environments, scratch):
    self.build, self.equivalent, self.environments, self.scratch = build, equivalent, environments, scratch
    all_names = [name for names in files.values() for name in names]
    self.tests = {(kernel, binary): build.tests(binary, files[kernel], all_names)
                  for kernel in kernels for binary in build.binaries(kernel)}
    for kernel in kernels:
      if not any(self.tests[kernel, binary] for binary in build.binaries(kernel)):
        sys.exit(f"mutate_kernels: no test judges {kernel}")
    # How long the tests of a kernel may take, and who is finding that out.
    self.seconds, self.locks = {}, {kernel: threading.Lock() for kernel in kernels}

  def _failure(self, kernel, file, text, environments, seconds):
    """Why the first test program that notices fails, or None. Those that follow are not run."""
    with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
      scratch = pathlib.Path(folder)
      new_object = self.build.compiled(kernel, file, text, scratch)
      programs = {}
      for environment in environments:
        limit = seconds(environment)
        for binary in self.build.binaries(kernel):
          tests = self.tests[kernel, binary]
          if tests and binary not in programs:
            programs[binary] = self.build.linked(binary, kernel, new_object, scratch)
          why = tests and failure(programs[binary], self.build.runfiles(binary), tests, environment, limit)
          if why:
            return why
    return None

  def _limit(self, kernel, environment):
    """The seconds that a test program may take. The kernel's first call sees to it that the unchanged source passes."""
    with self.locks[kernel]:
      key = kernel, environment is ALL_CASES
      if key not in self.seconds:
        start = time.monotonic()
        why = self._failure(kernel, kernel, (ROOT / kernel).read_text("utf-8"), [environment], lambda _: None)
        if why:
          sys.exit(f"mutate_kernels: {kernel} fails without any change: {why}")
        self.seconds[key] = 20 + 5 * (time.monotonic() - start)
      return self.seconds[key]

  def judge(self, mutant):
    kernel = mutant.kernel
    try:
      why = self._failure(kernel, mutant.file, mutant.text, self.environments, lambda of: self._limit(kernel, of))
    except subprocess.CalledProcessError:
      return Verdict(mutant, BROKEN, "")
    if why:
      return Verdict(mutant, KILLED, why)
    return Verdict(mutant, EQUIVALENT if (mutant.file, mutant.shown) in self.equivalent else SURVIVED, "")


def equivalent_mutants():
  """(file, shown) of each."""
  lines = EQUIVALENT_LIST.read_text("utf-8").splitlines()
  return {tuple(line.split(" ## ")[:2]) for line in lines if not line.startswith("#")}


def row_writer(file):
  """A function that writes a verdict as a row of this CSV, at once. Writes nothing without a file."""
  if file is None:
    return lambda verdict: None
  status = subprocess.run(["sh", "tools/workspace_status.sh"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
  commit = status.removeprefix("STABLE_GIT_COMMIT ").strip()
  writer = csv.writer(file)
  writer.writerow(["file", "line", "change", "mutated", "outcome", "killed_by", "git_commit"])

  def write(verdict):
    writer.writerow([*verdict.mutant[:4], verdict.outcome, verdict.killed_by, commit])
    file.flush()

  return write


def print_summary(verdicts):
  """A line a file and one for all."""
  counts = {verdict.mutant.file: collections.Counter() for verdict in verdicts}
  counts["all"] = collections.Counter()
  for verdict in verdicts:
    counts[verdict.mutant.file][verdict.outcome] += 1
    counts["all"][verdict.outcome] += 1
  print("\nkilled of those that count; equivalent; do not compile")
  for name, outcomes in counts.items():
    killed, survived, equivalent, broken = (outcomes[outcome] for outcome in OUTCOMES)
    print(f"{killed:4} of {killed + survived:4}; {equivalent:3}; {broken:3}  {name}")


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--only", metavar="REGEX", default="", help="mutants whose line in the output it matches")
  parser.add_argument("--sample", type=int, metavar="N", help="draw N of them by chance")
  parser.add_argument("--seed", type=int, default=1, help="of the sample")
  parser.add_argument("--usual_cases", action="store_true", help="leave out the cases of --config=exhaustive")
  parser.add_argument("--list", action="store_true", help="name the mutants and do no more")
  parser.add_argument("--csv", metavar="FILE", help="write the result there too")
  parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
  parser.add_argument("--bazel", default="bazel", metavar="COMMAND", help="with startup options")
  parser.add_argument("--bazel_options", default="", metavar="OPTIONS", help="for its build command")
  flags = parser.parse_args()
  resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

  files = kernel_files()
  mutants = [mutant for file in files for mutant in mutants_of(file)] + header_mutants()
  known = {(mutant.file, mutant.shown) for mutant in mutants}
  equivalent = equivalent_mutants()
  for file, shown in equivalent - known:
    sys.exit(f"mutate_kernels: {EQUIVALENT_LIST.name} lists what is no mutant: {file} ## {shown}")
  mutants = [mutant for mutant in mutants if re.search(flags.only, described(mutant))]
  if flags.sample is not None:
    if flags.sample < 1:
      parser.error(f"--sample={flags.sample}: allowed is 1 and more")
    mutants = sampled(mutants, flags.sample, flags.seed)
  if flags.list:
    print("\n".join(map(described, mutants)))
    return 0

  kernels = list(dict.fromkeys(mutant.kernel for mutant in mutants))
  labels = sorted({label for kernel in kernels for label in judges(kernel)})
  build = Build(shlex.split(flags.bazel), shlex.split(flags.bazel_options), labels)
  verdicts = []
  with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as files_to_close:
    environments = [USUAL_CASES] if flags.usual_cases else [USUAL_CASES, ALL_CASES]
    jury = Jury(build, files, kernels, equivalent, environments, scratch)
    write = row_writer(files_to_close.enter_context(open(flags.csv, "w", newline="", encoding="utf-8"))
                       if flags.csv else None)
    pool = files_to_close.enter_context(concurrent.futures.ThreadPoolExecutor(flags.jobs))
    for verdict in pool.map(jury.judge, mutants):
      verdicts.append(verdict)
      write(verdict)
      print(f"{verdict.outcome:16}  {described(verdict.mutant)}  [{verdict.killed_by}]", flush=True)

  print_summary(verdicts)
  survivors = [v.mutant for v in verdicts if v.outcome == SURVIVED]
  mistaken = [v.mutant for v in verdicts if v.outcome == KILLED and (v.mutant.file, v.mutant.shown) in equivalent]
  for title, group in (("Survivors", survivors), (f"Killed, though {EQUIVALENT_LIST.name} lists them", mistaken)):
    if group:
      print("\n".join(["", title + ":", *map(described, group)]))
  return 1 if survivors or mistaken else 0


if __name__ == "__main__":
  sys.exit(main())

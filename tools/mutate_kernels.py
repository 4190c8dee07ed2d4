#!/usr/bin/env python3
"""Plants mistakes in the kernels, one at a time, and sees whether the tests on the host executor notice.

  tools/mutate_kernels.py                                       all kernels that run on the host executor
  tools/mutate_kernels.py --only=tiled.cu --csv=mutants.csv     those of one file
  tools/mutate_kernels.py --only='barrier left out' --list      which there are of one kind

A mutant is a kernel's source with one change: a barrier fewer, `<=` for `<`, rows for columns (kernel_mutants.py), or a
header of split products with a mistake of arithmetic that only their accuracy shows (header_mutants.py). It is killed when a test fails, crashes or does not end. Those that do not compile, and those that
mutate_kernels_equivalent.txt says are no mistake, do not count. Bazel builds the tests and tells how; from there each
mutant costs a call of the compiler, one or two of the linker, and the tests: some seconds on a core. Exits with 1 if a
mutant that counts survives.
"""

import argparse
import collections
import concurrent.futures
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
import time

from header_mutants import header_mutants
from kernel_mutants import ROOT, described, kernel_files, mutants_of
from mutant_build import TEST_ENVIRONMENT, Build, judges

EQUIVALENT_LIST = ROOT / "tools" / "mutate_kernels_equivalent.txt"
# CheckName() of common/executor/finding.cc.
FINDINGS = re.compile(
    "out-of-bounds access|access to no memory of the device|misaligned access|write to read-only memory|"
    "read of uninitialised memory|data race|divergent barrier|too much shared memory|thread that does not end")

OUTCOMES = KILLED, SURVIVED, EQUIVALENT, BROKEN = "killed", "survived", "equivalent", "does not compile"
# `killed_by` says which test noticed, and how.
Verdict = collections.namedtuple("Verdict", "mutant outcome killed_by")


def failure(binary, directory, tests, seconds):
  """Why the tests fail, or None. Stops at the first failure."""
  process = subprocess.Popen([binary, "--gtest_filter=" + ":".join(tests)], cwd=directory, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                             env=TEST_ENVIRONMENT)
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
  """Judges mutants: builds the tests with them and runs those that concern them."""

  def __init__(self, build, files, places, equivalent, scratch):
    self.build, self.equivalent, self.scratch = build, equivalent, scratch
    all_names = [name for names in files.values() for name in names]
    self.tests = {(kernel, binary): build.tests(binary, files[kernel], all_names)
                  for kernel, file in places for binary in build.binaries(kernel, file != kernel)}
    for kernel, file in places:
      if not any(self.tests[kernel, binary] for binary in build.binaries(kernel, file != kernel)):
        sys.exit(f"mutate_kernels: no test judges {file} in {kernel}")
    self.seconds = {}

  def _failure(self, kernel, file, text):
    """Why the first test program that notices fails, or None. Those that follow are not run."""
    with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
      scratch = pathlib.Path(folder)
      new_object = self.build.compiled(kernel, file, text, scratch)
      for binary in self.build.binaries(kernel, file != kernel):
        why = failure(self.build.linked(binary, kernel, new_object, scratch), self.build.runfiles(binary),
                      self.tests[kernel, binary], self.seconds.get((kernel, file != kernel)))
        if why:
          return why
    return None

  def check_unchanged(self, place):
    """Sees to it that the unchanged source passes, and how long that takes. `place` is (kernel, file)."""
    kernel, file = place
    start = time.monotonic()
    why = self._failure(kernel, file, (ROOT / file).read_text("utf-8"))
    if why:
      sys.exit(f"mutate_kernels: {file} fails without any change: {why}")
    self.seconds[kernel, file != kernel] = 20 + 5 * (time.monotonic() - start)

  def judge(self, mutant):
    try:
      why = self._failure(mutant.kernel, mutant.file, mutant.text)
    except subprocess.CalledProcessError:
      return Verdict(mutant, BROKEN, "")
    if why:
      return Verdict(mutant, KILLED, why)
    return Verdict(mutant, EQUIVALENT if (mutant.file, mutant.shown) in self.equivalent else SURVIVED, "")


def equivalent_mutants():
  """(file, shown) of each."""
  lines = EQUIVALENT_LIST.read_text("utf-8").splitlines()
  return {tuple(line.split(" ## ")[:2]) for line in lines if not line.startswith("#")}


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
  if flags.list:
    print("\n".join(map(described, mutants)))
    return 0

  places = list(dict.fromkeys((mutant.kernel, mutant.file) for mutant in mutants))
  labels = sorted({label for kernel, file in places for label in judges(kernel, file != kernel)})
  build = Build(shlex.split(flags.bazel), shlex.split(flags.bazel_options), labels)
  verdicts = []
  with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
    jury = Jury(build, files, places, equivalent, scratch)
    list(pool.map(jury.check_unchanged, {(kernel, file != kernel): (kernel, file) for kernel, file in places}.values()))
    for verdict in pool.map(jury.judge, mutants):
      verdicts.append(verdict)
      print(f"{verdict.outcome:16}  {described(verdict.mutant)}  [{verdict.killed_by}]", flush=True)

  print_summary(verdicts)
  survivors = [v.mutant for v in verdicts if v.outcome == SURVIVED]
  mistaken = [v.mutant for v in verdicts if v.outcome == KILLED and (v.mutant.file, v.mutant.shown) in equivalent]
  for title, group in (("Survivors", survivors), (f"Killed, though {EQUIVALENT_LIST.name} lists them", mistaken)):
    if group:
      print("\n".join(["", title + ":", *map(described, group)]))
  if flags.csv:
    status = subprocess.run(["sh", "tools/workspace_status.sh"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    commit = status.removeprefix("STABLE_GIT_COMMIT ").strip()
    with open(flags.csv, "w", newline="", encoding="utf-8") as file:
      writer = csv.writer(file)
      writer.writerow(["file", "line", "change", "mutated", "outcome", "killed_by", "git_commit"])
      writer.writerows([*v.mutant[:4], v.outcome, v.killed_by, commit] for v in verdicts)
  return 1 if survivors or mistaken else 0


if __name__ == "__main__":
  sys.exit(main())

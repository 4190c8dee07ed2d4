"""Kernels compiled and tests linked with another source in place of a kernel's or of a header's, by Bazel's command lines."""

import json
import os
import pathlib
import re
import subprocess
import sys

from kernel_mutants import ROOT

# Tests have all of their cases, and end at the first failure.
TEST_ENVIRONMENT = {**os.environ, "GTEST_BREAK_ON_FAILURE": "1", "STRIDEWISE_EXHAUSTIVE": "1"}
TESTS = {  # Of each package.
    "matmul": [
        "matmul_executor_test", "chosen_kernels_executor_test", "matmul_memory_test", "tensor_executor_test",
        "split_accuracy_executor_test"
    ],
    "transpose": [
        "transpose_executor_test", "transpose_memory_test", "transpose_shapes_executor_test",
        "transpose_skinny_executor_test", "transpose_tiles_memory_test"
    ],
}


def judges(kernel, is_header):
  """The labels of the tests that judge mutants of this kernel file, or of a header in it."""
  package = kernel.split("/")[0]
  return [f"//{package}/test:{test}" for test in TESTS[package] if not is_header or test.startswith("split")]


class Build:
  """Bazel's own command lines for kernels and the tests with these labels, run with another source or object in them."""

  def __init__(self, bazel, options, labels):
    def run(*arguments):
      result = subprocess.run([*bazel, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
      if result.returncode:
        sys.exit(result.returncode)  # Bazel has said why.
      return result.stdout

    run("build", *options, *labels)
    self.folder = pathlib.Path(run("info", *options, "execution_root").strip())
    query = f'mnemonic("SimtCompile|SimtRename|CppLink", deps({" + ".join(labels)}))'
    actions = json.loads(run("aquery", *options, "--output=jsonproto", query))["actions"]
    self.compile, self.rename, self.link = {}, {}, {}  # By source, by what the compiler wrote, by binary.
    for action in actions:
      # Long command lines are there twice: argument by argument, and as a file of arguments.
      command = [argument for argument in action["arguments"] if not argument.startswith("@")]
      if action["mnemonic"] == "SimtCompile":
        compiler = next(i for i, argument in enumerate(command) if argument.endswith("/compile_kernel.sh"))
        self.compile[command[command.index("-c") + 1]] = command[compiler:]  # Without what lists headers for Bazel.
      elif action["mnemonic"] == "SimtRename":
        self.rename[command[-2]] = command
      elif "-o" in command:
        self.link[command[command.index("-o") + 1]] = command

  def _run(self, command, replaced):
    subprocess.run([str(replaced.get(argument, argument)) for argument in command], cwd=self.folder,
                   env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

  def binaries(self, kernel, is_header):
    """The programs of judges()."""
    names = tuple("/bin/" + label[2:].replace(":", "/") for label in judges(kernel, is_header))
    return sorted(binary for binary in self.link if binary.endswith(names))

  def compiled(self, kernel, file, text, scratch):
    """The kernel file's object with `text` in place of `file`. CalledProcessError where it does not compile."""
    source, compiled, renamed = scratch / file, scratch / "compiled.o", scratch / "renamed.o"
    source.parent.mkdir(parents=True)
    source.write_text(text, "utf-8")
    script, clang, rewriter, *flags, _ = self.compile[kernel]
    # Debug information, and so tests and findings, name the file as if it lay in the workspace. A header is found before
    # the workspace's own.
    added = [f"-fdebug-prefix-map={scratch}/=", f"-iquote{scratch}"]
    self._run([script, clang, rewriter, *added, *flags, compiled], {file: source})
    *rename, _, _ = self.rename[self.compile[kernel][-1]]
    self._run([*rename, compiled, renamed], {})
    return renamed

  def linked(self, binary, file, new_object, scratch):
    """The test program with this object in place of the kernel file's."""
    old_object = self.rename[self.compile[file][-1]][-1]
    twin = scratch / pathlib.Path(binary).name
    self._run(self.link[binary], {old_object: new_object, binary: twin})
    return twin

  def runfiles(self, binary):
    return self.folder / (binary + ".runfiles") / "stridewise"

  def tests(self, binary, names, all_names):
    """The tests of the entries `names`: those whose parameter names them, or names none."""
    listing = subprocess.run([self.folder / binary, "--gtest_list_tests"], cwd=self.runfiles(binary), env=TEST_ENVIRONMENT,
                             stdout=subprocess.PIPE, text=True, check=True).stdout
    longest_first = "|".join(sorted(all_names, key=len, reverse=True))
    tests, suite = [], ""
    for line in listing.splitlines()[1:]:
      name = line.split("#")[0].strip()
      if not line.startswith(" "):
        suite = name
        continue
      named = set(re.findall(longest_first, name.partition("/")[2]))
      if not named or named & set(names):
        tests.append(suite + name)
    return tests

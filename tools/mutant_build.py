"""Kernels compiled and tests linked with another source in place of a kernel's or of a header's, by Bazel's command lines."""

import json
import os
import pathlib
import re
import subprocess
import sys

from kernel_mutants import ROOT

# Tests end at the first failure.
USUAL_CASES = {**os.environ, "GTEST_BREAK_ON_FAILURE": "1", "STRIDEWISE_EXHAUSTIVE": "0"}
ALL_CASES = {**USUAL_CASES, "STRIDEWISE_EXHAUSTIVE": "1"}
# The tests, of the package's folder test/, that judge a kernel and the headers in it: those of the first pattern that the
# kernel's file matches, in the order in which they run.
JUDGES = [
    (r"matmul/library/int8_moduli", ["split_executor_test"]),
    (r"matmul/library/split_", [
        "split_executor_test", "split_fp8_executor_test", "split_flat_executor_test", "split_accuracy_executor_test"
    ]),
    (r"matmul/library/rounded", ["rounded_executor_test", "tensor_executor_test"]),
    (r"matmul/library/(few_int8|few_tf32|tf32_int8|fp8|fp16_sums)", [
        "tensor_tma_types_executor_test", "tensor_tma_epilogues_executor_test", "int8_split_executor_test",
        "tensor_executor_test"
    ]),
    (r"matmul/library/tensor_(decode|k_parts|lines|pair|split)\.", ["tensor_tma_few_rows_executor_test", "tensor_executor_test"]),
    (r"matmul/library/tensor.*\.sm90", ["tensor_tma_executor_test", "tensor_executor_test"]),
    (r"matmul/(library/tensor|library/mma|ladder/1[1-8])", ["tensor_executor_test"]),
    (r"matmul/", ["matmul_executor_test", "chosen_kernels_executor_test", "matmul_memory_test", "plan_executor_test"]),
    (r"transpose/", [
        "transpose_executor_test", "transpose_shapes_executor_test", "transpose_skinny_executor_test",
        "transpose_bytes_executor_test", "transpose_memory_test", "transpose_tiles_memory_test"
    ]),
]


def judges(kernel):
  """The labels of the tests that judge mutants of this kernel file, or of a header in it."""
  tests = next(tests for pattern, tests in JUDGES if re.match(pattern, kernel))
  return [f"//{kernel.split('/')[0]}/test:{test}" for test in tests]


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

  def binaries(self, kernel):
    """The programs of judges()."""
    ends = ["/bin/" + label[2:].replace(":", "/") for label in judges(kernel)]
    return [binary for end in ends for binary in self.link if binary.endswith(end)]

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
    listing = subprocess.run([self.folder / binary, "--gtest_list_tests"], cwd=self.runfiles(binary), env=ALL_CASES,
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

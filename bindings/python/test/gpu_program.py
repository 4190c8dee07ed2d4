"""Runs gpu_test.py and patch_gpu_test.py with the wheel, all from the zip that this file is in, as a test of the GPU bundle: it takes
--gtest_output=xml:FILE, and --gtest_filter=PATTERN of unittest's -k."""

import argparse
import pathlib
import sys
import tempfile
import unittest
import zipfile
from xml.sax.saxutils import quoteattr


class _Result(unittest.TextTestResult):
  """Keeps what count_tests.sh counts: for each test, what became of it."""

  def __init__(self, *args, **kwargs):
    super().__init__(*args, **kwargs)
    self.outcomes = {}

  def startTest(self, test):
    super().startTest(test)
    self.outcomes[test.id()] = ""

  def _set(self, test, outcome):
    self.outcomes[test.id()] = outcome

  def addError(self, test, err):
    super().addError(test, err)
    self._set(test, '<failure message="error"/>')

  def addFailure(self, test, err):
    super().addFailure(test, err)
    self._set(test, '<failure message="failure"/>')

  def addSubTest(self, test, subtest, err):
    super().addSubTest(test, subtest, err)
    if err is not None:
      self._set(test, '<failure message="subtest"/>')

  def addSkip(self, test, reason):
    super().addSkip(test, reason)
    self._set(test, f"<skipped message={quoteattr(reason)}/>")


def _write_xml(path, outcomes):
  """Writes a file as GoogleTest does."""
  with open(path, "w", encoding="utf-8") as file:
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="python">\n')
    for name, outcome in outcomes.items():
      status = "skipped" if "<skipped" in outcome else "completed"
      file.write(f"<testcase name={quoteattr(name)} status=\"run\" result=\"{status}\">{outcome}</testcase>\n")
    file.write("</testsuite>\n</testsuites>\n")


def main():
  parser = argparse.ArgumentParser()
  parser.add_argument("--gtest_output", default="")
  parser.add_argument("--gtest_filter")
  arguments = parser.parse_args()
  with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    with zipfile.ZipFile(sys.argv[0]) as program:
      program.extractall(folder)
    wheel, = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as package:
      package.extractall(folder)
    sys.path.insert(0, str(folder))
    loader = unittest.TestLoader()
    if arguments.gtest_filter:
      loader.testNamePatterns = [f"*{arguments.gtest_filter}*"]
    tests = loader.loadTestsFromNames(["gpu_test", "patch_gpu_test"])
    result = unittest.TextTestRunner(verbosity=2, resultclass=_Result).run(tests)
  if arguments.gtest_output.startswith("xml:"):
    _write_xml(arguments.gtest_output[len("xml:"):], result.outcomes)
  return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
  sys.exit(main())

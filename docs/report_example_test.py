"""The output of `compare` that report.md shows is what the program says of the committed files."""

import contextlib
import io
import os
import pathlib
import re
import shlex
import unittest

from benchmarks.report import compare

PAGE = pathlib.Path("docs/report.md")
COMMAND = "bazelw run //benchmarks:compare -- "


def example():
  """Returns the folder, the arguments and the lines of output of the block that begins with a `cd`."""
  block = re.search(r"^    \$ cd (\S+)\n((?:(?:    .*)?\n)+)", PAGE.read_text(), re.MULTILINE)
  lines = [line[4:] for line in block[2].rstrip().split("\n")]
  return block[1], shlex.split(lines[0].split(COMMAND)[1]), lines[1:]


class ReportExampleTest(unittest.TestCase):

  def test_compare_says_what_the_page_shows(self):
    folder, arguments, lines = example()
    before = os.getcwd()
    self.addCleanup(os.chdir, before)
    os.chdir(folder)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
      self.assertEqual(compare.main(arguments), 1)  # It shows a regression.
    self.assertEqual(lines, out.getvalue().rstrip("\n").split("\n"))


if __name__ == "__main__":
  unittest.main()

"""A folder of pages and results, as the tools for them find a repository's, for their tests."""

import pathlib
import tempfile
import unittest


class PagesTest(unittest.TestCase):
  """Has `root`, with README.md and the files of `results` in docs/results."""

  results = {}  # By name, a file's text.

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.root = pathlib.Path(folder.name)
    (self.root / "docs" / "results").mkdir(parents=True)
    for name, text in self.results.items():
      (self.root / "docs" / "results" / name).write_text(text)
    (self.root / "README.md").write_text("# Front\n")

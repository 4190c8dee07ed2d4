"""csv_columns.md says what every column of the sweeps' files means."""

import pathlib
import re
import unittest

COLUMNS = pathlib.Path("common/measure/csv_columns.inc")
PAGE = pathlib.Path("docs/csv_columns.md")


class ColumnsTest(unittest.TestCase):

  def test_every_column_is_explained(self):
    columns = re.findall(r'^CSV_COLUMN\(\w+, "(\w+)"\)', COLUMNS.read_text(), re.MULTILINE)
    page = PAGE.read_text()
    named = set(re.findall(r"`(\w+)`", page))
    for first, last in re.findall(r"`(\w+)` \.\.\. `(\w+)`", page):  # All from one to the other.
      named.update(columns[columns.index(first):columns.index(last)])
    self.assertGreater(len(columns), 100)
    self.assertEqual([column for column in columns if column not in named], [])


if __name__ == "__main__":
  unittest.main()

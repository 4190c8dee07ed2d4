"""Writes what Doxygen reads in place of the manual's headers and pages, all at once: Python takes longer to start than to
filter one of three hundred.

Usage: filter_files.py MANUAL_FILES FOLDER

MANUAL_FILES lists the manual's files, one a line, as paths from the workspace's root, where it runs. Each is written to
the same path below FOLDER.
"""

import pathlib
import sys

from docs.doxygen import header_filter, page_filter


def main():
  files = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").split()
  folder = pathlib.Path(sys.argv[2])
  manual_files = set(files)
  for path in files:
    if not path.endswith((".h", ".md")):
      continue
    text = pathlib.Path(path).read_text(encoding="utf-8")
    text = header_filter.filtered(path, text) if path.endswith(".h") else page_filter.filtered(path, text, manual_files)
    result = folder / path
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(text, encoding="utf-8")


if __name__ == "__main__":
  main()

#!/usr/bin/env python3
"""Opens CSVs in LibreOffice and compares every cell with what was in the file.

  tools/spreadsheet_check.py docs/results/h200/*.csv

Converts each file to XLSX and back to CSV without a window (Debian's libreoffice-calc). A number must come back as the
same number to 12 digits, a text as the same text. Exits with 1 at the first file that does not.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

# Separator, quote, UTF-8, first line; then, on the way out, cells as they are stored and not as they are shown.
CSV_OPTIONS = "44,34,76,1,,1033,false,true,false,false,false"


def convert(source, target_format, folder):
  subprocess.run(["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless",
                  f"--infilter=CSV:{CSV_OPTIONS}", "--convert-to", target_format, "--outdir", folder, source],
                 check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def number(cell):
  try:
    return float(cell)
  except ValueError:
    return None


def same(before, after):
  a, b = number(before), number(after)
  if a is not None and b is not None:
    return a == b or abs(a - b) <= 1e-12 * abs(a)
  return before == after


def rows(path):
  with open(path, newline="", encoding="utf-8") as file:
    return list(csv.reader(file))


def main():
  for name in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
      source = pathlib.Path(name).resolve()
      convert(source, "xlsx", folder)
      xlsx = pathlib.Path(folder) / (source.stem + ".xlsx")
      convert(xlsx, f"csv:Text - txt - csv (StarCalc):{CSV_OPTIONS}", folder)
      before, after = rows(source), rows(pathlib.Path(folder) / (source.stem + ".csv"))
    if len(before) != len(after):
      sys.exit(f"{name}: {len(before)} lines became {len(after)}")
    cells = 0
    for line, (old, new) in enumerate(zip(before, after), start=1):
      for header, a, b in zip(before[0], old, new + [""] * len(old)):
        if not same(a, b):
          sys.exit(f"{name}, line {line}, {header}: '{a}' came back as '{b}'")
        cells += 1
    print(f"{name}: {len(before) - 1} rows, {cells} cells, all the same")


if __name__ == "__main__":
  main()

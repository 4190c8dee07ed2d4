#!/usr/bin/env python3
"""Opens CSVs and a report's XLSX in LibreOffice, English and German, and compares every cell with what was in the files.

  tools/spreadsheet_check.py docs/results/h200/*.csv report/report.xlsx

Without a window (Debian's libreoffice-calc). Each CSV is converted to XLSX and back to CSV: a number must come back
as the same number to 12 digits, a text as the same text. A CSV has English numbers, so it is opened as English in
both locales, as a German reader has to choose in the import dialog; an XLSX needs no such choice. Of an XLSX every
sheet must be the same in both locales and free of errors, and its sheet `rows` must hold every cell of the CSVs.
Exits with 1 at the first cell that does not fit.
"""

import argparse
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

LOCALES = {"en-US": ".", "de-DE": ","}  # And its decimal mark.
# Separator, quote, UTF-8, first line, English; then, on the way out, cells as they are stored and not as they are shown.
CSV_OPTIONS = "44,34,76,1,,1033,false,true,false,false,false"
CSV_OUT = f"csv:Text - txt - csv (StarCalc):{CSV_OPTIONS}"
ALL_SHEETS = ",-1"

PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
  <item oor:path="/org.openoffice.Setup/L10N">
    <prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>%s</value></prop>
  </item>
</oor:items>
"""


def convert(source, target_format, folder, locale, more=()):
  """Writes what becomes of `source` into `folder`, whose parent keeps a profile for each locale."""
  profile = folder.parent / f"profile-{locale}"
  if not profile.exists():
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(PROFILE % locale, encoding="utf-8")
  folder.mkdir(exist_ok=True)
  subprocess.run(["soffice", f"-env:UserInstallation=file://{profile}", "--headless", *more,
                  "--convert-to", target_format, "--outdir", str(folder), str(source)],
                 check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def number(cell, mark="."):
  """The number that a cell holds where `mark` is the decimal mark; None for a text."""
  if not re.fullmatch(rf"[-+]?\d*(\{mark})?\d*([eE][-+]?\d+)?", cell):
    return None
  try:
    return float(cell.replace(mark, "."))
  except ValueError:
    return None


def same(before, after, mark):
  a, b = number(before), number(after, mark)
  if a is None or b is None:
    return a is b and before == after  # A number that has become a text looks the same, and is not.
  return a == b or abs(a - b) <= 1e-12 * abs(a)


def rows(path):
  with open(path, newline="", encoding="utf-8-sig") as file:
    return list(csv.reader(file))


def numbered_rows(path):
  """Each row with the line where it begins: a quoted cell can have several."""
  with open(path, newline="", encoding="utf-8-sig") as file:
    lines = csv.reader(file)
    header = next(lines)
    line = lines.line_num + 1
    for row in lines:
      yield line, dict(zip(header, row))
      line = lines.line_num + 1


def check_csv(source, folder, locale, mark):
  out = folder / f"csv-{locale}"
  convert(source, "xlsx", out, locale, [f"--infilter=CSV:{CSV_OPTIONS}"])
  convert(out / f"{source.stem}.xlsx", CSV_OUT, out, locale)
  before, after = rows(source), rows(out / f"{source.stem}.csv")
  if len(before) != len(after):
    sys.exit(f"{source}, {locale}: {len(before)} lines became {len(after)}")
  cells = 0
  for line, (old, new) in enumerate(zip(before, after), start=1):
    for header, a, b in zip(before[0], old, new + [""] * len(old)):
      if not same(a, b, mark):
        sys.exit(f"{source}, {locale}, line {line}, {header}: '{a}' came back as '{b}'")
      cells += 1
  print(f"{source}, {locale}: {len(before) - 1} rows, {cells} cells, all the same")


def sheets(workbook, folder, locale):
  """Each sheet's rows."""
  out = folder / f"xlsx-{locale}"
  convert(workbook, CSV_OUT + ALL_SHEETS, out, locale)
  return {path.stem[len(workbook.stem) + 1:]: rows(path) for path in sorted(out.glob("*.csv"))}


def check_same_sheets(workbook, english, german):
  cells = 0
  for name, rows_of_sheet in english.items():
    for line, (old, new) in enumerate(zip(rows_of_sheet, german[name], strict=True), start=1):
      for column, (a, b) in enumerate(zip(old, new, strict=True), start=1):
        if not same(a, b, LOCALES["de-DE"]):
          sys.exit(f"{workbook}, {name}, row {line}, column {column}: '{a}' is '{b}' in German")
        if re.match(r"#(N/A|NAME|VALUE|REF|DIV|NUM|NULL)|Err:\d", a):
          sys.exit(f"{workbook}, {name}, row {line}, column {column}: '{a}'")
        cells += 1
  print(f"{workbook}: {len(english)} sheets, {cells} cells, the same in English and German")


def check_rows(workbook, sheet, sources):
  """Columns `source` and `line` of the sheet say where a row comes from."""
  header = sheet[0]
  placed = {(row[header.index("source")], row[header.index("line")]): dict(zip(header, row)) for row in sheet[1:]}
  names = {name for name, _ in placed}
  for source in sources:
    if source.name not in names:
      print(f"{source}: has no rows in {workbook}")
      continue
    cells = 0
    for line, old in numbered_rows(source):
      new = placed.get((source.name, str(line)))
      if new is None:
        sys.exit(f"{workbook}, rows: lacks {source}, line {line}")
      for column, a in old.items():
        # The report writes what older files leave out because there was only this.
        if not same(a, new[column], ".") and not (a == "" and new[column] in ("1", "0", "nn", "asked")):
          sys.exit(f"{workbook}, rows: {source}, line {line}, {column}: '{a}' is '{new[column]}'")
        cells += 1
    print(f"{source}: {cells} cells, all the same in {workbook}")


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("files", nargs="+", type=pathlib.Path, help="CSVs and XLSX files")
  paths = [path.resolve() for path in parser.parse_args().files]
  sources = [path for path in paths if path.suffix != ".xlsx"]
  with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for source in sources:
      for locale, mark in LOCALES.items():
        check_csv(source, folder, locale, mark)
    for workbook in (path for path in paths if path.suffix == ".xlsx"):
      english, german = (sheets(workbook, folder / workbook.stem, locale) for locale in LOCALES)
      check_same_sheets(workbook, english, german)
      check_rows(workbook, english["rows"], sources)


if __name__ == "__main__":
  main()

"""report: turns the CSV files of sweeps into one HTML page, a workbook, and every chart as PNG and SVG.

  bazel run //benchmarks:report -- FILE_OR_FOLDER... [--output=DIR] [--title=TEXT] [--only=html,xlsx,charts]

A folder means the *.csv in it. Writes DIR/report.html, DIR/report.xlsx and DIR/charts/; DIR is `report` unless given. Rows and
files that could not be read are listed on standard error. The exit code is 0, or 2 for bad input, after one line that names
it.
"""

import argparse
import dataclasses
import gc
import os
import pathlib
import signal
import sys

from benchmarks.report.drawing import pictures
from benchmarks.report import page
from benchmarks.report import precisions
from benchmarks.report import results
from benchmarks.report import scaling
from benchmarks.report import sections
from benchmarks.report import studies
from benchmarks.report import thinning
from benchmarks.report import workbook

_PARTS = ("html", "xlsx", "charts")
_MOST_POINTS = 1000  # Of a line in a picture: two for each of the 500 dots of its plot along x.


class _Flags(argparse.ArgumentParser):
  """Reports a mistake in one line."""

  def error(self, message):
    sys.exit(_refused(message))


def main(arguments):
  flags = _parse(arguments)
  gc.disable()  # There are millions of cells and no reference cycles; searching for them takes seconds.
  # Paths are relative to the folder where the user called, not to where Bazel starts programs.
  os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
  try:
    read = results.read_results([file for path in flags.paths for file in results.csv_files(path)])
  except results.ReadError as error:
    return _refused(error)
  for problem in read.problems:
    print(problem, file=sys.stderr)
  try:
    _write(flags, read)
  except OSError as error:
    return _refused(f"--output={flags.output}: cannot be written ({error})")
  return 0


def _parse(arguments):
  parser = _Flags(prog="report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                  allow_abbrev=False)
  parser.add_argument("paths", metavar="FILE_OR_FOLDER", nargs="+", help="CSVs of sweeps, folders of them")
  parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("report"), help="default: report")
  parser.add_argument("--title", metavar="TEXT", help="of the page; default: the machines that were measured")
  parser.add_argument("--only", metavar="PARTS", type=_parts, default=set(_PARTS),
                      help="what to write, separated by commas; default: html,xlsx,charts")
  return parser.parse_args(arguments)


def _parts(words):
  parts = words.split(",")
  unknown = [part for part in parts if part not in _PARTS]
  if unknown:
    raise argparse.ArgumentTypeError(f"'{unknown[0]}' is not one of {', '.join(_PARTS)}")
  return set(parts)


def _refused(reason):
  print(f"report: {reason}", file=sys.stderr)
  return 2


def _write(flags, read):
  """Writes the parts in flags.only and prints what was written. Raises OSError when a file cannot be written."""
  flags.output.mkdir(parents=True, exist_ok=True)
  found = sections.make_sections(read, lambda read: [section for module in (precisions, scaling, studies)
                                                     for section in module.make_sections(read)])

  def write_workbook():
    if "xlsx" in flags.only:
      file = flags.output / "report.xlsx"
      workbook.write_workbook(file, found, read)
      print(file)

  if flags.only == {"xlsx"}:
    write_workbook()
    return
  # The workbook takes about as long as all pictures.
  drawn = [dataclasses.replace(section, figures=[thinning.thinned(figure, _MOST_POINTS) for figure in section.figures])
           for section in found]
  figures = [figure for section in drawn for figure in section.figures]
  drawings = pictures.draw_all(figures, "charts" in flags.only, meanwhile=write_workbook)
  if "html" in flags.only:
    timed = read.rows[read.rows["kernel_ms_median"].notna()]
    title = flags.title or f"Stridewise on {', '.join(sorted(set(timed['machine']) - {''}) or ['the host executor'])}"
    file = flags.output / "report.html"
    file.write_text(page.make_page(title, read, drawn, drawings, "xlsx" in flags.only), encoding="utf-8")
    print(file)
  if "charts" in flags.only:
    folder = flags.output / "charts"
    folder.mkdir(exist_ok=True)
    for slug, picture in drawings.items():
      (folder / f"{slug}.png").write_bytes(picture.png)
      (folder / f"{slug}.svg").write_text(picture.svg, encoding="utf-8")
    print(f"{folder}: {len(drawings)} charts, each as .png and .svg")


if __name__ == "__main__":
  # Neither Ctrl-C nor `report ... | head` ends in a traceback.
  signal.signal(signal.SIGINT, signal.SIG_DFL)
  signal.signal(signal.SIGPIPE, signal.SIG_DFL)
  sys.exit(main(sys.argv[1:]))

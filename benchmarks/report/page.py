"""Writes the report as one self-contained HTML page, without network or scripts. page.html is its template."""

import dataclasses
import numbers
import pathlib

import jinja2
import markupsafe

from benchmarks.report import model
from benchmarks.report import digits
from benchmarks.report.drawing import style

MOST_ROWS = 300  # Of a table on the page; the workbook, if there is one, has all.
_LONG = 40  # Characters; a longer cell may be broken into lines.


@dataclasses.dataclass(frozen=True)
class _Table:
  """A model.Table as text. Cells are (text, their classes in CSS)."""
  slug: str
  title: str
  note: str
  header: list
  rows: list
  left_out: int


@dataclasses.dataclass(frozen=True)
class _Figure:
  slug: str
  title: str
  notes: list
  svg: markupsafe.Markup
  table: _Table


@dataclasses.dataclass(frozen=True)
class _Section:
  slug: str
  title: str
  sentences: list
  figures: list
  tables: list


def make_page(title, results, sections, drawings, has_workbook=True):
  """Returns the page as text. drawings: the pictures.Picture of each figure of the `sections`, by slug. has_workbook: whether
  report.xlsx is written beside the page, so that a shortened table can refer to it."""
  environment = jinja2.Environment(loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent), autoescape=True,
                                   undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
  return environment.get_template("page.html").render(
      title=title, light=style.LIGHT, dark=style.DARK, measured=_table(_measured(results.rows)),
      files=_table(_files(results)), problems=results.problems,
      has_workbook=has_workbook, sections=[_section(section, drawings) for section in sections])


def _section(section, drawings):
  # The SVG was made here and has the data escaped in it: it is markup as it is.
  figures = [_Figure(figure.slug, figure.title, figure.notes, markupsafe.Markup(drawings[figure.slug].page_svg),
                     _table(figure.table())) for figure in section.figures]
  return _Section(section.slug, section.title, section.sentences, figures, [_table(table) for table in section.tables])


def _table(table):
  rows = [[_cell(value) for value in row] for row in table.rows[:MOST_ROWS]]
  # A column with any word is a column of words.
  kinds = ["words" if any(row[index][1] != "number" for row in rows) else "number" for index in range(len(table.columns))]
  return _Table(table.slug, table.title, table.note, list(zip(table.columns, kinds)), rows, len(table.rows) - len(rows))


def _cell(value):
  if isinstance(value, numbers.Real):
    return digits.significant(float(value)), "number"
  text = str(value)
  return text, "words long" if len(text) > _LONG else "words" if text else "number"


def _measured(rows):
  """Returns a table of what was measured where, when and with which versions, with a column for each machine."""
  table = model.Table("measured", "What was measured", ["machine"],
                      [[name] for name in ("CPU", "driver", "CUDA", "dates", "commits", "rows")])
  for machine, of_machine in rows.groupby("machine", sort=True):
    table.columns.append(machine)
    versions = [", ".join(_distinct(of_machine[name])) for name in ("cpu", "driver", "cuda")]
    days = _distinct(of_machine["timestamp_utc"].str[:10])
    cells = [*versions, " to ".join(dict.fromkeys((min(days), max(days)))) if days else "",
             ", ".join(_distinct(of_machine["git_commit"])), _statuses(of_machine)]
    for row, cell in zip(table.rows, cells):
      row.append(cell)
  return table


def _files(results):
  table = model.Table("files", "Files read", ["file", "rows"], [])
  for source, of_file in results.rows.groupby("source", sort=False):
    table.rows.append([source, _statuses(of_file)])
  table.rows.extend([name, "not of a sweep"] for name in results.other_files)
  return table


def _statuses(rows):
  return ", ".join(f"{count} {status}" for status, count in rows["status"].value_counts().items())


def _distinct(words):
  return [word for word in dict.fromkeys(words) if word]

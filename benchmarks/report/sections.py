"""The report's sections: one for each group of rows, with all charts that its data allow, and one for the other tables."""

import concurrent.futures
import itertools
import multiprocessing
import os

from benchmarks.report import chart
from benchmarks.report import charts
from benchmarks.report import conclusions
from benchmarks.report import group as groups
from benchmarks.report import summaries
from benchmarks.report.charts import copy_shares
from benchmarks.report.charts import ladder
from benchmarks.report.charts import rate_by_size

# Of element types other than float.
_FEWER_CHARTS = (rate_by_size, ladder, copy_shares)
# Of fewer rows all groups are made sooner than other processes have begun.
_MANY_ROWS = 20000
_inherited = []  # The groups, in a process of _in_processes().
_OPERATIONS = {"matmul": "Matrix multiplication", "transpose": "Matrix transpose"}


def make_sections(results):
  """The list of Section of a results.Results: machine by machine, products before transposes, float before other types."""
  found = sorted(groups.make_groups(results.rows),
                 key=lambda group: (group.machine, group.operation, group.dtype != "float", group.dtype, group.l2))
  machines = {group.machine for group in found}
  sections = _in_processes(found, len(machines) > 1, len(results.rows) >= _MANY_ROWS)
  tables = summaries.not_measured(results.rows) + summaries.known_tables(results.other_files)
  if tables:
    sections.append(chart.Section("tables", "Tables", [], [], tables))
  return sections


def _in_processes(found, name_machine, many_rows):
  """The Section of each group, of many rows on all cores."""
  workers = min(len(os.sched_getaffinity(0)), len(found))
  if not many_rows or workers < 2:
    return [_section(group, name_machine) for group in found]
  # The groups come with the fork: to send 100,000 rows would take seconds.
  with concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _inherit, (found,)) as pool:
    return list(pool.map(_inherited_section, range(len(found)), itertools.repeat(name_machine)))


def _inherit(found):
  _inherited.extend(found)


def _inherited_section(index, name_machine):
  return _section(_inherited[index], name_machine)


def _section(group, name_machine):
  words = [_OPERATIONS[group.operation], group.dtype] + (["hot L2"] if group.l2 == "hot" else [])
  words += [group.machine] if name_machine else []
  modules = charts.CHARTS if group.dtype == "float" else _FEWER_CHARTS
  figures = [figure for module in modules for figure in module.figures(group)]
  return chart.Section(group.slug("group"), ", ".join(words), conclusions.sentences(group), figures,
                       summaries.of_group(group))

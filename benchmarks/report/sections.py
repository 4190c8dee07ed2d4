"""The report's sections: one for each group of rows, with all charts that its data allow, and one for the other tables."""

import concurrent.futures
import functools
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
# Of fewer rows all sections are made sooner than other processes have begun.
_MANY_ROWS = 20000
_inherited = []  # The jobs, in a process of _in_processes().
_OPERATIONS = {"matmul": "Matrix multiplication", "transpose": "Matrix transpose"}


def make_sections(results, more=lambda results: []):
  """The list of Section of a results.Results: machine by machine, products before transposes, float before other types; then
  those that `more` makes of the same Results."""
  found = sorted(groups.make_groups(results.rows),
                 key=lambda group: (group.machine, group.operation, group.dtype != "float", group.dtype, group.l2))
  machines = {group.machine for group in found}
  jobs_of = [_jobs(group) for group in found]
  jobs = [functools.partial(more, results), *itertools.chain(*jobs_of)]
  done = iter(_in_processes(jobs) if len(results.rows) >= _MANY_ROWS else [job() for job in jobs])
  others = next(done)
  sections = [_section(group, len(machines) > 1, *itertools.islice(done, len(its_jobs)))
              for group, its_jobs in zip(found, jobs_of)]
  tables = summaries.not_measured(results.rows) + summaries.known_tables(results.other_files)
  if tables:
    sections.append(chart.Section("tables", "Tables", [], [], tables))
  return sections + others


def _in_processes(jobs):
  """What each of the jobs returns, on all cores."""
  workers = min(len(os.sched_getaffinity(0)), len(jobs))
  # The jobs come with the fork: to send 100,000 rows would take seconds.
  with concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _inherit, (jobs,)) as pool:
    return list(pool.map(_inherited_job, range(len(jobs))))


def _inherit(jobs):
  _inherited.extend(jobs)


def _inherited_job(index):
  return _inherited[index]()


def _jobs(group):
  """What makes a section: functions that return its sentences, its tables, and figures."""
  modules = charts.CHARTS if group.dtype == "float" else _FEWER_CHARTS
  return [functools.partial(make, group)
          for make in (conclusions.sentences, summaries.of_group, *(module.figures for module in modules))]


def _section(group, name_machine, sentences, tables, *figures):
  """Of what the group's jobs returned; `figures` is a list of each module's."""
  words = [_OPERATIONS[group.operation], group.dtype] + (["hot L2"] if group.l2 == "hot" else [])
  words += [group.machine] if name_machine else []
  return chart.Section(group.slug("group"), ", ".join(words), sentences, list(itertools.chain(*figures)), tables)

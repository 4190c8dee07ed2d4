"""The sections of the report: one for each group of rows, with the charts that its data allow, and one for other tables."""

import concurrent.futures
import functools
import itertools
import multiprocessing
import os

from benchmarks.report import beside_cpu
from benchmarks.report import model
from benchmarks.report import charts
from benchmarks.report import conclusions
from benchmarks.report import group as groups
from benchmarks.report import summaries
from benchmarks.report.charts import copy_shares
from benchmarks.report.charts import ladder
from benchmarks.report.charts import rate_by_size

# The charts of element types other than float.
_FEWER_CHARTS = (rate_by_size, ladder, copy_shares)
# With fewer rows, all sections are made sooner than other processes could start.
_MANY_ROWS = 20000
_inherited = []  # The jobs, in a process of _in_processes().


def make_sections(results, more=lambda results: []):
  """Returns the model.Sections of a results.Results, sorted by machine, operation and type with float first, then those that
  `more` makes of the same Results."""
  found = sorted(groups.make_groups(results.rows),
                 key=lambda group: (group.machine, group.operation.name, group.dtype != "float", group.dtype, group.l2))
  machines = {group.machine for group in found}
  jobs_of = [_jobs(group) for group in found]
  jobs = [functools.partial(more, results), *itertools.chain(*jobs_of)]
  done = iter(_in_processes(jobs) if len(results.rows) >= _MANY_ROWS else [job() for job in jobs])
  others = next(done)
  sections = [_section(group, len(machines) > 1, *itertools.islice(done, len(its_jobs)))
              for group, its_jobs in zip(found, jobs_of)]
  tables = summaries.not_measured(results.rows) + summaries.known_tables(results.other_files)
  if tables:
    sections.append(model.Section("tables", "Tables", [], [], tables))
  return sections + others


def _in_processes(jobs):
  """Runs the jobs on all cores and returns the list of their results."""
  workers = min(len(os.sched_getaffinity(0)), len(jobs))
  # The processes inherit the jobs by the fork; sending 100,000 rows to them would take seconds.
  with concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _inherit, (jobs,)) as pool:
    return list(pool.map(_inherited_job, range(len(jobs))))


def _inherit(jobs):
  _inherited.extend(jobs)


def _inherited_job(index):
  return _inherited[index]()


def _jobs(group):
  """Returns the functions that make a section: its sentences, its tables, and then its figures."""
  modules = charts.CHARTS if group.dtype == "float" else _FEWER_CHARTS
  return [functools.partial(make, group)
          for make in (conclusions.sentences, _tables, *(module.figures for module in modules))]


def _tables(group):
  return summaries.of_group(group) + beside_cpu.tables(group)


def _section(group, name_machine, sentences, tables, *figures):
  """Makes a model.Section of the results of the group's jobs; `figures` holds the list of each module."""
  words = [group.operation.title, group.dtype] + (["hot L2"] if group.l2 == "hot" else [])
  words += [group.machine] if name_machine else []
  return model.Section(group.slug("group"), ", ".join(words), sentences, list(itertools.chain(*figures)), tables)

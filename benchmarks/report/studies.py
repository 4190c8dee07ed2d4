"""The transpose studies and the matmul assignment that the project began with: their figures beside ours.

Each study has a section if the results hold rows of its configurations: implementation, shape, element type and block.
"""

import math

import pandas

from benchmarks.report import model, study_data, study_matmul, study_memory, study_text
from benchmarks.report.study_pairs import StudyTable, block_text, make_pairs

_SWEEP = "bazel run //benchmarks:transpose_sweep -- --preset="

STUDIES = {"000": "First transpose study", "001": "Second transpose study", "002": "Third transpose study",
           "003": "Fourth transpose study"}

TABLES = (
    StudyTable("000", "times", "each kernel, and the best block", "naive_row", (16, 16), f"{_SWEEP}study_000",
               note="Their times are shorter than this board needs for this matrix: see docs/studies/transpose_jetson_nano.md."),
    StudyTable("000", "bounds", "the copies that bound every transpose", "copy_row", None, f"{_SWEEP}study_000"),
    StudyTable("001", "times", "naive, square and rectangular tiles", "copy_shared_square", (32, 32), f"{_SWEEP}study_001",
               note="The study gives no figures; the shape is that of the preset."),
    StudyTable("002", "times", "all kernels, with blocks of 16x16 and 8x32", "copy_row", None, f"{_SWEEP}study_002",
               note="With 8x32 blocks their diagonal kernels skip 3/4 of the matrix: see docs/studies/transpose_rtx_3080.md."),
    StudyTable("002", "times_l1_off", "the naive kernels without L1", "naive_row", None,
               "mkdir -p other_builds; bazel run --config=dlcm_cg //benchmarks:transpose_sweep -- --preset=study_002 "
               "--csv=other_builds/study_002_dlcm_cg.csv",
               note="Ours come from files with dlcm_cg in their names, as rows do not say how the program was built."),
    StudyTable("002", "thin_blocks", "blocks from 8x8 to 32x32 for naive_col", "naive_col", (16, 16),
               f"{_SWEEP}thin_blocks"),
    StudyTable("003", "times", "from host to host", "naive_row", (32, 32), f"{_SWEEP}study_003", time="total_ms",
               note="Times are those of a whole call with its copies: total_ms of ours, a hundredth of 100 iterations of theirs. "
                    "Theirs are shorter than that could take: see docs/studies/transpose_gtx_770m.md. Their GB/s, as "
                    "printed, are GiB/s."),
)

PAGES_ONLY = ("hardware", "timeline", "largest")  # Tables of studies.csv that docs/studies/ alone shows.

# The columns of a table of times, each a word, a number or NaN of a Pair. Columns without any value are omitted.
_COLUMNS = {
    "implementation": lambda pair: pair.theirs["implementation"],
    "shape": lambda pair: f"{pair.theirs['rows']:.0f}x{pair.theirs['cols']:.0f} {pair.theirs['dtype']}",
    "block": lambda pair: block_text(pair.theirs),
    "their device": lambda pair: pair.theirs["device"],
    "their ms": lambda pair: pair.theirs["ms"],
    "their GB/s": lambda pair: pair.their_speed if math.isnan(pair.theirs["gbps"]) else pair.theirs["gbps"],
    "their % of peak": lambda pair: pair.theirs["pct_of_peak"],
    "their % of own {}": lambda pair: pair.their_share,
    "their gain over the row before": lambda pair: pair.theirs["speedup_vs_previous"],
    "their gain over the CPU": lambda pair: pair.theirs["speedup_vs_cpu"],
    "our device": lambda pair: "" if pair.ours is None else pair.ours["device"] or pair.ours["cpu"],
    "our ms": lambda pair: pair.our_ms,
    "our GB/s": lambda pair: pair.our_speed,
    "our % of peak": lambda pair: pair.our("pct_of_peak"),
    "our % of own {}": lambda pair: pair.our_share,
    "our % of a vectorised copy": lambda pair: pair.our("pct_of_copy"),
    "our gain over the row before": lambda pair: pair.our_step,
    "our gain over the CPU": lambda pair: pair.our_gain,
    "our speed over theirs": lambda pair: pair.our_speed / pair.their_speed,
    "remark": lambda pair: pair.theirs["remark"],
}
_OF_KERNELS = ("our % of peak", "our % of a vectorised copy")  # Not for times of whole calls.
_OF_LADDERS = ("our gain over the row before", "our gain over the CPU")  # Only where the study has them too.


def make_sections(results):
  """Returns a list of model.Section; studies without a row of their configurations in `results` are omitted."""
  figures = study_data.read_studies()
  figures = figures[~figures["table"].isin(PAGES_ONLY)]
  machines = study_data.by_machine(results.rows, set(figures["implementation"]) | set(figures["compared_with"]))
  sections = [_section(study, figures[figures["study"] == study], machines) for study in STUDIES]
  sections.append(study_matmul.make_section(figures[figures["study"] == "matmul"], machines))
  return [section for section in sections if section is not None]


def _section(study, rows, machines):
  pairs_of = {table: make_pairs(table, rows[rows["table"] == table.table], machines)
              for table in TABLES if table.study == study}
  memory = study_memory.make_memory(study, rows, machines)
  if all(pair.ours is None for pairs in pairs_of.values() for pair in pairs) and not (memory and memory.has_ours):
    return None
  title, devices = STUDIES[study], [device for device in rows["device"].unique() if device]
  sentences = [sentence for table, pairs in pairs_of.items() for sentence in study_text.sentences(table, pairs)]
  figures = [figure for table, pairs in pairs_of.items() for figure in _share_chart(title, table, pairs)]
  tables = [_times_table(title, table, pairs) for table, pairs in pairs_of.items()]
  if memory:
    sentences += memory.sentences
    tables.append(model.Table(memory.slug, f"{title}: what each kernel does to memory", memory.columns, memory.rows,
                              memory.note))
  heading = f"{title}{f' ({devices[0]})' if devices else ''}: their figures beside ours"
  return model.Section(f"study-{study}", heading, sentences, figures, tables)


def _times_table(title, table, pairs):
  left_out = () if table.time == "kernel_ms_median" else _OF_KERNELS
  if all(math.isnan(pair.theirs["speedup_vs_cpu"]) for pair in pairs):
    left_out += _OF_LADDERS
  cells = {name.format(table.yardstick_text()): [cell(pair) for pair in pairs]
           for name, cell in _COLUMNS.items() if name not in left_out}
  cells = {name: values for name, values in cells.items() if not all(_is_nothing(value) for value in values)}
  missing = sum(pair.ours is None for pair in pairs)
  note = [table.note] if table.note else []
  if missing:
    note.append(f"For {missing} of these {len(pairs)} rows the files have none of ours; `{table.command}` measures them.")
  return model.Table(table.slug(), f"{title}: {table.title}", list(cells), [list(row) for row in zip(*cells.values())],
                     " ".join(note))


def _is_nothing(value):
  return value == "" or (isinstance(value, float) and math.isnan(value))


def _share_chart(title, table, pairs):
  """Returns a chart with bars of theirs and of each machine of ours; none with fewer than two bars of ours."""
  ours = [pair for pair in pairs if not math.isnan(pair.our_share)]
  if len(ours) < 2:
    return []
  names = list(dict.fromkeys(pair.name() for pair in pairs))
  series = []
  if not all(math.isnan(pair.their_share) for pair in pairs):
    theirs = {pair.name(): pair.their_share for pair in pairs}
    series.append(model.Series(f"theirs ({pairs[0].theirs['device']})", names, [theirs[name] for name in names]))
  for machine in dict.fromkeys(pair.machine for pair in ours):
    of_machine = {pair.name(): pair for pair in ours if pair.machine == machine}
    shares, low, high = ([of_machine[name].our_share_at(column) if name in of_machine else math.nan for name in names]
                         for column in (table.time, "kernel_ms_ci_high", "kernel_ms_ci_low"))
    # Times of whole calls have no interval.
    spread = (low, high) if table.time == "kernel_ms_median" else ()
    series.append(model.Series(f"ours ({machine})", names, shares, *spread))
  yardstick = table.yardstick_text()
  shape = f"{pairs[0].theirs['rows']:.0f} x {pairs[0].theirs['cols']:.0f}"
  notes = [f"Each side's speed in percent of its own {yardstick}, which leaves only the differences between kernels."]
  notes += [table.note] if table.note else []
  return [model.Chart(f"{table.slug()}-shares", f"{title}, {table.title}, {shape}",
                      study_data.where_and_when(pandas.DataFrame([pair.ours for pair in ours])), model.Kind.BARS,
                      model.Axis("kernel and block"), model.Axis(f"speed (% of own {yardstick})"), series, notes=notes)]

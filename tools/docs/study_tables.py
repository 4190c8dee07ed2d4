"""Fills the tables of docs/studies/: what a document printed beside what was measured here.

  <!-- study 002 table times beside results/h200/transpose_study_002.csv; columns ms: kernel_ms_median, gbps, pct_of_peak -->
  <!-- end of table -->

The rows are those of the study and the table in results/studies.csv, in its order. Behind the name of the table, `blocks 16x16`
takes only these blocks (several are separated by `|`), and `at 4096` puts our rows of that size beside those of the document.

A column of the marker makes two of the table, the document's and ours, and has one of these forms:

  NAME                     the same column of both CSVs
  NAME: OURS               with another name in ours; without OURS only the document's
  : OURS                   only ours
  NAME: OURS % of KERNEL   the time of that kernel with the same block, in percent of this row's time
  NAME: step OURS          ours is the time of the row before over the time of this row
  NAME: gain OURS          ours is the time of the first row over the time of this row
  remark                   the document's remarks

Two columns are computed: `load_gbps` and `store_gbps` of ours are 32-byte sectors over the time, and `all_ms` of the document
is the time of all iterations.
"""

import re

from tools.docs import results, tables

MARKER = re.compile(
    r"(<!-- study (?P<study>\w+) table (?P<table>\w+)(?: blocks (?P<blocks>[\dx|]+))?(?: at (?P<size>\d+))?"
    r" beside (?P<path>[^ ;]+); columns (?P<columns>[^;>]+) -->\n).*?(?P<end><!-- end of table -->)", re.S)

SHARE = re.compile(r" % of (?P<kernel>\w+)$")
SECTOR_BYTES = 32


def block(row):
  return "x".join(filter(None, (row["block_x"], row["block_y"])))


def number(row, name):
  """The value of a column, stored or computed; None where there is none."""
  if row is None:
    return None
  if name in ("load_gbps", "store_gbps") and name not in row:
    sectors, ms = number(row, name.replace("gbps", "transactions")), number(row, "kernel_ms_median")
    return sectors * SECTOR_BYTES / ms / 1e6 if sectors and ms else None
  if name == "all_ms":
    ms = number(row, "ms")
    return ms and ms * float(row["iterations"] or 1)
  if name not in row:
    raise results.PageError(f"no column {name}")
  return results.number(row[name])


def ratio(above, below):
  return above / below if above and below else None


def values(rows, name, kernel):
  """The column of a table for the rows of one side, None where a row is missing."""
  kind, _, column = name.rpartition(" ")
  times = [number(row, column) for row in rows]
  if kernel:
    others = {block(row): number(row, column) for row in rows if row and row["implementation"] == kernel}
    shares = [row and ratio(others.get(block(row)), time) for row, time in zip(rows, times)]
    return [share and 100 * share for share in shares]
  if kind == "step":
    return [ratio(before, time) for before, time in zip([None] + times, times)]
  if kind == "gain":
    return [None] + [ratio(times[0], time) for time in times[1:]]
  return times


def both_columns(spec, theirs, ours):
  """[(heading, values)] of one column of the marker."""
  share = SHARE.search(spec)
  their_name, colon, our_name = (part.strip() for part in SHARE.sub("", spec).partition(":"))
  kernel = share and share["kernel"]
  found = []
  for whose, name, rows in (("their", their_name, theirs), ("our", our_name if colon else their_name, ours)):
    if name:
      words = their_name if their_name and name.startswith(("step ", "gain ")) else name
      heading = f"{whose} % of {kernel}" if kernel else f"{whose} {words}"
      found.append((heading, ["" if value is None else tables.rounded(f"{value:.12g}")
                              for value in values(rows, name, kernel)]))
  return found


def study_table(docs, match):
  """The Markdown that a marker asks for."""
  blocks = match["blocks"] and match["blocks"].split("|")
  theirs = [row for row in results.read(docs / "results/studies.csv")
            if row["study"] == match["study"] and row["table"] == match["table"] and (not blocks or block(row) in blocks)]

  def key(row, size):
    return (row["implementation"], size or row["rows"], size or row["cols"], block(row))

  found = {key(row, None): row for row in results.read(docs / match["path"])
           if row["status"] == "ok" and not row["batch"]}
  ours = [found.get(key(row, match["size"])) for row in theirs]
  if not any(ours):
    raise results.PageError(f"{match['path']} has no row of this study")
  columns = [("kernel", [row["implementation"] for row in theirs]), ("block", [block(row) for row in theirs])]
  for spec in map(str.strip, match["columns"].split(",")):
    columns += ([("remark", [row["remark"] for row in theirs])] if spec == "remark" else both_columns(spec, theirs, ours))
  headings = [heading for heading, _ in columns]
  is_text = [heading in ("kernel", "block", "remark") for heading in headings]
  return match[1] + tables.markdown(headings, is_text, zip(*(cells for _, cells in columns))) + match["end"]


MAKERS = ((MARKER, study_table),)

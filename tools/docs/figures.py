"""Fills the figures of a page's sentences, and finds measured figures that have no source.

A figure is a link whose text has one number and whose title says where the number comes from:

  [1.036](results/h200/matmul_between.csv "vs_cublas; where implementation=auto, rows=576")
  [4294 GB/s](results/h200/ceilings.csv "max gbps; where rows=16384")

The number is filled with the decimals that it has; unit and other words stay. tools/docs/values.py has the grammar of a
title. The text of a link to a CSV with the title `commit` or `commit; where CONDITIONS` becomes the commit, or the
commits, at which its rows were measured. The title of a link to anywhere may also be

  computed: ARITHMETIC     numbers, + - * / ** and parentheses; filled and checked too
  given: WORDS             a figure of a data sheet, a document or a setting, which the link leads to; not checked

A measured figure is a number with a decimal point, or a number before a unit of time, rate, power or frequency, before
%, before `times as`, `times faster`, `times the speed` and the like, before `of the peak`, `of cuBLAS`, `of memcpy`,
`of a copy` and the like, or behind `factor of`. It must be marked, in text and in tables that are written by hand. No
figures are: code, headings, comments, names of versions (`CUDA 13.0`, `compute capability 9.0`), numbers of bytes,
threads, elements or operations, and the 95 % of confidence intervals.
"""

import re

from tools import docs_links
from tools.docs import results, study_tables, tables, values

LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<path>[^()\s]*)\s+\"(?P<title>[^\"]*)\"\)")
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"

UNIT = (r"(?:(?:%|percent|(?:(?:milli|micro|nano)?seconds|minutes|ms|us|ns|s|[GT]i?B/s|[GT]FLOP/s|W|[MG]Hz"
        r"|(?:percentage )?points|times (?:as|that|longer|faster|slower|more|less|(?:the|its) (?:speed|time|rate|bandwidth))"
        r"|of (?:cuBLAS|memcpy|Eigen|(?:a|the) copy|(?:the|its) (?:peak|speed|bound)))\b))")
GAP = r"\**[ \n]*"
MARKED, HIDDEN = "\ue000", "\ue001"  # Stand for the characters of a figure with a source, of a link's target.
MEASURED = re.compile(
    rf"(?<![\w.,:/^#-])(?<!-\d)(?P<first>{NUMBER})(?:{GAP}(?:to|and|or|x){GAP}{NUMBER})?{GAP}{UNIT}"
    rf"|(?<![\w.,:/^-])(?P<range>{NUMBER}){GAP}to{GAP}{MARKED}"
    rf"|factors? of (?:up to |about )?{GAP}(?P<factor>\d[\d.,]*)"
    r"|(?<![\w.:/-])(?P<decimal>\d+\.\d+)(?!\.?\w|-)")
NO_FIGURE = re.compile(
    r"(?:CUDA|capability|capabilities|[Vv]ersions?|Bazel|nvcc|Debian|Apache-|Express)[ \n]\**\d+\.\d+"
    r"|95 %[ \n](?:confidence|interval)|95 % of confidence|\b10\.\d{4,}/\S+|\barXiv[: ]\S+")


def is_figure(link):
  return link["path"].endswith(".csv") or re.match(r"(?:computed|given):", link["title"]) is not None


def filled_text(folder, link):
  """The text of a figure's link, with the number that its title names."""
  title = " ".join(link["title"].split())
  numbers = list(re.finditer(rf"[-\u2212]?{NUMBER}", link["text"]))
  kind, _, words = title.partition(":")
  if kind == "given":
    if not words.strip():
      raise results.PageError("given: by what?")
    return link["text"]
  if title.partition(";")[0] == "commit":
    return values.commits(folder / link["path"], title)
  if len(numbers) != 1:
    raise results.PageError(f"{len(numbers)} numbers in the text, not one")
  number = values.computed(words.strip()) if kind == "computed" else values.from_csv(folder / link["path"], title)
  written = numbers[0]
  decimals = len(written[0].partition(".")[2])
  comma = "," if "," in written[0] else ""
  return link["text"][:written.start()] + f"{number:{comma}.{decimals}f}" + link["text"][written.end():]


def figures(text):
  """The links of a text that are figures."""
  code = docs_links.without_code(text)
  return [link for link in LINK.finditer(text) if code[link.start()] == "[" and is_figure(link)]


def filled(folder, text):
  """(the text with all figures filled, [(offset, what is wrong)]); the folder is that of the page."""
  wrong = []
  for link in reversed(figures(text)):
    try:
      text = text[:link.start("text")] + filled_text(folder, link) + text[link.end("text"):]
    except results.PageError as error:
      wrong.append((link.start(), f"[{link['text']}]: {error}"))
  return text, wrong


def unmarked(text):
  """(offset, figure) of each measured figure that has no source."""
  def masked(found, by):
    return re.sub(r"[^\n]", by, found[0])

  for link in figures(text):
    text = text[:link.start()] + masked(link, MARKED) + text[link.end():]
  for pattern, _ in tables.MAKERS + study_tables.MAKERS:
    text = pattern.sub(lambda table: docs_links.masked(table[0]), text)
  text = docs_links.HEADING.sub(lambda heading: docs_links.masked(heading[0]), docs_links.without_code(text))
  for pattern in (docs_links.INLINE, docs_links.REFERENCE, docs_links.HTML, NO_FIGURE, re.compile(r"https?://\S+")):
    text = pattern.sub(lambda found: masked(found, HIDDEN), text)
  return [(found.start(found.lastgroup), re.sub(rf"[\s{MARKED}]+", " ", found[0]).strip())
          for found in MEASURED.finditer(text)]

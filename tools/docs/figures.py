"""Fills the figures of a page's sentences, and finds measured figures that have no source.

A figure is a link whose text has one number and whose title says where the number comes from:

  [1.036](results/h200/matmul_between.csv "vs_cublas; where implementation=auto, rows=576")
  [4294 GB/s](results/h200/ceilings.csv "max gbps; where rows=16384")

The number is filled with the decimals that it has; unit and other words stay. The title of a link to a CSV is

  VALUE; where CONDITIONS
  VALUE; where CONDITIONS; over VALUE in OTHER.csv; where CONDITIONS

where a VALUE is `COLUMN` or `COLUMN / COLUMN` of the one row for which the conditions hold (of several rows that agree,
any), `min`, `max`, `sum`, `mean`, `median` or `geomean` of it over these rows, or `count`, their number. CONDITIONS are
those of tables and may be left out. `over` divides by a second value, of the same file without `in`. If only the first
value has min, max, median or geomean, it is that of the ratios of rows of the same problem.
`percent`, `percent_less` (1 - x), `percent_more` (x - 1), `percent_apart` (their size) or `times NUMBER` before all of it
scales the result.

The title of a link to anywhere may also be

  computed: ARITHMETIC     numbers, + - * / ** and parentheses; filled and checked too
  given: WORDS             a figure of a data sheet, a document or a setting, which the link leads to; not checked

A measured figure is a number with a decimal point, or a number before a unit of time, rate, power or frequency, before
%, before `times as`, `times the` and the like, before `of the peak`, `of cuBLAS`, `of memcpy`, `of a copy` and the like,
or behind `factor of`. It must be marked, in text and in tables that are written by hand. No figures are: code, headings,
comments, names of versions (`CUDA 13.0`, `compute capability 9.0`), numbers of bytes, threads, elements or operations,
and the 95 % of confidence intervals.
"""

import ast
import math
import operator
import re
import statistics

from tools import docs_links
from tools.docs import results, tables

LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<path>[^()\s]*)\s+\"(?P<title>[^\"]*)\"\)")
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
VALUE = re.compile(r"(?:(?P<how>min|max|sum|mean|median|geomean) )?(?P<column>\w+)(?: / (?P<divisor>\w+))?")
SCALE = re.compile(r"(?:(?P<scale>percent|percent_less|percent_more|percent_apart|times (?P<factor>[\d.e+-]+)) )?(?P<value>.+)")
PARTS = re.compile(r"(?P<value>[^;]+)(?:; where (?P<where>.+?))?"
                   r"(?:; over (?P<over>[^;]+?)(?: in (?P<path>[^;\s]+))?(?:; where (?P<over_where>.+))?)?")
HOW = {"min": min, "max": max, "sum": sum, "mean": statistics.fmean, "median": statistics.median,
       "geomean": lambda values: math.exp(statistics.fmean(map(math.log, values)))}
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.Pow: operator.pow}
PROBLEM = ("rows", "cols", "depth", "dtype", "batch", "layout")

UNIT = (r"(?:(?:%|percent|(?:(?:milli|micro|nano)?seconds|minutes|ms|us|ns|s|[GT]i?B/s|[GT]FLOP/s|W|[MG]Hz"
        r"|(?:percentage )?points|times (?:as|the|that|longer|faster|slower|more|less|its)"
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


def value_of(expression, rows):
  """The numbers of a VALUE in each row, and how to reduce them (None: there must be one)."""
  match = VALUE.fullmatch(expression)
  if not match:
    raise results.PageError(f"not a value: {expression}")
  numbers = []
  for row in rows:
    cells = []
    for column in filter(None, (match["column"], match["divisor"])):
      if column not in row:
        raise results.PageError(f"no column {column}")
      cell = results.number(row[column])
      if cell is None:
        raise results.PageError(f"{column} is {row[column] or 'empty'}, not a number")
      cells.append(cell)
    numbers.append(cells[0] / cells[1] if match["divisor"] else cells[0])
  return numbers, HOW.get(match["how"])


def reduced(expression, rows):
  if expression == "count":
    return len(rows)
  if not rows:
    raise results.PageError("no rows")
  numbers, how = value_of(expression, rows)
  if how:
    return how(numbers)
  if len(set(numbers)) > 1:
    raise results.PageError(f"{len(rows)} rows, whose values differ: add conditions")
  return numbers[0]


def problem(row):
  return tuple(row.get(column, "") for column in PROBLEM)


def ratio(expression, rows, over, divisors):
  """The quotient of two values; a reduction of the quotients of the same problems, if only the first has one."""
  reduces = [bool(HOW.get(part.split(" ")[0])) for part in (expression, over)]
  if reduces != [True, False] or over == "count":
    divisor = reduced(over, divisors)
    if not divisor:
      raise results.PageError("division by zero")
    return reduced(expression, rows) / divisor
  by_problem = {}
  for row, divisor in zip(divisors, value_of(over, divisors)[0]):
    if by_problem.setdefault(problem(row), divisor) != divisor:
      raise results.PageError(f"several rows to divide by for {'x'.join(filter(None, problem(row)))}: add conditions")
  numbers, how = value_of(expression, rows)
  pairs = [(number, by_problem[problem(row)]) for row, number in zip(rows, numbers) if problem(row) in by_problem]
  if not pairs:
    raise results.PageError("no rows of the same problem")
  return how([number / divisor for number, divisor in pairs])


def from_csv(path, title):
  """The number that a title selects from the CSV."""
  scale = SCALE.fullmatch(title)
  parts = PARTS.fullmatch(scale["value"])
  if not parts:
    raise results.PageError("not of the form VALUE; where CONDITIONS; over VALUE; where CONDITIONS")
  rows = results.select(results.read(path), parts["where"] or "")
  if parts["over"]:
    other = path.parent / parts["path"] if parts["path"] else path
    number = ratio(parts["value"], rows, parts["over"], results.select(results.read(other), parts["over_where"] or ""))
  else:
    number = reduced(parts["value"], rows)
  return {None: number, "percent": 100 * number, "percent_less": 100 * (1 - number),
          "percent_more": 100 * (number - 1), "percent_apart": 100 * abs(number - 1)}.get(scale["scale"], number * float(scale["factor"] or 1))


def computed(text):
  """The value of an arithmetic expression."""
  def value(node):
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
      return ARITHMETIC[type(node.op)](value(node.left), value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
      return -value(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
      return node.value
    raise results.PageError(f"not arithmetic: {text}")
  try:
    return value(ast.parse(text, mode="eval").body)
  except (SyntaxError, ArithmeticError):
    raise results.PageError(f"not arithmetic: {text}") from None


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
  if len(numbers) != 1:
    raise results.PageError(f"{len(numbers)} numbers in the text, not one")
  number = computed(words.strip()) if kind == "computed" else from_csv(folder / link["path"], title)
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
  for pattern in (tables.TABLE, tables.STUDY):
    text = pattern.sub(lambda table: docs_links.masked(table[0]), text)
  text = docs_links.HEADING.sub(lambda heading: docs_links.masked(heading[0]), docs_links.without_code(text))
  for pattern in (docs_links.INLINE, docs_links.REFERENCE, docs_links.HTML, NO_FIGURE, re.compile(r"https?://\S+")):
    text = pattern.sub(lambda found: masked(found, HIDDEN), text)
  return [(found.start(found.lastgroup), re.sub(rf"[\s{MARKED}]+", " ", found[0]).strip())
          for found in MEASURED.finditer(text)]

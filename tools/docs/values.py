"""Evaluates the title of a figure: which number of which CSV it names.

The title of a link to a CSV is

  VALUE; where CONDITIONS
  VALUE; where CONDITIONS; over VALUE in OTHER.csv; where CONDITIONS

where a VALUE is `COLUMN` or `COLUMN / COLUMN` of the one row for which the conditions hold (of several rows that agree,
any), `min`, `max`, `sum`, `mean`, `median` or `geomean` of it over these rows, or `count`, their number. CONDITIONS are
those of tables and may be left out: COLUMN=VALUE|VALUE, COLUMN>=NUMBER, COLUMN<=NUMBER, COLUMN==COLUMN, separated by
commas. `over` divides by a second value, of the same file without `in`. If only the first value has min, max, median or
the like, it is that of the ratios of rows of the same problem; `crossover COLUMN` is then the smallest `rows` from
which on the ratio is below 1 at every size. `percent`, `percent_less` (1 - x), `percent_more` (x - 1), `percent_apart`
(their size) or `times NUMBER` before all of it scales the result. Less and more are refused below 0, as after a
measurement that reverses them: the sentence around the figure says the opposite then.
"""

import ast
import math
import operator
import re
import statistics

from tools.docs import results

VALUE = re.compile(r"(?:(?P<how>min|max|sum|mean|median|geomean|crossover) )?(?P<column>\w+)(?: / (?P<divisor>\w+))?")
SCALE = re.compile(
    r"(?:(?P<scale>percent|percent_less|percent_more|percent_apart|times (?P<factor>[\d.e+-]+)) )?(?P<value>.+)")
PARTS = re.compile(r"(?P<value>[^;]+)(?:; where (?P<where>.+?))?"
                   r"(?:; over (?P<over>[^;]+?)(?: in (?P<path>[^;\s]+))?(?:; where (?P<over_where>.+))?)?")
HOW = {"min": min, "max": max, "sum": sum, "mean": statistics.fmean, "median": statistics.median,
       "geomean": statistics.geometric_mean}
PERCENT = {"percent": lambda x: x, "percent_less": lambda x: 1 - x, "percent_more": lambda x: x - 1,
           "percent_apart": lambda x: abs(1 - x)}
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.Pow: operator.pow}
PROBLEM = ("rows", "cols", "depth", "dtype", "batch", "layout", "permutation", "precision", "epilogue")


def parsed(expression):
  match = VALUE.fullmatch(expression)
  if not match:
    raise results.PageError(f"not a value: {expression}")
  return match


def cells(value, row):
  """The number of a VALUE in one row."""
  numbers = []
  for column in filter(None, (value["column"], value["divisor"])):
    if column not in row:
      raise results.PageError(f"no column {column}")
    numbers.append(results.number(row[column]))
    if numbers[-1] is None:
      raise results.PageError(f"{column} is {row[column] or 'empty'}, not a number")
  return numbers[0] / numbers[1] if value["divisor"] else numbers[0]


def reduced(expression, rows):
  """The number of a VALUE over rows."""
  if expression == "count":
    return len(rows)
  value = parsed(expression)
  if not rows:
    raise results.PageError("no rows")
  numbers = [cells(value, row) for row in rows]
  if value["how"] == "crossover":
    raise results.PageError("crossover of what? There is no over")
  if value["how"]:
    return HOW[value["how"]](numbers)
  if len(set(numbers)) > 1:
    raise results.PageError(f"{len(rows)} rows, whose values differ: add conditions")
  return numbers[0]


def crossover(quotients):
  """The smallest `rows` from which on all quotients are below 1, of (row, quotient)."""
  last = max((int(row["rows"]) for row, quotient in quotients if quotient >= 1), default=-1)
  faster = [int(row["rows"]) for row, _ in quotients if int(row["rows"]) > last]
  if not faster:
    raise results.PageError("the ratio is not below 1 at the largest size")
  return min(faster)


def of_each_problem(value, rows, divisor, divisors):
  """The reduction of the quotients of rows of the same problem."""
  def problem(row):
    return tuple(row.get(column, "") for column in PROBLEM)

  by_problem = {}
  for row in divisors:
    number = cells(divisor, row)
    if by_problem.setdefault(problem(row), number) != number:
      raise results.PageError(f"several rows to divide by for {'x'.join(filter(None, problem(row)))}: add conditions")
  quotients = [(row, cells(value, row) / by_problem[problem(row)]) for row in rows if problem(row) in by_problem]
  if not quotients:
    raise results.PageError("no rows of the same problem")
  if value["how"] == "crossover":
    return crossover(quotients)
  return HOW[value["how"]]([quotient for _, quotient in quotients])


def ratio(expression, rows, over, divisors):
  if "count" not in (expression, over) and parsed(expression)["how"] and not parsed(over)["how"]:
    return of_each_problem(parsed(expression), rows, parsed(over), divisors)
  return reduced(expression, rows) / reduced(over, divisors)


def from_csv(path, title):
  """The number that a title names in the CSV."""
  scale = SCALE.fullmatch(title)
  parts = PARTS.fullmatch(scale["value"]) if scale else None
  if not parts:
    raise results.PageError("not of the form VALUE; where CONDITIONS; over VALUE; where CONDITIONS")
  rows = results.select(results.read(path), parts["where"] or "")
  try:
    if parts["over"]:
      other = results.read(path.parent / parts["path"] if parts["path"] else path)
      number = ratio(parts["value"], rows, parts["over"], results.select(other, parts["over_where"] or ""))
    else:
      number = reduced(parts["value"], rows)
  except ZeroDivisionError:
    raise results.PageError("division by zero") from None
  if scale["scale"] in PERCENT:
    percent = 100 * PERCENT[scale["scale"]](number)
    if percent < 0:
      raise results.PageError(f"{scale['scale']} is {percent:.2g} %: the sentence says the opposite of the file")
    return percent
  return number * float(scale["factor"] or 1)


def commits(path, title):
  """The first seven digits of the commits at which the rows were measured that a title selects, in their order."""
  parts = PARTS.fullmatch(title)
  if not parts or parts["over"]:
    raise results.PageError("not of the form commit; where CONDITIONS")
  rows = results.select(results.read(path), parts["where"] or "")
  found = [re.fullmatch(r"g?(?P<digits>[0-9a-f]{7})[0-9a-f]*(?:-dirty)?", row.get("git_commit", "")) for row in rows]
  if not found or None in found:
    raise results.PageError("no rows" if not rows else "a row without its git_commit")
  return " and ".join(dict.fromkeys(commit["digits"] for commit in found))


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

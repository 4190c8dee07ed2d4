"""The mistakes that tools/mutate_kernels.py plants in kernels: all mutants of a source, each with one change."""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ["transpose", "matmul"]

# An operand and a comparison, as bounds checks are made of.
TERM = r"[\w.]+(?: \+ [\w.]+)*"
CONDITION = rf"{TERM} (?:<|<=|>|>=) {TERM}"
FOUR = r"\(([^(),]+),\s+([^(),]+),\s+([^(),]+),\s+([^(),]+)\)"

# (change, where, pattern, replacement). Device is kernels and device functions, host the rest: launchers, constants.
DEVICE, HOST, ANYWHERE = "device", "host", "anywhere"
OPERATORS = [
    ("barrier left out", DEVICE, r"__syncthreads\(\);", r"/* __syncthreads() */;"),
    ("asynchronous copy not waited for", DEVICE, r"(__pipeline_wait_prior|cp_async_wait)\(\d+\)", r"\1(7)"),
    ("not in shared memory", DEVICE, r"(?<!extern )__shared__ ", r""),
    # Bounds and loops.
    ("< becomes <=", DEVICE, r" < ", r" <= "),
    ("<= becomes <", DEVICE, r" <= ", r" < "),
    (">= becomes >", DEVICE, r" >= ", r" > "),
    ("> becomes >=", DEVICE, r" > ", r" >= "),
    ("left condition dropped", DEVICE, rf"{CONDITION} (?:&&|\|\|) (?={CONDITION})", r""),
    ("right condition dropped", DEVICE, rf"({CONDITION}) (?:&&|\|\|) {CONDITION}", r"\1"),
    ("all bounds dropped", DEVICE, rf"if \({CONDITION}(?: (?:&&|\|\|) {CONDITION})*\) return", r"if (false) return"),
    ("all bounds dropped", DEVICE, rf"if \({CONDITION}(?: && {CONDITION})*\)(?! return)", r"if (true)"),
    ("loop starts one late", DEVICE, r"(for \(\w+ \w+ = [^;]+);", r"\1 + 1;"),
    ("loop ends one early", DEVICE, r"(for \([^;]+; \w+ < [^;]+);", r"\1 - 1;"),
    ("step one too long", DEVICE, r"(for \([^;]+;[^;]+; \w+ \+= [\w.]+)\)", r"\1 + 1)"),
    ("step one too long", DEVICE, r"(for \([^;]+;[^;]+; )\+\+(\w+)\)", r"\1\2 += 2)"),
    # Indices.
    ("x becomes y", DEVICE, r"\b(threadIdx|blockIdx|blockDim|gridDim)\.x\b", r"\1.y"),
    ("y becomes x", DEVICE, r"\b(threadIdx|blockIdx|blockDim|gridDim)\.y\b", r"\1.x"),
    ("grid's layers in z forgotten", DEVICE, r"\bBlockRow(?:<\w+>)?\(\)", r"blockIdx.y"),
    ("rows become columns", ANYWHERE, r"\.rows\b", r".cols"),
    ("columns become rows", ANYWHERE, r"\.cols\b", r".rows"),
    ("row and column swapped", DEVICE, r"\b(in|out|a|b|c)\(([^(),]+), ([^(),]+)\)", r"\1(\3, \2)"),
    ("row and column swapped", DEVICE, r"\[([^][]+)\]\[([^][]+)\]", r"[\2][\1]"),
    ("index forgotten", DEVICE, r"\[i\]", r"[0]"),
    ("term dropped", DEVICE, r" \+ (?:threadIdx\.[xy]|(?:out_)?[xyi]\b(?! \*))", r""),
    ("factor dropped", DEVICE, r" \* (?:k[A-Z]\w+|blockDim\.[xy]|width)\b", r""),
    ("factor dropped", DEVICE, r"\b(?:i|kUnroll) \* ", r""),
    ("/ becomes %", DEVICE, r" / ", r" % "),
    ("% becomes /", DEVICE, r" % ", r" / "),
    # Data.
    ("another matrix", DEVICE, r"\bin\(", r"out("),
    ("another matrix", DEVICE, r"\bout\(", r"in("),
    ("another matrix", DEVICE, r"\ba(?=\(|_tile\[)", r"b"),
    ("another matrix", DEVICE, r"\bb(?=\(|_tile\[)", r"a"),
    ("sum starts at 1", DEVICE, r"(T sum) = 0;", r"\1 = 1;"),
    ("sum forgotten", DEVICE, r", sum\)", r", 0)"),
    ("padding with 1", DEVICE, r": T\(0\)", r": T(1)"),
    # Bank conflicts.
    ("no padding", ANYWHERE, r" \+ (?:1(?=\];)|kPad\b|padding\b)", r""),
    ("padding for nothing", DEVICE, r"(__shared__ \w+ \w+\[\w+\]\[\w+)\];", r"\1 + 1];"),
    ("swizzled on one side only", DEVICE, r"(\[\w) \^ \w\]", r"\1]"),
    ("other padding", HOST, r"(Launch\w+)<0>", r"\1<1>"),
    ("other padding", HOST, r"(Launch\w+)<1>", r"\1<0>"),
    ("other padding", HOST, r"(Launch\w+)<2>", r"\1<1>"),
    ("other padding", HOST, r"(Launch\w+\(args, )0\)", r"\g<1>1)"),
    ("other padding", HOST, r"(Launch\w+\(args, )1\)", r"\g<1>0)"),
    ("other padding", HOST, r"(Launch\w+\(args, )2\)", r"\g<1>1)"),
    # Geometry.
    ("rows and columns of the grid swapped", HOST, rf"TileGrid{FOUR}", r"TileGrid(\2, \1, \3, \4)"),
    ("rows and columns of a tile swapped", HOST, rf"TileGrid{FOUR}", r"TileGrid(\1, \2, \4, \3)"),
    ("a row too few", HOST, rf"TileGrid{FOUR}", r"TileGrid(\1 - 1, \2, \3, \4)"),
    ("a column too few", HOST, rf"TileGrid{FOUR}", r"TileGrid(\1, \2 - 1, \3, \4)"),
    ("a row too many", HOST, rf"TileGrid{FOUR}", r"TileGrid(\1 + 1, \2, \3, \4)"),
    ("a column too many", HOST, rf"TileGrid{FOUR}", r"TileGrid(\1, \2 + 1, \3, \4)"),
    ("one too few", HOST, r"(CeilDiv\([^,]+),", r"\1 - 1,"),
    ("one too many", HOST, r"(CeilDiv\([^,]+),", r"\1 + 1,"),
    ("m becomes n", HOST, r"\bargs\.m\b", r"args.n"),
    ("n becomes m", HOST, r"\bargs\.n\b", r"args.m"),
    ("x becomes y", HOST, r"\bblock\.x\b", r"block.y"),
    ("y becomes x", HOST, r"\bblock\.y\b", r"block.x"),
    ("factor dropped", HOST, r"\bkUnroll \* ", r""),
    ("block's extents swapped", HOST, r"\bBlock\{(\w+), (\w+)\}", r"Block{\2, \1}"),
    ("block's extents swapped", HOST, r"(\bBlock \w+ =) \{(\w+), (\w+)\}", r"\1 {\3, \2}"),
    ("an element of shared memory too few", HOST, r"(static_cast<size_t>\(\w+)\)", r"\1 - 1)"),
    ("arguments swapped", HOST, r"(static_cast<Index>\(\w+\)), (static_cast<Index>\(\w+\))", r"\2, \1"),
    ("the other variant", HOST, r"(Launch\w+)<true>", r"\1<false>"),
    ("the other variant", HOST, r"(Launch\w+)<false>", r"\1<true>"),
    ("another width", HOST, r"(Launch\w+)<(?:8|16)>", r"\1<4>"),
    ("constant halved", HOST, r"(constexpr int \w+ = \d+);", r"\1 / 2;"),
    ("constant doubled", HOST, r"(constexpr int \w+ = \d+);", r"\1 * 2;"),
    ("constant plus 1", HOST, r"(constexpr int \w+ = \d+);", r"\1 + 1;"),
]
# Changes that only together are the mistake.
TOGETHER = [("not swizzled", DEVICE, r"(\[\w) \^ \w\]", r"\1]")]

# `shown` is the first line that changed; where the file has the same once more, " (2)" stands behind it. `kernel` is the
# file that is compiled with `text` in place of `file`: itself, or one that includes it.
Mutant = collections.namedtuple("Mutant", "file line change shown text kernel")


def kernel_files():
  """{file: names of its entries in the registry} of the kernels that run on the host executor."""
  files = {}
  for package in PACKAGES:
    lists = "".join(path.read_text("utf-8") for path in sorted((ROOT / package).glob("*.inc")))
    entries = re.findall(r"^[A-Z]\w+\(\s*(\w+),\s*(\w+),\s*kHostExecutable,", lists, flags=re.M)
    function_name = {function: name for name, function in entries}
    for path in sorted(path for room in ("ladder", "library") for path in (ROOT / package / room).glob("*.cu")):
      functions = re.findall(r"^(?:LaunchStatus|absl::Status) (\w+)\(", path.read_text("utf-8"), flags=re.M)
      names = [function_name[function] for function in functions if function in function_name]
      if names:
        files[str(path.relative_to(ROOT))] = names
  return files


def blanked(source):
  """The source with spaces for comments, strings and preprocessor lines: patterns must not match there."""
  return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|^#[^\n]*', lambda m: " " * len(m[0]), source, flags=re.M)


def device_spans(code):
  spans = []
  for match in re.finditer(r"__(?:global|device)__[^{;]*\{", code):
    end, depth = match.end(), 1
    while depth:
      depth += {"{": 1, "}": -1}.get(code[end], 0)
      end += 1
    spans.append((match.start(), end))
  return spans


def mutants_of(file):
  """All mutants of a kernel file, none of them twice."""
  source = (ROOT / file).read_text("utf-8")
  code = blanked(source)
  spans = device_spans(code)

  def matches(where, pattern):
    for match in re.finditer(pattern, code):
      in_device = any(start <= match.start() < end for start, end in spans)
      if where == ANYWHERE or in_device == (where == DEVICE):
        yield match

  changes = [(change, [match], replacement) for change, where, pattern, replacement in OPERATORS
             for match in matches(where, pattern)]
  changes += [(change, list(matches(where, pattern)), replacement) for change, where, pattern, replacement in TOGETHER]
  mutants, seen, shown_count = [], {source}, collections.Counter()
  for change, places, replacement in changes:
    text = source
    for match in reversed(places):
      text = text[:match.start()] + match.expand(replacement) + text[match.end():]
    if text in seen:
      continue
    seen.add(text)
    line = next(i for i, (old, new) in enumerate(zip(source.split("\n"), text.split("\n"))) if old != new)
    shown = " ".join(text.split("\n")[line].split())
    shown_count[shown] += 1
    suffix = f" ({shown_count[shown]})" if shown_count[shown] > 1 else ""
    mutants.append(Mutant(file, line + 1, change, shown + suffix, text, file))
  return mutants


def described(mutant):
  return f"{mutant.file}:{mutant.line} {mutant.change}: {mutant.shown}"

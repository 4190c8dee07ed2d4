"""Turns the plain comments of a C++ header into Doxygen's, so that headers need no markup.

Doxygen reads the same lines, some of their comments changed (filter_files.py).

- The comment at the top of the file, above an empty line, documents the file.
- A comment directly above a declaration documents it, one behind it does so too, with the lines that go on below.
- A class without a comment is one that the file's comment tells of: it gets a reference to it.
- All other comments stay what they are: within functions, before an empty line, of `#endif` and closing braces.
- Macros whose names end in `_`, or that are undefined again, are internal: they are left out, and so are the lists
  (.inc) that they serve, and the value of a constant that the preprocessor puts together.

Text is taken literally, but for `code`, lists, and what is indented by two or more below an empty line: an example.
"""

import os
import re

from docs.doxygen.page_filter import page_name

STRING = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""
COMMENT = re.compile(r"(?P<indent>\s*)//(?!/) ?(?P<text>.*)")
CODE_AND_COMMENT = re.compile(rf"(?P<code>(?:{STRING}|/(?!/)|[^/])*?\S)(?P<gap>\s+)// ?(?P<text>.*)")
LIST_ITEM = re.compile(r"\s*(-|\d+\.) ")
# For the tools that read the code.
DIRECTIVE = re.compile(r"NOLINT|clang-format (on|off)")
# What Doxygen and Markdown would take for markup: commands, HTML, references, dashes, emphasis at a word's edge.
MARKUP = re.compile(r"[\\@<>#&]|%(?=\w)|--+|(?<!\w)[*_]|[*_](?!\w)")
MACRO = re.compile(r"\s*#define (?P<name>\w+)")
ACCESS = re.compile(r"\s*(public|private|protected):\s*$")
CLASS = re.compile(r"(?P<indent>\s*)(?P<rest>(?:class|struct|enum class|enum) \w+\b[^;{]*\{.*)")
# What stands before a brace within which declarations stand.
SCOPE = re.compile(r"\b(namespace|class|struct|enum|union)\b[^(=]*$|\bextern \"C\"\s*$")


def plain_text(text, path):
  """Text that is not code, with markup escaped and with references to pages and to headers beside this one."""
  text = MARKUP.sub(lambda found: "\\" + found[0], text)
  text = re.sub(r"\bdocs/([\w/]+)\.md\b", lambda page: f'@ref {page_name(page[0])} "{page[0]}"', text)
  folder = os.path.dirname(path)
  return re.sub(r"(?<![\w/.])\w+\.h\b", lambda header: (
      f"{folder}/{header[0]}" if os.path.exists(f"{folder}/{header[0]}") else header[0]), text)


def texts(comment):
  return [COMMENT.match(line)["text"] for line in comment]


def literal(text, path):
  """The text as it is. What is within backticks or quotes Doxygen does not look at; names like __global__ are code, too."""
  parts = re.split(r"(`[^`]*`|\"[^\"]*\")", re.sub(r"(?<![\w`])(__\w+)", r"`\1`", text))
  return "".join(part if part[:1] in ("`", '"') else plain_text(part, path) for part in parts)


def documentation(lines, path):
  """The text of a comment as Doxygen should read it, line by line. An example becomes a code block."""
  result = []
  example = False
  for i, line in enumerate(lines):
    if not example and i and not lines[i - 1] and line.startswith("  ") and not LIST_ITEM.match(line):
      example = True
      end = next((j for j in range(i, len(lines)) if lines[j] and not lines[j].startswith("  ")), len(lines))
      # In the place of the empty line above.
      result[-1] = "@code{.cpp}" if any(";" in text for text in lines[i:end]) else "@code{.unparsed}"
    elif example and line and not line.startswith("  "):
      example = False
      result[-1] += "@endcode"
    result.append(line if example else literal(line, path))
  if example:
    result[-1] += " @endcode"
  return result


class Scopes:
  """Follows braces and parentheses: do declarations stand here, or is this within a function or an initialiser?"""

  def __init__(self):
    self._declarations = []  # Of each open brace: do declarations stand within it?
    self._parentheses = 0
    self._statement = ""  # What stands here since the last one ended.

  def declarations(self):
    return all(self._declarations) and self._parentheses == 0

  def at_a_start(self):
    """Whether a declaration, or an enumerator, may start here."""
    return self.declarations() and (not self._statement.strip() or self._statement.rstrip().endswith(","))

  def at_a_class(self):
    """Whether a class may start here: at a start, or behind its template parameters."""
    return self.at_a_start() or self.declarations() and bool(re.fullmatch(r"\s*template <[^{]*>\s*", self._statement))

  def in_a_statement(self):
    return bool(self._statement.strip())

  def read(self, code):
    if ACCESS.match(code):
      return
    for token in re.findall(rf"""[{{}}();]|{STRING}|[^{{}}();"']+|.""", code):
      if token == "{":
        self._declarations.append(bool(SCOPE.search(self._statement)))
      elif token == "}" and self._declarations:
        self._declarations.pop()
      elif token in "()":
        self._parentheses += 1 if token == "(" else -1
      self._statement = "" if token in "{};" else self._statement + token
    self._statement += " "


def pieces(lines):
  """Splits a header into (kind, lines): comments of one indentation, preprocessor directives, and lines of code."""
  i = 0
  while i < len(lines):
    end = i + 1
    comment = COMMENT.match(lines[i])
    if comment:
      kind = "comment"
      while end < len(lines) and COMMENT.match(lines[end]) and COMMENT.match(lines[end])["indent"] == comment["indent"]:
        end += 1
    elif lines[i].lstrip().startswith("#"):
      kind = "directive"
      while lines[end - 1].endswith("\\"):
        end += 1
    else:
      kind = "code"
    yield kind, lines[i:end]
    i = end


def is_macro(line):
  return bool(MACRO.match(line))


def is_internal(line, text):
  """Whether a line of the text defines a macro that is none of the header's users' business."""
  macro = MACRO.match(line)
  return bool(macro) and (macro["name"].endswith("_") or f"#undef {macro['name']}\n" in text)


def is_declaration(line):
  return bool(re.match(r"\s*[\w:~\[]", line)) and not ACCESS.match(line)


def filter_code(line, scopes, documented, path):
  """A line of code; also the column of the comment behind it, if that documents it."""
  behind = CODE_AND_COMMENT.match(line)
  code = behind["code"] if behind else line
  at_a_class = scopes.at_a_class()
  scopes.read(code)
  if behind and scopes.declarations() and re.match(r"\s*[^\s}].*[;,}\w]$", code) and not (
      DIRECTIVE.match(behind["text"])):
    return f"{code}{behind['gap']}///< {literal(behind['text'], path)}", len(code + behind["gap"])
  class_start = CLASS.match(line)
  if class_start and at_a_class and not documented:
    return f"{class_start['indent']}/** See {path}. */ {class_start['rest']}", -1
  return line, -1


def filtered(path, text):
  """The header's text as Doxygen should read it; each line stays where it is."""
  result = []
  scopes = Scopes()
  documented = False  # Does the comment above document what comes now?
  behind = -1  # The column of the comment behind the declaration above.
  parts = list(pieces(text.split("\n")))
  if len(parts) > 1 and parts[0][0] == "comment" and parts[1][1] == [""]:
    # The empty line below makes room for the first.
    result = [f"/// {line}" for line in [f"@file {path}"] + documentation(texts(parts[0][1]), path)]
    parts = parts[2:]
  for i, (kind, lines) in enumerate(parts):
    if kind == "comment":
      indent = COMMENT.match(lines[0])["indent"]
      words = texts(lines)
      below = parts[i + 1][1][0] if i + 1 < len(parts) else ""
      documented = scopes.at_a_start() and not DIRECTIVE.match(words[0]) and (
          is_declaration(below) or is_macro(below) and not is_internal(below, text))
      if len(indent) == behind:
        result += [f"{indent}///< {literal(line, path)}" for line in words]
      elif documented:
        result += [f"{indent}/// {line}" for line in documentation(words, path)]
      else:
        result += lines
      continue
    if kind == "directive":
      in_a_constant = scopes.in_a_statement() and re.search(r"=[^=,]*$", result[-1])
      if in_a_constant:
        result[-1] = result[-1][:in_a_constant.start()]
      hidden = is_internal(lines[0], text) or lines[0].endswith('.inc"') or scopes.in_a_statement()
      result += [""] * len(lines) if hidden else lines
    else:
      line, behind = filter_code(lines[0], scopes, documented, path)
      result.append(line)
    documented = documented and not scopes.at_a_start()  # Between template parameters and what they are of.
  return "\n".join(line.rstrip() for line in result)

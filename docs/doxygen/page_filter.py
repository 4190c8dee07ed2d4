"""Turns a page of docs/ from GitHub's Markdown into Doxygen's.

Doxygen reads the result, line for line (filter_files.py).

- Headings get names, by which links find them; a page is called by its path.
- Links to the manual's pages and headers become references, images its own, and other links text: what they lead to is
  not part of the manual.
- Comments go, and what Doxygen would take for its own markup is escaped.
"""

import os
import re

from tools import docs_links

# The text may have brackets of its own, an image for example.
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)" + docs_links.TARGET)
# Commands, references, words that are not to be links, dashes; but for the lines below a table's header.
MARKUP = re.compile(r"@|(?<![{\w])#(?=\w)|%(?=\w)|--+(?![-: |]*$)", re.M)
# What a line that begins with a figure and the end of a sentence looks like.
NUMBER_OF_A_LIST = re.compile(r"(?:^|\n)[ ]*\d+\.$")


def page_name(path):
  """A page's name in the manual: docs/results/README.md is docs_results_README."""
  return re.sub(r"\W", "_", path.removesuffix(".md"))


def reference(page, target, manual_files):
  """What Doxygen calls what a link of the page leads to; None where that is not in the manual."""
  path, _, anchor = target.partition("#")
  path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
  if path not in manual_files:
    return None
  if path.endswith(".md"):
    return page_name(path) + (f"-{anchor}" if anchor else "")
  return path


def shown_aside(aside, in_reference):
  """A comment becomes nothing but its lines. Code stays, but Doxygen takes `this' for a quotation, even within
  `code='x'`, and knows no code in a reference's text."""
  if aside.startswith("<!--"):
    return re.sub(r"[^\n]", "", aside)
  if in_reference:
    return aside.strip("`")
  return f"`{aside}`" if "'" in aside and not aside.startswith("``") else aside


def filtered(page, text, manual_files):
  """The page's text as Doxygen should read it; each line stays where it is."""
  edits = []  # (start, end, what stands there instead)
  for i, (end, anchor) in enumerate(docs_links.headings(text)):
    edits.append((end, end, f" {{#{page_name(page)}{f'-{anchor}' if i else ''}}}"))

  words = docs_links.without_code(text)
  references = []  # Where their texts are.
  for link in LINK.finditer(words):
    before_text, behind_text = link.start("text") - 1, link.end("text")
    target = reference(page, link["target"], manual_files)
    start = behind_text
    if link["image"]:
      start = link.start()
      caption = text[slice(*link.span("text"))]
      edits.append((*link.span(), f'@image html {os.path.basename(target)} "{caption}"' if target else caption))
    elif target:
      references.append(range(before_text, behind_text))
      edits.append((behind_text, link.end(), f"](@ref {target})"))
    elif not re.match(r"[a-z]+:", link["target"]):
      edits += [(before_text, before_text + 1, ""), (behind_text, link.end(), "")]
      if NUMBER_OF_A_LIST.search(text[:before_text] + link["text"] + text[link.end():link.end() + 1]):
        edits.append((link.end(), link.end(), "\\"))
    words = words[:start] + docs_links.masked(words[start:link.end()]) + words[link.end():]
  # In quotes Doxygen looks for nothing.
  words = re.sub(r'"[^"\n]*"', lambda quoted: docs_links.masked(quoted[0]), words)
  edits += [(found.start(), found.start(), "\\") for found in MARKUP.finditer(words)]

  for aside in docs_links.ASIDE.finditer(docs_links.without_blocks(text)):
    in_reference = any(aside.start() in text_of_one for text_of_one in references)
    edits.append((*aside.span(), shown_aside(aside[0], in_reference)))

  for start, end, instead in sorted(edits, reverse=True):
    text = text[:start] + instead + text[end:]
  return text

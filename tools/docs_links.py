#!/usr/bin/env python3
"""Follows every relative link of the pages: README.md, CONTRIBUTING.md and docs/**/*.md.

Usage: tools/docs_links.py

Prints `PAGE:LINE: TARGET: what is wrong` for each link that leads nowhere, and returns 1 if there is one. A link may go
to a file or a folder of the repository; behind a `#` to a heading of a page, by the name that GitHub gives it. Links to
other sites are not followed. A page that the contents page, docs/README.md, does not link to is an error too. As a test it runs beside the files that `bazel test` gave it, see docs/BUILD.
"""

import argparse
import os
import pathlib
import re
import sys
import urllib.parse

# Not resolved: among a test's files this is a link to another folder.
ROOT = pathlib.Path(os.path.abspath(__file__)).parent.parent

FENCE = re.compile(r" {0,3}(```+|~~~+)")
# A comment, or code within a paragraph.
ASIDE = re.compile(r"<!--.*?-->|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\n).)+?(?<!`)(?P=ticks)(?!`)", re.S)
# Behind the text of a link or an image.
TARGET = r"\]\(\s*<?(?P<target>[^\s()<>]+)>?(?:\s+\"[^\"]*\")?\s*\)"
INLINE = re.compile(TARGET)
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(?P<target>[^\s<>]+)", re.M)
HTML = re.compile(r"<[^>]*\b(?:href|src)=\"(?P<target>[^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(?P<text>.*?)[ #]*$", re.M)


def masked(text):
  return re.sub(r"[^\n]", "x", text)


def without_blocks(text):
  """The text with blocks of code masked: each other character stays where it is."""
  lines = text.split("\n")
  fence = ""
  indented = False
  for i, line in enumerate(lines):
    start = FENCE.match(line)
    indented = line.startswith("    ") and (indented or i == 0 or not lines[i - 1].strip())
    if fence or start or indented:
      lines[i] = masked(line)
    if fence and start and start[1].startswith(fence) and line.strip() == start[1]:
      fence = ""
    elif start and not fence:
      fence = start[1]
  return "\n".join(lines)


def without_code(text):
  """The text with blocks of code, code within paragraphs and comments masked."""
  return ASIDE.sub(lambda aside: masked(aside[0]), without_blocks(text))


def headings(text):
  """(where its line ends, its anchor) of each heading. The anchor is the one that GitHub makes."""
  found = []
  slugs = []
  for heading in HEADING.finditer(without_code(text)):
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text[slice(*heading.span("text"))])
    slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
    same = slugs.count(slug)
    slugs.append(slug)
    found.append((heading.end(), f"{slug}-{same}" if same else slug))
  return found


def links(text):
  """(line, target) of each link and image."""
  text = without_code(text)
  found = [link for pattern in (INLINE, REFERENCE, HTML) for link in pattern.finditer(text)]
  return [(text.count("\n", 0, link.start("target")) + 1, link["target"])
          for link in sorted(found, key=lambda link: link.start("target"))]


def what_is_wrong(root, page, target):
  """Why a link of a page leads nowhere; None if it does lead somewhere."""
  path, _, anchor = urllib.parse.unquote(target).partition("#")
  to = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
  if root != to and root not in to.parents:
    return "outside of the repository"
  if not to.exists():
    return "there is no such file"
  if anchor and (to.suffix != ".md" or anchor not in {slug for _, slug in headings(to.read_text(encoding="utf-8"))}):
    return f"{to.relative_to(root)} has no heading #{anchor}"
  return None


def broken_links(root):
  """A line for each link of the pages under `root` that leads nowhere."""
  pages = [root / "README.md", root / "CONTRIBUTING.md"] + sorted((root / "docs").rglob("*.md"))
  broken = []
  for page in pages:
    for line, target in links(page.read_text(encoding="utf-8")):
      wrong = None if re.match(r"[a-z]+:|//", target) else what_is_wrong(root, page, target)
      if wrong:
        broken.append(f"{page.relative_to(root)}:{line}: {target}: {wrong}")
  return broken


def unlisted_pages(root):
  """A line for each page of docs/ that its contents page does not link to."""
  contents = root / "docs" / "README.md"
  listed = {target.partition("#")[0] for _, target in links(contents.read_text(encoding="utf-8"))}
  return [f"docs/README.md: {page}: not listed"
          for page in sorted(str(page.relative_to(root / "docs")) for page in (root / "docs").rglob("*.md"))
          if page not in listed and page != "README.md"]


def main():
  argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
  broken = broken_links(ROOT) + unlisted_pages(ROOT)
  print("\n".join(broken), end="\n" if broken else "")
  if broken and "TEST_SRCDIR" in os.environ:
    print("A file that is there, but not among this test's: add it to links_test in docs/BUILD.")
  sys.exit(1 if broken else 0)


if __name__ == "__main__":
  main()

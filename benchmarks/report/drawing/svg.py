"""Prepares the SVG of matplotlib for a page: makes it small, its ids unique, and its colours follow the page's theme."""

import copy
import re
from xml.etree import ElementTree

from benchmarks.report.drawing import style

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCE = re.compile(r"#([\w.-]+)")
_NUMBER = re.compile(r"-?\d+\.\d+")
_NO_ROTATION = re.compile(r"rotate\(-?0 ")
_FONT = re.compile(r"font: (?:(\w+) )?([\d.]+px) [^;]*")
_VARIABLES = {color: f"var(--{name})" for name, color in style.LIGHT.items()}
_COLOR = re.compile("|".join(_VARIABLES))


def make_svgs(text, prefix, title):
  """Returns two versions of an SVG that matplotlib wrote: one for a file, in light colours, and one for a page. The latter has
  the font of the page, takes its colours from the CSS variables --ink, --muted, ... (the names in style.LIGHT), and leaves its
  size to the CSS of the page; --width is the width that it was drawn for. Ids begin with `prefix`."""
  title = _NOT_XML.sub("", title)
  root = ElementTree.fromstring(_NOT_XML.sub("", text))
  _hoist_styles(root)
  _drop_unused(root, _used_ids(root))
  for element in root.iter():
    _shorten(element)
    _name_apart(element, prefix)
  root.set("role", "img")
  # matplotlib uses a style sheet for this, which would apply to the whole page.
  root.set("stroke-linejoin", "round")
  page = copy.deepcopy(root)
  page.set("aria-label", title)
  page.set("style", f"--width:{page.get('width')}")
  for name in ("width", "height", "version"):
    page.attrib.pop(name, None)
  for element in page.iter():
    if "style" in element.attrib:
      element.set("style", _COLOR.sub(lambda match: _VARIABLES[match[0]], element.get("style")))
  root.set("font-family", "'DejaVu Sans', Verdana, sans-serif")
  heading = ElementTree.Element(_SVG + "title")
  heading.text = title
  root.insert(0, heading)
  return tuple(ElementTree.tostring(version, encoding="unicode") + "\n" for version in (root, page))


def _used_ids(root):
  return {name for element in root.iter() for key in (_HREF, "clip-path")
          for name in _REFERENCE.findall(element.get(key, ""))}


def _drop_unused(parent, used):
  """Removes ids that nothing refers to, groups that have no attributes left, metadata and style sheets."""
  kept = []
  for child in parent:
    if child.tag in (_SVG + "metadata", _SVG + "style"):
      continue
    _drop_unused(child, used)
    if child.get("id") not in used:
      child.attrib.pop("id", None)
    child.tail = None
    if child.tag in (_SVG + "g", _SVG + "defs") and (not len(child) or child.tag == _SVG + "g" and not child.attrib):
      kept.extend(child)
    else:
      kept.append(child)
  parent[:] = kept
  if not (parent.text or "").strip():
    parent.text = None


def _shorten(element):
  """Rounds coordinates to tenths of a point, and removes redundant commands from paths."""
  for name in ("x", "y", "transform", "d"):
    if name in element.attrib:
      element.set(name, _NUMBER.sub(lambda match: f"{round(float(match[0]), 1):g}", element.get(name)))
  if _NO_ROTATION.match(element.get("transform", "")):
    del element.attrib["transform"]
  if "d" in element.attrib:
    words, last = [], ""
    for word in element.get("d").split():
      # A command that repeats the last one, and a line after a move, need not be written.
      if not (word == last and word in "LC" or word == "L" and last == "M"):
        words.append(word)
      last = word if word.isalpha() else last
    element.set("d", " ".join(words))
  if "style" in element.attrib:
    plain = _FONT.sub(lambda match: f"font-size: {match[2]}" + (f"; font-weight: {match[1]}" if match[1] else ""),
                      element.get("style"))
    element.set("style", plain.replace(": ", ":").replace("; ", ";"))


def _name_apart(element, prefix):
  if "id" in element.attrib:
    element.set("id", f"{prefix}-{element.get('id')}")
  for key in (_HREF, "clip-path"):
    if key in element.attrib:
      element.set(key, element.get(key).replace("#", f"#{prefix}-"))


def _hoist_styles(root):
  """Moves the style that all markers of a series have to their group."""
  for group in root.iter(_SVG + "g"):
    styles = {child.get("style") for child in group if child.tag == _SVG + "use"}
    if len(styles) == 1 and None not in styles and all(child.tag == _SVG + "use" for child in group):
      group.set("style", styles.pop())
      for child in group:
        del child.attrib["style"]

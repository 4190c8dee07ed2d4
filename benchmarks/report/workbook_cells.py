"""Writes words and numbers as cells: a word as text, a number with four digits shown and all digits stored, NaN as empty."""

import math
import numbers
import re

MAX_TEXT = 32767  # Characters in a cell.
_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Formats:
  """The cell formats of a workbook. Excel has no format of four significant digits: that of a number depends on its size."""

  def __init__(self, workbook):
    self._workbook = workbook
    self._of_numbers = {}
    self.plain = workbook.add_format()
    self.title = workbook.add_format({"bold": True, "font_size": 14})
    self.bold = workbook.add_format({"bold": True})
    self.header = workbook.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1})
    self.number_header = workbook.add_format(
        {"bold": True, "text_wrap": True, "valign": "top", "bottom": 1, "align": "right"})
    self.link = workbook.get_default_url_format()

  def number(self, value):
    text = number_format(value)
    if text not in self._of_numbers:
      self._of_numbers[text] = self._workbook.add_format({"num_format": text})
    return self._of_numbers[text]


def number_format(value):
  """Returns the format of a number, with '.' for the decimal mark; it is shown with that of the reader's locale."""
  if value == int(value) and abs(value) < 1e15:
    return "0"
  digits = 3 - math.floor(math.log10(abs(value)))
  if digits > 8 or digits < -11:
    return "0.000E+00"
  return "0" if digits <= 0 else "0." + "0" * digits


def is_number(value):
  return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_empty(value):
  """Returns whether `value` is None, NaN or infinite: a spreadsheet has no such numbers."""
  return value is None or (is_number(value) and not math.isfinite(value))


def clean(text):
  """Returns `text` as a cell can hold it: without characters that XML forbids, not too long, never read as markup."""
  text = _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))[:MAX_TEXT]
  # XlsxWriter writes text between these two tags unescaped.
  return text[:MAX_TEXT - 1] + " " if text.startswith("<r>") and text.endswith("</r>") else text


def put(sheet, row, column, value, formats, cell_format=None):
  """Writes one cell."""
  if type(value) is float and math.isfinite(value):  # True of most cells; checking for numbers.Real takes twice as long.
    sheet.write_number(row, column, value, cell_format or formats.number(value))
    return
  if is_empty(value) or value == "":
    return
  if is_number(value):
    sheet.write_number(row, column, value, cell_format or formats.number(value))
  else:
    sheet.write_string(row, column, clean(str(value)), cell_format or formats.plain)


def put_row(sheet, row, values, formats, cell_format=None):
  for column, value in enumerate(values):
    put(sheet, row, column, value, formats, cell_format)

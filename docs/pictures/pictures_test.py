"""The committed figures are those that the program makes, and they show what is true."""

import pathlib
import re
import unittest
from xml.etree import ElementTree

from docs.pictures import banks
from docs.pictures import diagonal
from docs.pictures import draw
from docs.pictures import footprints
from docs.pictures import pipeline
from docs.pictures import sectors
from docs.pictures import stream_k

IMAGES = pathlib.Path("docs", "images")


class PicturesTest(unittest.TestCase):

  def test_the_committed_files_are_what_the_program_makes(self):
    self.assertEqual({path.stem for path in IMAGES.glob("*.svg")}, set(draw.FIGURES))
    for name, make in draw.FIGURES.items():
      committed = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
      self.assertTrue(committed == make(), f"docs/images/{name}.svg differs: bazel run //docs/pictures:draw")

  def test_they_need_nothing_else_and_have_a_dark_version(self):
    for name, make in draw.FIGURES.items():
      text = make()
      root = ElementTree.fromstring(text)
      self.assertEqual(len(root.findall("{http://www.w3.org/2000/svg}title")), 1, name)
      light, dark = re.search(r"<style>(.*)@media \(prefers-color-scheme:dark\){(.*)}</style>", text).groups()
      self.assertEqual(re.findall(r"\.[\w-]+", light), re.findall(r"\.[\w-]+", dark), name)
      self.assertNotIn("href", text)
      classes = {word for element in root.iter() for word in element.get("class", "").split()}
      self.assertLessEqual({f".{word}" for word in classes}, set(re.findall(r"\.[\w-]+", light)), name)

  def test_text_stays_within_the_figure(self):
    for name, make in draw.FIGURES.items():
      root = ElementTree.fromstring(make())
      width, height = (float(number) for number in root.get("viewBox").split()[2:])
      for text in root.iter("{http://www.w3.org/2000/svg}text"):
        # A character of the usual fonts is narrower than this on average.
        length = 0.6 * float(text.get("font-size", root.get("font-size"))) * len(text.text)
        left = float(text.get("x")) - length * {"middle": 0.5, "end": 1}.get(text.get("text-anchor"), 0)
        self.assertTrue(0 <= left and left + length <= width, f"{name}: {text.text}")
        self.assertTrue(0 < float(text.get("y")) < height, f"{name}: {text.text}")

  def test_sectors(self):
    for first, stride, count in ((0, 1, 4), (1, 1, 5), (0, 2, 8), (0, 64, 32)):
      found = sectors.sectors_of(first, stride)
      self.assertEqual(len(found), count)
      self.assertEqual(sorted(lane for sector in found for lane in sector if lane is not None), list(range(32)))

  def test_footprints(self):
    counts = [[len(footprints.sectors_of(footprints.footprint(width, transposed))) for transposed in (False, True)]
              for width in footprints.WIDTHS]
    self.assertEqual(counts, [[4, 8], [4, 16], [4, 32]])

  def test_banks(self):
    wavefronts = [max(banks.words_of_banks(bank_of)) for _, _, bank_of in banks.LAYOUTS]
    self.assertEqual(wavefronts, [32, 1, 1])

  def test_every_order_of_blocks_takes_each_tile_once(self):
    for _, tile_of in diagonal.ORDERS:
      self.assertEqual(len({tile_of(block) for block in range(64)}), 64)

  def test_a_stage_holds_one_k_step_at_a_time(self):
    steps = pipeline.schedule()
    for i, (started, arrived, begin, released) in enumerate(steps):
      self.assertTrue(started < arrived <= begin < released)
      self.assertTrue(i < 4 or started >= steps[i - 4][3])
      self.assertTrue(i == 0 or begin >= steps[i - 1][3])

  def test_work_units_are_equal_and_cover_the_divided_tiles(self):
    units = stream_k.work_units()
    self.assertEqual([sum(last - first for _, first, last in parts) for parts in units], [0.75] * 4)
    covered = [0.0] * 3
    for parts in units:
      for tile, first, last in parts:
        self.assertEqual(covered[tile], first)
        covered[tile] = last
    self.assertEqual(covered, [1.0] * 3)


if __name__ == "__main__":
  unittest.main()

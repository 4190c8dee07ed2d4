"""The access picture of source_view in a real browser, headless Chromium: skipped where there is none.

A copy of the page gets a script that presses keys, chooses, and reports what the page then shows; --dump-dom prints the
report.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

SOURCE_VIEW = pathlib.Path("benchmarks", "profile", "source_view").absolute()
WORK = pathlib.Path(os.environ.get("TEST_TMPDIR", "/tmp"))
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

ERRORS = "<script>const errors = []; addEventListener('error', event => errors.push(event.message));</script>"
# Functions that the tests' steps use.
DRIVER = """<script>
const seen = [];
const key = name => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
const choose = (id, value, type = "change") => { $(id).value = value; $(id).dispatchEvent(new Event(type)); };
const count = selector => document.querySelectorAll(selector).length;
const see = () => seen.push({
  position: $("position").textContent, summary: $("summary").textContent, source: $("code").querySelector(".current")?.textContent,
  sectors: count("#picture .sector"), used: count("#picture .used"), wavefronts: count("#picture .wavefront"),
  words: count("#picture .word"), lanes: count("#lanes .cell"), rows: count("#table td") / 5, lines: $("line").options.length,
  address: location.hash, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  previous: !$("previous").disabled, next: !$("next").disabled, leftOut: $("left-out").hidden ? "" : $("left-out").textContent,
});
STEPS
const report = JSON.stringify({seen, errors});
document.body.replaceChildren(report);
if (parent !== window) parent.postMessage(report, "*");
</script>"""


def make_page(name, *flags):
  page = WORK / f"{name}.html"
  subprocess.run([SOURCE_VIEW, f"--access_html={page}", *flags], check=True, stdout=subprocess.DEVNULL)
  return page


@unittest.skipUnless(BROWSER, "there is no chromium: the access picture is not shown in a browser")
class AccessPictureTest(unittest.TestCase):

  def look(self, page, steps, address="", width=1000):
    """What the page shows at each call of see() in `steps`."""
    text = page.read_text(encoding="utf-8")
    text = text.replace("<head>", "<head>" + ERRORS).replace("</body>", DRIVER.replace("STEPS", steps) + "</body>")
    driven = page.with_name("driven.html")
    driven.write_text(text, encoding="utf-8")
    # A frame can be narrower than a window. It may not be read from outside, so that it has to send the report.
    frame = page.with_name("frame.html")
    frame.write_text('<script>addEventListener("message", event => document.body.replaceChildren(event.data));</script>'
                     f'<iframe src="driven.html{html.escape(address)}" style="width:{width}px;height:900px"></iframe>')
    shown = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         f"--user-data-dir={WORK / 'profile'}", "--virtual-time-budget=5000",
         "--window-size=1200,1000", "--dump-dom", frame.as_uri()],
        check=True, capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(WORK)}).stdout
    found = re.search(r"<body>(\{.*\})", shown)
    self.assertTrue(found, shown[-2000:])
    report = json.loads(html.unescape(found[1]))
    self.assertEqual(report["errors"], [])
    return report["seen"]

  def test_steps_through_the_requests_of_a_warp(self):
    page = make_page("tile_square", "--kernel=tile_square", "--shape=64x64", "--block_index=1,0")
    seen = self.look(page, """see(); $("next").click(); see(); key("ArrowRight"); see(); key("End"); see();
        key("ArrowLeft"); see(); key("Home"); see(); choose("slider", 3, "input"); see(); choose("warp", 31); see();
        key("ArrowRight"); see();""")
    kinds = [one["summary"].split(" of ")[0] for one in seen]
    self.assertEqual(kinds, ["global load", "shared store", "shared load", "global store", "shared load", "global load",
                             "global store", "global store", "global store"])
    load, store, column, end = seen[:4]
    self.assertTrue(load["position"].startswith("Request 1 of 4 of warp 0, after 0 barriers"), load["position"])
    self.assertEqual((load["sectors"], load["used"], load["wavefronts"]), (4, 32, 0))
    self.assertIn("4 sectors, 128 of 128 bytes asked for (100 %)", load["summary"])
    self.assertIn("tile[y][x] = in(", load["source"])
    self.assertEqual((load["previous"], load["next"]), (False, True))
    self.assertEqual((store["wavefronts"], store["words"], store["sectors"]), (1, 32, 0))
    self.assertIn("no bank conflict", store["summary"])
    # A column of the tile, all in one bank.
    self.assertEqual((column["wavefronts"], column["words"]), (32, 32))
    self.assertIn("32 wavefronts, 31 of them for bank conflicts", column["summary"])
    self.assertIn("= tile[x][y]", column["source"])
    self.assertIn("after 1 barrier,", column["position"])
    self.assertEqual((end["previous"], end["next"]), (True, False))
    self.assertTrue(seen[7]["position"].startswith("Request 4 of 4 of warp 31"), seen[7]["position"])
    self.assertIn("warp=31", seen[7]["address"])
    for one in seen:
      self.assertEqual((one["lanes"], one["rows"], one["leftOut"]), (32, 32, ""))

  def test_a_line_and_an_address(self):
    page = make_page("naive_row", "--kernel=naive_row", "--shape=64x64")
    first, = self.look(page, "see();", "#warp=1&step=1")
    # 16x16 threads: a warp stores two floats into each of 16 rows.
    self.assertIn("global store of 4 bytes by all 32 lanes, out: 16 sectors, 128 of 512 bytes asked for (25 %)",
                  first["summary"])
    self.assertEqual((first["sectors"], first["used"]), (16, 32))
    self.assertTrue(first["position"].startswith("Request 2 of 2 of warp 1"), first["position"])
    line = re.search(r"naive_row.cu:(\d+)", first["position"])[1]
    chosen, = self.look(page, f'choose("line", "0:{line}"); see();')
    self.assertIn(f":{line}", chosen["position"])
    # What does not exist becomes what does.
    beyond, = self.look(page, "see();", "#warp=99&step=99&line=7:7&launch=5")
    self.assertTrue(beyond["position"].startswith("Request 2 of 2 of warp 7"), beyond["position"])

  def test_lanes_that_are_not_there(self):
    page = make_page("ragged", "--kernel=naive_row", "--shape=5x7")
    seen = self.look(page, """see(); choose("warp", 7); see();""")
    self.assertEqual((seen[0]["lanes"], seen[0]["rows"]), (14, 14))
    self.assertEqual(seen[1]["summary"], "This warp has no request here.")

  def test_every_picture_shows_what_the_executor_counted(self):
    page = make_page("matmul", "--operation=matmul", "--kernel=warp_tile", "--shape=128x128x16")
    seen = self.look(page, """const all = requests().length; for (let i = 0; i < all; ++i) { go(i); see(); }""")
    self.assertGreater(len(seen), 50)
    widths = set()
    for one in seen:
      counted = int(re.search(r"(\d+) (?:wavefront|sector)", one["summary"])[1])
      self.assertEqual(one["wavefronts"] or one["sectors"], counted, one)
      widths.add(re.search(r"of (\d+) byte", one["summary"])[1])
    self.assertIn("16", widths)

  def test_nothing_is_wider_than_a_phone(self):
    page = make_page("narrow", "--kernel=tile_square", "--shape=64x64")
    for one in self.look(page, """see(); key("ArrowRight"); see(); key("ArrowRight"); see();""", width=390):
      self.assertLessEqual(one["wide"], 0, one)


if __name__ == "__main__":
  if not BROWSER:
    print("There is no chromium: the access picture is not shown in a browser.")
  unittest.main()

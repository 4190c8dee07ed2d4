"""Which rows can stand in one chart."""

import math
import pathlib
import tempfile
import unittest

from benchmarks.report import group, results
from benchmarks.report.example_rows import csv_text, frame


def groups_of(*rows):
  """(machine, operation, dtype, l2) -> Group."""
  return {(g.machine, g.operation.name, g.dtype, g.l2): g for g in group.make_groups(frame(*rows))}


class GroupTest(unittest.TestCase):

  def test_what_tells_groups_apart(self):
    found = groups_of({"device": "b"}, *({"device": "a", **cells} for cells in (
        {}, {"dtype": "double"}, {"l2": "hot"}, {"operation": "transpose"}, {"operation": "copy"},
        {"operation": "transpose_in_place"})))
    self.assertEqual({key: len(g.rows) for key, g in found.items()}, {
        ("a", "matmul", "double", "cold"): 1, ("a", "matmul", "float", "cold"): 1, ("a", "matmul", "float", "hot"): 1,
        ("a", "transpose", "float", "cold"): 3, ("b", "matmul", "float", "cold"): 1})
    self.assertEqual([key[0] for key in found], sorted(key[0] for key in found))

  def test_rows_of_the_cpu_are_in_both_l2_modes(self):
    cpu = {"l2": "", "device": "", "implementation": "eigen"}
    found = groups_of(cpu, {}, {"l2": "hot"})
    for mode in ("cold", "hot"):
      self.assertIn("eigen", set(found["a GPU", "matmul", "float", mode].rows["implementation"]))
    self.assertEqual(list(groups_of(cpu)), [("a CPU, 8 cores", "matmul", "float", "cold")])

  def test_rows_that_are_in_no_chart(self):
    for cells in ({"status": "error"}, {"status": ""}, {"kernel_ms_median": math.nan}, {"kernel_ms_median": 0},
                  {"kernel_ms_median": -1}, {"kernel_ms_median": math.inf}, {"layout": "tn"}, {"alpha": 2}, {"beta": 1},
                  {"batch": 4}, {"host_memory": ""}):
      with self.subTest(cells):
        self.assertEqual(groups_of(cells), {})
        (found,) = groups_of(cells, {"implementation": "tiled"}).values()
        self.assertEqual(list(found.rows["implementation"]), ["tiled"])

  def test_rows_of_other_builds_are_in_no_chart(self):
    """A file is of another build if its own folder is named so, whatever the folders above and below are."""
    with tempfile.TemporaryDirectory() as folder:
      for name in ("usual.csv", "other_builds/changed.csv", "other_builds/usual/b.csv"):
        path = pathlib.Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(csv_text({"implementation": path.stem, "timestamp_utc": "2026-11-22T10:00:00Z"}), encoding="utf-8")
      read = results.read_results(sorted(pathlib.Path(folder).rglob("*.csv")))
    self.assertEqual(set(read.rows["implementation"]), {"usual", "changed", "b"})
    (found,) = group.make_groups(read.rows)
    for rows in (found.rows, found.repeats):
      self.assertEqual(set(rows["implementation"]), {"usual", "b"})
    self.assertEqual(len(found.machine_rows), 2)
    self.assertEqual(group.make_groups(read.rows[read.rows["is_other_build"]]), [])

  def test_latest_of_repeats_whatever_the_order(self):
    rows = [{"kernel_ms_median": 2, "timestamp_utc": "2026-11-22T00:00:00Z"}, {"kernel_ms_median": 3, "rows": 65},
            {"kernel_ms_median": 1, "timestamp_utc": "2026-11-21T00:00:00Z"}]
    for order in (rows, rows[::-1]):
      (found,) = groups_of(*order).values()
      self.assertEqual(set(found.rows["kernel_ms_median"]), {2, 3})
      self.assertEqual(set(found.repeats["kernel_ms_median"]), {1, 2, 3})

  def test_of_rows_of_one_second_the_last(self):
    self.assertEqual(list(group.latest(frame({"kernel_ms_median": 2}, {"kernel_ms_median": 1}))["kernel_ms_median"]), [1])

  def test_latest_tells_configurations_with_empty_cells_apart(self):
    plain = {"operation": "transpose", "depth": math.nan}
    rows = frame({**plain, "block_x": math.nan}, {**plain, "block_x": 16}, {**plain, "block_x": math.nan})
    self.assertEqual(list(group.latest(rows)["line"]), [3, 4])

  def test_squares(self):
    sides = [(4, 4, 4), (2, 2, 2), (4, 4, 8), (4, 8, 4), (0, 0, 0)]
    (products,) = groups_of(*({"rows": m, "cols": n, "depth": k} for m, n, k in sides)).values()
    self.assertEqual(list(products.squares()["n"]), [2, 4])
    (transposes,) = groups_of(*({"operation": "copy", "rows": m, "cols": n, "depth": ""} for m, n, _ in sides)).values()
    self.assertEqual(list(transposes.squares()["n"]), [2, 4])

  def test_subtitle_says_where_when_which(self):
    later = {"rows": 2, "timestamp_utc": "2026-11-22T08:00:00Z", "git_commit": "g2"}
    (found,) = groups_of(later, {}).values()
    for word in ("a GPU", "2026-11-21", "2026-11-22", "2 commits", "g1 to g2", "cold L2"):
      self.assertIn(word, found.subtitle())
    self.assertNotIn("g1", found.subtitle(found.rows[found.rows["rows"] == 2]))
    (cpu,) = groups_of({"l2": "", "device": "", "git_commit": ""}).values()
    self.assertEqual(cpu.subtitle(), "a CPU, 8 cores, 2026-11-21")

  def test_slugs_differ_and_name_files(self):
    found = groups_of({"device": "a/GPU (1)"}, {"device": "a/GPU (1)", "l2": "hot"}, {"device": "another"},
                      {"dtype": "double"}, {"operation": "transpose"})
    slugs = [g.slug("time") for g in found.values()]
    self.assertEqual(len(set(slugs)), 5)
    for slug in slugs:
      self.assertRegex(slug, "^[a-z0-9-]+$")


if __name__ == "__main__":
  unittest.main()

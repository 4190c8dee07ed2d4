"""Tests of random_history.py on distributions of their own."""

import pathlib
import tempfile
import unittest

from tools import random_history

HEAD = "operation,family,variant,metric,count,geomean,median,p25,p5,p1,worst,worse_than_1,git_commit\n"


class RandomHistoryTest(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)

  def distribution(self, name, commit, p5, operation="transpose"):
    (self.folder / f"{name}_distribution.csv").write_text(
        HEAD + f"{operation},model,,vs_memcpy,9,1,1,1,0.1,1,1,0,{commit}\n" +
        f"{operation},all,,vs_memcpy,70,1.01,0.98,0.95,{p5},0.8,0.7,0.5,{commit}\n" +
        f"{operation},all,l2=hot,vs_memcpy,30,1.02,0.97,0.95,0.5,0.4,0.3,0.5,{commit}\n", encoding="ascii")

  def run_on(self, name, *arguments):
    return random_history.main([str(self.folder / name), *arguments])

  def history(self):
    return (self.folder / "random_history.csv").read_text(encoding="ascii").splitlines()[1:]

  def test_takes_all_families_and_what_was_before(self):
    self.distribution("random_2", "gb", "0.90")
    self.distribution("random_2_before", "ga", "0.85")
    self.assertEqual(self.run_on("random_2_distribution.csv", "--seed=7", "--change=wider tiles"), 0)
    self.assertEqual(self.history(), [
        "transpose,wider tiles,,vs_memcpy,7,70,1.01,0.98,0.90,0.7,gb,1.01,0.98,0.85,0.7,ga",
        "transpose,wider tiles,l2=hot,vs_memcpy,7,30,1.02,0.97,0.5,0.3,gb,1.02,0.97,0.5,0.3,ga",
    ])

  def test_replaces_its_row_and_keeps_operations_together(self):
    self.distribution("random", "ga", "0.80")
    self.distribution("products", "ga", "0.81", operation="matmul")
    self.run_on("random_distribution.csv", "--seed=7")
    self.run_on("products_distribution.csv", "--seed=7")
    self.distribution("random", "ga", "0.82")
    self.run_on("random_distribution.csv", "--seed=7")
    self.run_on("random_distribution.csv", "--seed=8")
    self.assertEqual([row.split(",")[0] + " " + row.split(",")[4] + " " + row.split(",")[8] for row in self.history()],
                     ["transpose 7 0.82", "transpose 7 0.5", "transpose 8 0.82", "transpose 8 0.5", "matmul 7 0.81",
                      "matmul 7 0.5"])

  def host_products(self, name, commit, count, p5):
    (self.folder / f"{name}_distribution.csv").write_text(
        HEAD + f"matmul,batched,l2=,vs_best,9,5.42,6.70,4.69,1.47,1.41,1.40,0,{commit}\n" +
        f"matmul,all,l2=,vs_best,{count},1.88,1.32,0.96,{p5},0.55,0.51,0.28,{commit}\n", encoding="ascii")

  def test_takes_products_on_the_host(self):
    self.distribution("transposes", "ga", "0.80")
    self.host_products("products", "gb", 36, "0.90")
    self.host_products("products_before", "ga", 36, "0.73")
    self.assertEqual(self.run_on("transposes_distribution.csv", "--seed=7"), 0)
    self.assertEqual(self.run_on("products_distribution.csv", "--seed=8", "--change=crew"), 0)
    self.assertEqual(self.history()[2:], ["matmul,crew,l2=,vs_best,8,36,1.88,1.32,0.90,0.51,gb,1.88,1.32,0.73,0.51,ga"])

  def test_refuses_a_program_before_that_drew_fewer_shapes(self):
    self.host_products("products", "gb", 36, "0.90")
    self.host_products("products_before", "ga", 24, "0.73")
    self.assertEqual(self.run_on("products_distribution.csv", "--seed=8"), 2)
    self.assertFalse((self.folder / "random_history.csv").exists())

  def test_refuses_other_files(self):
    self.assertEqual(self.run_on("random.csv", "--seed=7"), 2)
    self.assertEqual(self.run_on("missing_distribution.csv", "--seed=7"), 2)
    self.assertFalse((self.folder / "random_history.csv").exists())


if __name__ == "__main__":
  unittest.main()

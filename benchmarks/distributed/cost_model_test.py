import csv
import unittest

from benchmarks.distributed import cost_model as model
from benchmarks.distributed import transpose_model


class CostModelTest(unittest.TestCase):

  def test_one_gpu_moves_nothing(self):
    self.assertEqual(model.product(1024, 1, 1, 512, 4, 1e12)[2], 0)
    self.assertEqual(model.transpose_exchange(1024, 1, 4), 0)

  def test_panels_of_a_square_grid(self):
    total, compute, communication, _ = model.product(65536, 2, 2, 4096, 4, 57e12)
    self.assertAlmostEqual(compute, 2 * 65536**3 / 4 / 57e12)
    self.assertAlmostEqual(communication, 2 * 65536**2 / 2 * 4 / 366e9 + 2 * len(model.steps(65536, 4096, 2, 2)) * 10e-6)
    self.assertGreater(total, compute)

  def test_the_largest_part_has_the_first_block(self):
    for n, parts, block, extent in ((8, 2, 4, 4), (9, 2, 4, 5), (13, 2, 4, 8), (3, 2, 4, 3), (23168, 2, 2048, 12288), (5, 4, 1, 2)):
      self.assertEqual(model.largest(n, parts, block), extent, (n, parts, block))

  def test_steps_are_of_the_same_owners_and_grow(self):
    self.assertEqual(model.steps(40, 4, 1, 1, 16), [4, 8, 16, 12])
    self.assertEqual(model.steps(38, 4, 1, 2, 16), [4, 8, 8, 16, 2])
    self.assertEqual(model.steps(7, 4, 2, 2, 16), [4, 3])
    self.assertEqual(model.steps(10, 4, 1, 1, 1), [4, 4, 2])

  def test_exchange_is_the_bound_of_two_measured_gpus(self):
    # 1.07 GB cross at 394 GB/s, the measured peer copy.
    self.assertAlmostEqual(model.transpose_exchange(32768, 2, 4), 2.725e-3, places=5)

  def test_what_was_measured_on_two_gpus_is_within_a_tenth(self):
    rows = []
    for name in ("matmul_gpus.csv", "transpose_gpus.csv"):
      with open(model.ROOT / "docs/results/h100_x2" / name, newline="", encoding="ascii") as file:
        rows += csv.DictReader(file)
    compared = model.beside(rows, transpose_model.BEFORE)
    self.assertEqual({record["implementation"] for record in compared}, {"summa", "summa_direct", "exchange_direct"})
    for record in compared:
      self.assertAlmostEqual(record["measured_over_computed"], 1, delta=0.1, msg=str(record))

  def test_pieces_of_other_sizes_are_near_what_was_measured(self):
    with open(model.ROOT / "docs/results/h100_x2/trials.csv", newline="", encoding="ascii") as file:
      measured = {row["variant"]: float(row["value"]) for row in csv.DictReader(file)
                  if row["what"].startswith("exchange_direct of 32768 x 32768 floats on 1x2")}
    for megabytes in (32, 256):
      computed = 1e3 * transpose_model.transpose(32768, 1, 2, 2048, 4, megabytes << 20, asks=1.0, stores_first=False)[0]
      self.assertAlmostEqual(measured[f"pieces of {megabytes} MB"] / computed, 1, delta=0.11)

  def test_rows_of_a_sweep_stand_beside_what_is_computed(self):
    row = dict.fromkeys(("precision", "grid", "grid_block", "communication_ms"), "")
    row.update(dtype="float", status="ok", rows="4096", cols="4096", depth="4096", kernel_ms_median="5")
    spread = dict(row, implementation="summa", grid="2x2", grid_block="1024", gflops="9")
    rows = [dict(row, implementation="auto", gflops="40000"), dict(row, implementation="auto", gflops="50000"), spread,
            dict(spread, implementation="cublasmp"), dict(spread, status="skipped"), dict(spread, rows="8192"),
            dict(spread, implementation="summa_direct"),
            dict(spread, implementation="exchange_direct", depth="", dtype="double")]
    self.assertEqual(model.rate_of_file(rows), 50000e9)
    self.assertIsNone(model.rate_of_file(rows[2:]))
    sent, copied, transpose = model.beside(rows)
    total, compute, communication, _ = model.product(4096, 2, 2, 1024, 4, 50000e9)
    self.assertEqual(sent["computed_ms"], 1e3 * (compute + communication))
    self.assertEqual(sent["computed_communication_ms"], 1e3 * communication)
    self.assertEqual(sent["measured_over_computed"], 5 / sent["computed_ms"])
    self.assertLess(copied["computed_ms"], sent["computed_ms"])
    self.assertEqual(transpose["computed_ms"], 1e3 * transpose_model.transpose(4096, 2, 2, 1024, 8)[0])

  def test_copies_that_are_hidden_take_the_link_of_the_first_step_only(self):
    total, compute, _, exposed = model.product(16384, 1, 2, 2048, 4, 57e12, direct=True)
    self.assertAlmostEqual(exposed, 16384 * 2048 * 4 / 394e9)
    self.assertAlmostEqual(total, compute + exposed)
    self.assertEqual(model.product(16384, 1, 1, 2048, 4, 57e12, direct=True)[3], 0)


if __name__ == "__main__":
  unittest.main()

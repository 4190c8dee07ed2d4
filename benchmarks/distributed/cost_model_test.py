import csv
import subprocess
import sys
import unittest

from benchmarks.distributed import cost_model as model
from benchmarks.distributed import transpose_model


class CostModelTest(unittest.TestCase):

  def test_one_gpu_moves_nothing(self):
    self.assertEqual(model.product(1024, 1, 1, 512, 4, 1e12)[2], 0)
    self.assertEqual(model.transpose_exchange(1024, 1, 4), 0)

  def test_panels_of_a_square_grid(self):
    total, compute, communication, _ = model.product(65536, 2, 2, 4096, 4, 57e12)
    steps = model.steps(65536, 4096, 2, 2)
    self.assertAlmostEqual(compute, 2 * (65536**2 / 4 + model.IDLE) * 65536 / 57e12 +
                           len(steps) * (8 * 65536**2 / 4 / transpose_model.MEMORY + model.STEP))
    self.assertAlmostEqual(communication, 2 * 65536**2 / 2 * 4 / 366e9 + 2 * len(steps) * 10e-6)
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

  def test_a_rate_is_that_of_its_time(self):
    for rows, cols, depth in ((16384, 16384, 16384), (4096, 512, 8192)):
      self.assertAlmostEqual(model.rate_of(rows, cols, depth, model.step_seconds(rows, cols, depth, 57e12)) / 57e12, 1)

  def test_what_was_measured_is_within_a_tenth(self):
    for folder, names, schedule, worst in (
        ("h100_x2", ("matmul_gpus.csv", "transpose_gpus.csv"), "all_multiprocessors", 1.1),
        ("h100_x2", ("transpose_stores_first.csv",), "present", 1.1), ("h100_x4", ("matmul_gpus.csv",), "present", 1.1),
        ("h100_x4", ("transpose_gpus.csv",), "copied", 1.13)):  # The last of 2x2, of a schedule that is gone.
      rows = []
      for name in names:
        with open(model.ROOT / "docs/results" / folder / name, newline="", encoding="ascii") as file:
          rows += csv.DictReader(file)
      compared = model.beside(rows, schedule)
      self.assertGreater(len(compared), 2)
      for record in compared:
        if record["dtype"] == "bf16_float":  # At clocks of 1140 to 1470 MHz.
          self.assertAlmostEqual(record["measured_over_computed"], 1, delta=0.12, msg=str(record))
        else:
          self.assertLess(record["measured_over_computed"], worst, str(record))
          self.assertGreater(record["measured_over_computed"], 1 / worst, str(record))

  def test_pieces_of_other_sizes_are_near_what_was_measured(self):
    with open(model.ROOT / "docs/results/h100_x2/trials.csv", newline="", encoding="ascii") as file:
      measured = {row["variant"]: float(row["value"]) for row in csv.DictReader(file)
                  if row["what"].startswith("exchange_direct of 32768 x 32768 floats on 1x2")}
    for megabytes in (32, 256):
      computed = 1e3 * transpose_model.transpose(32768, 1, 2, 2048, 4, megabytes << 20, asks=1.0, stores_first=False)[0]
      self.assertAlmostEqual(measured[f"pieces of {megabytes} MB"] / computed, 1, delta=0.1)

  def test_rows_of_a_sweep_stand_beside_what_is_computed(self):
    row = dict.fromkeys(("precision", "grid", "grid_block", "communication_ms"), "")
    row.update(dtype="float", status="ok", rows="4096", cols="4096", depth="4096", kernel_ms_median="5", device="H100")
    spread = dict(row, implementation="summa", grid="2x2", grid_block="1024", gflops="9")
    alone = [dict(row, implementation="auto", gflops="40000"), dict(row, implementation="auto", gflops="50000", kernel_ms_median="2.7")]
    rows = [*alone, spread,
            dict(spread, implementation="cublasmp"), dict(spread, status="skipped"), dict(spread, rows="8192"),
            dict(spread, implementation="summa_direct"),
            dict(spread, implementation="exchange_direct", depth="", dtype="double")]
    rate = model.rate_of_file(rows)
    self.assertEqual(rate, model.rate_of(4096, 4096, 4096, 2.7e-3))
    self.assertIsNone(model.rate_of_file(rows[2:]))
    slower, fastest, sent, copied, transpose = model.beside(rows)
    self.assertAlmostEqual(fastest["measured_over_computed"], 1)
    self.assertAlmostEqual(slower["measured_over_computed"], 5 / 2.7)
    total, compute, communication, _ = model.product(4096, 2, 2, 1024, 4, rate)
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

  def test_what_is_not_understood_is_one_line(self):
    program = model.ROOT / "benchmarks/distributed/cost_model.py"
    results = model.ROOT / "docs/results/h100_x2"
    for arguments, named in ((["--grid=2x2"], "--grid=2x2"), (["missing.csv"], "missing.csv"), (["--transposes=none"], "--transposes"),
                             ([str(results / "trials.csv")], "trials.csv"), ([str(results)], str(results))):
      done = subprocess.run([sys.executable, program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
      self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
      self.assertIn(named, done.stderr)


if __name__ == "__main__":
  unittest.main()

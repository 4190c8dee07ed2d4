import unittest

from benchmarks.distributed import fit_transposes
from benchmarks.distributed import transpose_model as model

MIB = 1 << 20


class TransposeModelTest(unittest.TestCase):

  def test_runs_are_those_of_both_owners(self):
    # Blocks 0 to 4 of 10; the last has 5. Where one owns all, runs follow each other at the other.
    self.assertEqual(model.common_runs(45, 10, 1, 0, 1, 0), [(45, 0)])
    self.assertEqual(model.common_runs(45, 10, 1, 0, 2, 0), [(25, 0)])
    self.assertEqual(model.common_runs(45, 10, 2, 0, 1, 0), [(10, 0), (10, 20), (5, 40)])
    self.assertEqual(model.common_runs(45, 10, 2, 0, 2, 1), [])

  def test_pieces_of_two_gpus(self):
    # Half of 4 GiB of floats is a rank's, half of that leaves it. On 1x2 its rows are whole ones of the other's part, on 2x1 each
    # of 8 blocks has rows of its own.
    for p, q, copies in ((1, 2, 1), (2, 1, 8)):
      for rank in (0, 1):
        leaving, staying = model.pieces(32768, p, q, 2048, 4, rank, 64 * MIB)
        self.assertEqual(leaving, [(64 * MIB, copies)] * 16)
        self.assertEqual(staying, [64 * MIB] * 16)
    self.assertEqual(model.pieces(32768, 1, 2, 2048, 4, 0, 256 * MIB)[0], [(256 * MIB, 2)] * 4)

  def test_ranks_of_the_diagonal_keep_all(self):
    part = 8 * 4096**2 // 4
    for rank in range(4):
      leaving, staying = model.pieces(4096, 2, 2, 1024, 8, rank)
      self.assertEqual((sum(size for size, _ in leaving), sum(staying)), (part, 0) if rank in (1, 2) else (0, part))

  def test_every_byte_is_in_one_piece(self):
    for p, q, n, block in ((1, 3, 1000, 30), (2, 3, 777, 50), (4, 1, 513, 64)):
      of_ranks = [model.pieces(n, p, q, block, 4, rank, 5000) for rank in range(p * q)]
      self.assertEqual(sum(sum(size for size, _ in leaving) + sum(staying) for leaving, staying in of_ranks), 4 * n * n)

  def test_one_gpu_reads_and_writes(self):
    self.assertAlmostEqual(model.transpose(4096, 1, 1, 512, 4)[0], 2 * 4 * 4096**2 / model.MEMORY)
    self.assertEqual(model.transpose(4096, 1, 1, 512, 4)[1], 0)

  def test_a_fast_memory_leaves_the_link(self):
    leaving, staying = [(100e6, 1), (100e6, 4), (50e6, 1)], [70e6]
    self.assertAlmostEqual(model.seconds(leaving, staying, link=1e9, memory=1e18, start=0.01), 0.25 + 6 * 0.01, places=6)

  def test_a_fast_link_leaves_the_memory(self):
    # Four times the memory for what leaves: packed, and read and written by copies.
    leaving, staying = [(100e6, 1)] * 3, [70e6]
    self.assertAlmostEqual(model.seconds(leaving, staying, link=1e18, memory=1e9, start=0), (3 * 400e6 + 140e6) / 1e9, places=4)

  def test_they_share_the_memory_in_proportion(self):
    # Memory 8, link 2. Packing 8 bytes takes 2 s. With the copy, which asks for 2 * 2, what stays, 16 bytes, has 2/3 of 8: 3 s,
    # in which the copy does 3 * 4/3 of its 8 bytes, and then 4 more in 2 s.
    self.assertAlmostEqual(model.seconds([(8e6, 1)], [8e6], link=2e6, memory=8e6, start=0), 2 + 3 + 2, places=4)

  def test_memory_that_kernels_and_copies_use_at_once_has_less_to_give(self):
    # Of half the memory's rate what stays takes 6 s, in which the copy does 6 * 2/3 of its 8 bytes.
    self.assertAlmostEqual(model.seconds([(8e6, 1)], [8e6], link=2e6, memory=8e6, start=0, shared=0.5), 2 + 6 + 2, places=4)

  def test_copies_of_a_piece_start_behind_each_other(self):
    leaving = [(100e6, 4), (100e6, 1)]
    self.assertAlmostEqual(model.seconds(leaving, [], link=1e9, memory=1e18, start=0.01, next_copy=0.004), 0.2 + 2 * 0.01 + 3 * 0.004,
                           places=6)

  def test_a_buffer_is_packed_again_when_it_was_copied(self):
    # Copies take 100 s each; the third is packed, in 2 s, as soon as the first is over, while the second is copied.
    self.assertAlmostEqual(model.seconds([(1e6, 1)] * 3, [], link=1e4, memory=1e6, start=0), 2 + 3 * 100, delta=0.2)

  def test_a_second_copy_starts_while_the_first_runs(self):
    # Four copies of 1 s, which each start for 0.5 s: one after the other; or in pairs, of which only the first starts are waited for.
    leaving = [(1e9, 1)] * 4
    self.assertAlmostEqual(model.seconds(leaving, [], link=1e9, memory=1e18, start=0.5), 4 + 4 * 0.5, places=4)
    self.assertAlmostEqual(model.seconds(leaving, [], link=1e9, memory=1e18, start=0.5, copies_at_once=2), 4 + 2 * 0.5, places=4)

  def test_kernels_that_ask_for_less_leave_the_link_its_rate(self):
    # Memory 8, link 2: copies leave half of it. Packing takes 2 s, or 4 s at half the rate; the copy is not slowed then.
    self.assertAlmostEqual(model.seconds([(8e6, 1)], [8e6], link=2e6, memory=8e6, start=0, asks=0.5), 4 + 4, places=4)

  def test_constants_are_those_of_the_fit(self):
    self.assertEqual(fit_transposes.fit(), (model.SHARED, model.NEXT_COPY))


if __name__ == "__main__":
  unittest.main()

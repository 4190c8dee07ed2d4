"""Tests of the sample of mutants that tools/mutate_kernels.py draws."""

import collections
import unittest

import kernel_mutants
from mutant_sample import sampled


def mutants_of(sizes):
  return [kernel_mutants.Mutant(file, line, "change", f"{line}", "text", file)
          for file, size in sizes.items() for line in range(size)]


class MutantSampleTest(unittest.TestCase):

  def test_each_file_gets_its_share(self):
    sizes = {"a.cu": 400, "b.cu": 100, "c.cu": 37, "d.cu": 3}
    mutants = mutants_of(sizes)
    for seed in range(20):
      for count in (1, 10, 54, 539):
        sample = sampled(mutants, count, seed)
        self.assertEqual(len(set(sample)), count)
        taken = collections.Counter(mutant.file for mutant in sample)
        for file, size in sizes.items():
          # Where a share is cut off is one place for all files: each is at most one from its own, and they add up.
          self.assertLessEqual(abs(taken[file] - size * count / len(mutants)), 2, (seed, count, file))

  def test_each_mutant_may_be_drawn(self):
    mutants = mutants_of({"a.cu": 7, "b.cu": 2})
    drawn = {mutant for seed in range(200) for mutant in sampled(mutants, 2, seed)}
    self.assertEqual(drawn, set(mutants))

  def test_a_seed_draws_the_same_and_more_of_the_same(self):
    mutants = mutants_of({"a.cu": 50, "b.cu": 30})
    sample = sampled(mutants, 20, 5)
    self.assertEqual(sample, sampled(mutants, 20, 5))
    self.assertEqual(sample, sampled(mutants, 40, 5)[:20])
    self.assertNotEqual(sample, sampled(mutants, 20, 6))

  def test_more_than_there_are_is_all(self):
    mutants = mutants_of({"a.cu": 5, "b.cu": 3})
    self.assertEqual(set(sampled(mutants, 100, 1)), set(mutants))
    self.assertEqual(sampled([], 10, 1), [])


if __name__ == "__main__":
  unittest.main()

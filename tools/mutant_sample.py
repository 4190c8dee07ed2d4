"""A random sample of the mutants of kernel_mutants.py and header_mutants.py: all of them take days of a core."""

import collections
import random


def sampled(mutants, count, seed):
  """`count` of the mutants, or all if there are fewer, in an order of which each beginning is a sample, too.

  A file gets its share: of n of its mutants, p % of all take n * p / 100 of them, rounded up or down by chance.
  The same seed draws the same mutants, and with a larger count those and further ones.
  """
  of_file = collections.defaultdict(list)
  for mutant in mutants:
    of_file[mutant.file].append(mutant)
  places = []
  for file, own in of_file.items():
    chance = random.Random(f"{seed} {file}")  # Other files, and their mutants, change nothing here.
    chance.shuffle(own)
    start = chance.random()
    places += [((i + start) / len(own), file, mutant) for i, mutant in enumerate(own)]
  return [mutant for _, _, mutant in sorted(places)[:count]]

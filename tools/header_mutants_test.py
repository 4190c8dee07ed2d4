"""Tests that the mistakes of header_mutants.py can be planted, so that an edited header does not end them unseen."""

import unittest

import header_mutants
import kernel_mutants


class HeaderMutantsTest(unittest.TestCase):

  def test_each_is_one_change_of_a_kernel_that_is_tested(self):
    kernels = kernel_mutants.kernel_files()
    mutants = header_mutants.header_mutants()
    self.assertEqual(len(mutants), len({(mutant.file, mutant.text) for mutant in mutants}))
    for mutant in mutants:
      self.assertIn(mutant.kernel, kernels)
      self.assertTrue((kernel_mutants.ROOT / mutant.file).is_file())
      self.assertNotEqual(mutant.shown, "", mutant.change)

  def test_what_a_header_has_not_is_an_error(self):
    mistake = header_mutants.Mistake("nothing", "some.h", [("abc", "x"), ("abc", "y")], "some.cu")
    self.assertEqual(header_mutants.planted(mistake, "abc def abc abc"), "x def y abc")
    with self.assertRaisesRegex(ValueError, "some.h has no 'abc', which 'nothing' changes"):
      header_mutants.planted(mistake, "abc def")


if __name__ == "__main__":
  unittest.main()

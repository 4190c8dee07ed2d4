"""Tests of compiled_kernels.py on a few lines of disassembly."""

import subprocess
import sys
import unittest

from tools import compiled_kernels

# Two loops, one in the other, and a wait for each pair of loads.
NESTED = """
.text._Z3Foov:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   LDG.E R2, [R4] ;
        /*0020*/                   LDG.E R3, [R4+0x10] ;
        /*0030*/                   STS [R6], R2 ;
        /*0040*/                   STS [R6+0x4], R3 ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_1:
        /*0060*/                   LDS.128 R8, [R7] ;
        /*0070*/                   LDS R12, [R7+0x80] ;
        /*0080*/                   FFMA R20, R8, R12, R20 ;
        /*0090*/                   FFMA R20, R9, R12, R20 ;
        /*00a0*/              @P0  BRA `(.L_x_1) ;
        /*00b0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00c0*/              @!P1 BRA `(.L_x_0) ;
        /*00d0*/                   STG.E [R4], R20 ;
        /*00e0*/                   EXIT ;
.L_x_2:
        /*00f0*/                   BRA `(.L_x_2);
        /*0100*/                   NOP;
"""


def describe(text):
  (instructions, labels), = compiled_kernels.parse_functions(text).values()
  return compiled_kernels.describe(instructions, labels)


def rounds(lines, latencies):
  return compiled_kernels.count_rounds([compiled_kernels.parse_instruction(line) for line in lines], latencies)


class CompiledKernelsTest(unittest.TestCase):

  def test_nested_loops(self):
    figures = describe(NESTED)
    self.assertEqual(figures["inner"], {"instructions": 5, "multiply_adds": 2, "shared_bytes": 20,
                                            "global_loads": 0, "barriers": 0, "shared_rounds": 1})
    self.assertEqual(figures["outer"], {"instructions": 7, "multiply_adds": 0, "shared_bytes": 0,
                                            "global_loads": 2, "barriers": 2, "shared_rounds": 0})
    self.assertEqual(figures["instructions"], 3)  # Without the branch to itself at the end, and what follows.
    self.assertEqual(figures["shared_load_bytes"], 16)
    self.assertEqual(figures["loads_together"], 2)

  def test_no_loop(self):
    self.assertIsNone(describe(".text._Z3Barv:\n        /*0000*/   LDG.E R2, [R4] ;\n        /*0010*/   EXIT ;\n"))

  def test_rounds(self):
    cases = [
      (["LDG.E R2, [R4]", "FFMA R9, R2, R2, R9"], 1),
      (["LDG.E R2, [R4]", "LDG.E R3, [R4]", "FFMA R9, R2, R3, R9"], 1),
      (["LDG.E R2, [R4]", "FFMA R9, R2, R2, R9", "LDG.E R3, [R4]", "FFMA R9, R3, R3, R9"], 2),
      (["LDG.E.64 R2, [R4]", "IADD3 R9, R3, R9, RZ"], 1),  # The second half of the value.
      (["LDG.E R2, [R4]", "LDG.E R6, [R2]", "STG.E [R8], R6"], 2),  # One load needs the other.
      (["@P0 LDG.E R2, [R4]", "IADD3 R9, R9, R9, RZ"], 0),  # Nobody waits for it.
      (["LDGSTS.E [R2], [R4]", "LDGDEPBAR", "DEPBAR.LE SB0, 0x0"], 1),
      (["LDGSTS.E [R2], [R4]", "LDGDEPBAR", "DEPBAR.LE SB0, 0x1"], 0),  # Asked for an iteration ahead.
    ]
    for lines, expected in cases:
      self.assertEqual(rounds(lines, {"LDG": 1, "LDGSTS": 1}), expected, lines)

  def test_names(self):
    self.assertEqual(
      compiled_kernels.short_name("void stridewise::(anonymous namespace)::Tiled<float, true, 32>(int, int)"),
      "Tiled<float,true,32>")
    self.assertEqual(compiled_kernels.short_name("void F<(Kind)1>(float*)"), "F<(Kind)1>")

  def test_rows(self):
    self.assertEqual(compiled_kernels.cpp_row("F", 16, None), '{"F", 16},')
    self.assertEqual(compiled_kernels.cpp_row("F", 16, describe(NESTED)),
                         '{"F", 16, 16, 2, 3, {5, 2, 20, 0, 0, 1}, {7, 0, 0, 2, 2, 0}},')

  def test_what_is_not_understood_is_one_line(self):
    for arguments, named in (([], "CUBIN"), (["--registers"], "--registers"), (["missing.cubin"], "missing.cubin"),
                             ([__file__], __file__)):
      done = subprocess.run([sys.executable, compiled_kernels.__file__, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
      self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
      self.assertIn(named, done.stderr)


if __name__ == "__main__":
  unittest.main()

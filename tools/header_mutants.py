"""Mistakes in the arithmetic of split products, planted in the headers of their kernels.

The changes of kernel_mutants.py show in any product. These leave a product that looks right, so that only a test of its
accuracy notices: scales, parts, products of parts, promotions and ranges of docs/fp32_split.md. Each is judged by the
tests of its kernel.
"""

import collections

from kernel_mutants import ROOT, Mutant

# `edits` are texts that the header has, and what takes their first places, in turn from the beginning to the end.
Mistake = collections.namedtuple("Mistake", "change header edits kernel")

PAIRS = "matmul/library/split_fp16.sm90.cu"
FUSED = "matmul/library/split_fused.sm90.cu"
TRIPLES = "matmul/library/split_bf16.sm90.cu"
FP8 = "matmul/library/split_fp8.sm90.cu"


def cut_off(values, mask):
  """The source of RoundToFp16() of these values, which cuts them off toward zero before."""
  return "RoundToFp16(" + ", ".join(f"FloatOfBits(BitsOfFloat({value}) & {mask})" for value in values) + ")"


MISTAKES = [
    Mistake("another row's scale", "matmul/device/split_scales.h", [("* rows[i / 2] *", "* rows[0] *")], PAIRS),
    Mistake("another column's scale", "matmul/device/split_scales.h", [("* cols[i % 2]", "* cols[0]")], PAIRS),
    Mistake("a product of a first and a second part left out", "matmul/device/split_scheme.h",
            [("for (int i = 0; i < Scheme::kForm.parts; ++i)", "for (int i = 1; i < Scheme::kForm.parts; ++i)")], PAIRS),
    Mistake("a product of a second and a first part left out", "matmul/device/split_scheme.h",
            [("for (int i = 0; i < Scheme::kForm.parts; ++i)", "for (int i = 0; i + 1 < Scheme::kForm.parts; ++i)")],
            PAIRS),
    Mistake("a product of a first and a third part left out", "matmul/device/split_scheme.h",
            [("for (int i = 0; i < Scheme::kForm.parts; ++i)", "for (int i = order / 2; i < Scheme::kForm.parts; ++i)")],
            TRIPLES),
    Mistake("sums are not promoted", "matmul/device/split_kernel.h",
            [("MultiplyParts<Tile>(of, 0, 0, i > 0, d);", "MultiplyParts<Tile>(of, 0, 0, i > 0 || k > 0, d);"),
             ("AddTo(sums, d);", "for (int i = 0; i < Tile::kBlockN / 2; ++i) sums[i] = d[i];")], PAIRS),
    Mistake("sums of a short k are promoted as those of a long one", "matmul/device/split_kernel.h",
            [("if (gemm.k < Tile::Scheme::kForm.least_k) {", "if (gemm.k < 1) {")], PAIRS),
    Mistake("a first part that is cut off", "matmul/device/split_pair.h",
            [("RoundToFp16(x.value, y.value)", cut_off(("x.value", "y.value"), "0xffffe000u"))], PAIRS),
    Mistake("ranges are not looked at", "matmul/device/split_scales.h",
            [("return PartsSuffice(poor != 0, least_of_rows, least_of_cols);", "return true;")], PAIRS),
    Mistake("poor elements are not counted", "matmul/device/split_pair.h",
            [("rest_x - FirstOf(low)) ? 1 : 0", "rest_x - FirstOf(low)) ? 0 : 0"),
             ("rest_y - SecondOf(low)) ? 1 : 0", "rest_y - SecondOf(low)) ? 0 : 0")], PAIRS),
    Mistake("a first part that is cut off", "matmul/device/split_fused_pair.h",
            [("RoundToFp16(x, y)", cut_off(("x", "y"), "0xffffe000u"))], FUSED),
    Mistake("sums that lack bits are not looked at", "matmul/device/split_fused_pair.h",
            [("return size >= 2.0F * static_cast<float>(small) && size <= kMost;", "return true;")], FUSED),
    Mistake("sums of FP8 are not promoted apart", "matmul/device/split_turns.h",
            [("step > 0, d);", "step > 0 || decltype(part)::value == 0, d);"),
             ("AddTo(sums, d);", "if (decltype(part)::value == 0) AddTo(sums, d);")], FP8),
]


def planted(mistake, text):
  """The header's text with the mistake. ValueError where it has not what the mistake changes."""
  at = 0
  for old, new in mistake.edits:
    at = text.find(old, at)
    if at < 0:
      raise ValueError(f"{mistake.header} has no '{old}', which '{mistake.change}' changes")
    text = text[:at] + new + text[at + len(old):]
    at += len(new)
  return text


def header_mutants():
  """The mutants of all mistakes."""
  mutants = []
  for mistake in MISTAKES:
    source = (ROOT / mistake.header).read_text("utf-8")
    text = planted(mistake, source)
    line = next(i for i, (old, new) in enumerate(zip(source.split("\n"), text.split("\n"))) if old != new)
    shown = " ".join(text.split("\n")[line].split())
    mutants.append(Mutant(mistake.header, line + 1, mistake.change, shown, text, mistake.kernel))
  return mutants

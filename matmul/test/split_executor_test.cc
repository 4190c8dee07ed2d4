// The entries of `fp32_split` on the host executor, with all its checks on: the kernels that split
// operands, and those that multiply the parts.

#include <cmath>

#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {
namespace {

using SplitExecutorTest = KernelsOnExecutorTest;

// Tiles of 64, 128 and 192 columns.
TEST_F(SplitExecutorTest, EveryTile) {
  Run<float, float>(
      "split_fp16",
      InAllLayouts({{{68, 40, 136, 0}, 2}, {{124, 120, 160, 4}, 1}, {{200, 184, 129, 0}, 1}}));
  ExpectKernels("SplitProduct", 12);
}

TEST_F(SplitExecutorTest, Triples) {
  const MatMulCase small = {68, 40, 136, 0};
  const MatMulCase wide = {124, 120, 131, 1};
  Run<float, float>("split_bf16_6", InAllLayouts({{small, 1}}));
  Run<float, float>("split_bf16_9", InAllLayouts({{wide, 1}}));
  ExpectKernels("SplitProduct", 8);
}

// Rows that a warp splits and rows that a block does, strips of columns that are cut, C by the TMA
// and one by one, and matrices of a batch that share an operand.
TEST_F(SplitExecutorTest, Forms) {
  const MatMulCase deep = {3, 5, 1030, 0};
  const MatMulCase deep_columns = {33, 34, 1100, 1, true};
  const MatMulCase odd = {65, 67, 133, 1, false, true, -0.5, 2};
  const MatMulCase batch = {36, 20, 128, 0, false, false, 1, 0, 3, 8};
  const MatMulCase one_b = {36, 20, 128, 0, true, true, 1, 1, 2, 4, false, /*one_b=*/true};
  for (const char* const name : {"split_fp16", "split_bf16_6"}) {
    Run<float, float>(name, {{deep, 1}, {deep_columns, 1}, {odd, 1}, {batch, 2}, {one_b, 2}});
    EXPECT_EQ(launches_, 2u);
  }
  ExpectKernels("SplitProduct", 6);
}

// A k for which each instruction's sum is promoted, rows of which a warp splits several, and strips
// of one and two blocks.
TEST_F(SplitExecutorTest, ShortK) {
  Run<float, float>(
      "split_fp16",
      InAllLayouts({{{68, 40, 37, 0}, 2}, {{200, 130, 52, 1}, 1}, {{36, 40, 65, 0}, 1}}));
  const MatMulCase batch = {36, 20, 40, 1, false, false, -0.5, 2, 8, 4};
  const MatMulCase turned_batch = {36, 20, 40, 0, true, true, 1, 0, 8, 8};
  Run<float, float>("split_fp16", {{batch, 1}, {turned_batch, 1}});
  const MatMulCase ragged_batch = {33, 35, 84, 1, false, false, 1, 0, 5, 3};
  const MatMulCase ragged_tile = {67, 35, 131, 0, false, false, 1, 0, 3, 1};
  Run<float, float>("split_fp16", InAllLayouts({{ragged_batch, 1}, {ragged_tile, 1}}));
  const auto spread = [](MatMulTestProblem<float>* problem) {
    problem->ForOperands([](float x) { return std::ldexp(x, static_cast<int>(55 * x)); });
  };
  Run<float, float>("split_fp16", InAllLayouts({{{68, 40, 52, 0}, 1}}), {}, spread);
  ExpectKernels("SplitProduct", 4);
}

// Long rows of which a block splits two, and strips of sixteen blocks.
TEST_F(SplitExecutorTest, LongK) {
  const MatMulCase rows = {20, 18, 2100, 1, false, true};
  const MatMulCase strips = {20, 18, 4700, 0, true, false};
  for (const char* const name : {"split_fp16", "split_int8"}) {
    Run<float, float>(name, {{rows, 1}, {strips, 1}});
  }
  ExpectKernels("SplitProduct", 4);
}

// Operands of whole fours and strips, whose kernels do nothing else: wide strips and others, rows
// of warps, rows that are held in registers, of which the last block has fewer, and rows of blocks.
TEST_F(SplitExecutorTest, WholeOperands) {
  Run<float, float>(
      "split_fp16",
      InAllLayouts({{{64, 64, 68, 0}, 1}, {{64, 128, 1028, 0}, 1}, {{32, 32, 2308, 0}, 1}}));
  const MatMulCase batch = {5, 64, 1100, 4, false, false, -0.5, 2, 3, 8};
  const MatMulCase one_b = {5, 7, 1100, 4, false, true, 1, 1, 2, 4, false, /*one_b=*/true};
  Run<float, float>("split_fp16", {{batch, 1}, {one_b, 1}});
  ExpectKernels("SplitProduct", 4);
}

// Numbers too far apart for the parts: the tile is computed on the FP32 units.
TEST_F(SplitExecutorTest, NumbersFarApart) {
  const auto spread = [](MatMulTestProblem<float>* problem) {
    problem->ForOperands([](float x) { return std::ldexp(x, static_cast<int>(55 * x)); });
  };
  Run<float, float>("split_fp16", InAllLayouts({{{68, 40, 129, 0}, 1}}), {}, spread);
  Run<float, float>("split_bf16_6", {{{68, 40, 129, 0}, 1}}, {}, spread);
  ExpectKernels("SplitProduct", 5);
}

// Operands of all layouts, whose parts are K-major: rows of a block, and strips whose columns are
// cut and whose rows are not all cached.
TEST_F(SplitExecutorTest, Slices) {
  Run<float, float>("split_int8", InAllLayouts({{{36, 34, 2049, 1}, 1}}));
  Run<float, float>("split_int8", {{{36, 20, 2048, 0, false, false, -0.5, 2, 2, 8}, 2}});
  const auto spread = [](MatMulTestProblem<float>* problem) {
    problem->ForOperands([](float x) { return std::ldexp(x, static_cast<int>(55 * x)); });
  };
  Run<float, float>("split_int8", {{{20, 18, 2049, 0, true}, 1}}, {}, spread);
  ExpectKernels("SplitProduct", 4);
}

// TF32: the same, with fewer elements of a column stored at a time, and tiles of each width.
TEST_F(SplitExecutorTest, PairsOfTf32) {
  Run<float, float>("split_tf32", InAllLayouts({{{68, 40, 136, 0}, 2},
                                                {{124, 120, 131, 1}, 1},
                                                {{124, 120, 160, 0}, 1},
                                                {{200, 184, 129, 0}, 1}}));
  const MatMulCase deep = {5, 34, 1100, 1, true};
  const MatMulCase one_b = {36, 20, 130, 0, true, true, -0.5, 2, 2, 4, false, /*one_b=*/true};
  Run<float, float>("split_tf32", {{deep, 1}, {one_b, 2}});
  const auto spread = [](MatMulTestProblem<float>* problem) {
    problem->ForOperands([](float x) { return std::ldexp(x, static_cast<int>(55 * x)); });
  };
  Run<float, float>("split_tf32", InAllLayouts({{{68, 40, 129, 0}, 1}}), {}, spread);
  ExpectKernels("SplitProduct", 12);
}

// FP16 and FP8: tiles of 128 and 192 columns, k that ends within a turn and with it, rows that a
// block splits, strips whose columns are cut, and numbers too far apart.
TEST_F(SplitExecutorTest, Fp16AndFp8) {
  Run<float, float>("split_fp8", InAllLayouts({{{68, 40, 136, 0}, 2}, {{200, 184, 129, 0}, 1}}));
  const MatMulCase odd = {65, 67, 133, 1, false, true, -0.5, 2};
  const MatMulCase deep = {5, 34, 1100, 1, true};
  const MatMulCase turns = {260, 190, 256, 0, false, true};
  const MatMulCase batch = {36, 20, 128, 0, false, false, 1, 0, 3, 8};
  const MatMulCase one_b = {36, 20, 130, 0, true, true, -0.5, 2, 2, 4, false, /*one_b=*/true};
  Run<float, float>("split_fp8", {{odd, 1}, {deep, 1}, {turns, 1}, {batch, 2}, {one_b, 2}});
  const auto spread = [](MatMulTestProblem<float>* problem) {
    problem->ForOperands([](float x) { return std::ldexp(x, static_cast<int>(55 * x)); });
  };
  Run<float, float>("split_fp8", InAllLayouts({{{68, 40, 129, 0}, 1}}), {}, spread);
  ExpectKernels("SplitProduct", 8);
}

// Operands split on their way to shared memory: all tiles, with lines that are whole, pairs or not,
// and with edges; k divided by clusters; batches that share an operand.
TEST_F(SplitExecutorTest, Fused) {
  Run<float, float>(
      "split_fused",
      InAllLayouts({{{128, 128, 128, 0}, 1}, {{257, 33, 135, 1}, 1}, {{60, 260, 66, 0}, 1}}));
  ExpectKernels("SplitFusedProduct", 12);
  const MatMulCase odd = {65, 67, 133, 1, false, true, -0.5, 2};
  const MatMulCase batch = {36, 20, 128, 0, false, false, 1, 0, 3, 8};
  const MatMulCase one_b = {36, 20, 65, 0, true, true, 1, 1, 2, 4, false, /*one_b=*/true};
  const MatMulCase deep = {3, 5, 1030, 0};
  Run<float, float>("split_fused", {{odd, 1}, {batch, 2}, {one_b, 2}, {deep, 132}});
  EXPECT_EQ(launches_, 1u);
}

// Of six tiles the two behind the first round are divided along k, and another kernel adds their
// sums: with alpha and beta, edges of rows and columns, and a k that its parts do not divide.
TEST_F(SplitExecutorTest, FusedInParts) {
  const MatMulCase plain = {300, 129, 800, 0};
  const MatMulCase scaled = {300, 129, 801, 1, true, true, -0.5, 2};
  for (const MatMulCase& matmul_case : {plain, scaled}) {
    Run<float, float>("split_fused", {{matmul_case, 4}});
    EXPECT_EQ(launches_, 2u);
  }
  ExpectKernels("AddPartialSums", 2);
}

// Most sums are zero, and so are most elements: none may lack bits.
TEST_F(SplitExecutorTest, FusedZeros) {
  const auto sparse = [](MatMulTestProblem<float>* problem) {
    problem->ForOperands([](float x) { return x > 0.95F ? x : 0.0F; });
  };
  Run<float, float>("split_fused", InAllLayouts({{{68, 40, 70, 1}, 1}}), {}, sparse);
  ExpectKernels("SplitFusedProduct", 4);
}

// FP64 by residues: more rows than are computed at a time would take too long here. 600 columns are
// more than two blocks of the kernels that compute an element by a thread.
TEST_F(SplitExecutorTest, Moduli) {
  Run<double, double>(
      "int8_moduli",
      {{{33, 40, 130, 0}, 1}, {{5, 67, 128, 1}, 1}, {{1, 1, 300, 0}, 1}, {{2, 600, 128, 0}, 1}});
  EXPECT_GE(launches_, 5u);
  Run<double, double>("int8_moduli", {{{9, 8, 127, 3}, 1}});
  EXPECT_EQ(launches_, 1u);  // In FP64.
  Run<double, double>("int8_moduli", {{{2, 600, 127, 0}, 1}});
  EXPECT_EQ(launches_, 1u);
}

}  // namespace
}  // namespace stridewise

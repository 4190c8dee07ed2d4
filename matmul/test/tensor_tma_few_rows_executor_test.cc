// The tensor kernels of few rows or columns that load by the TMA on the host executor, with calls
// whose operands it can address.

#include <cstdint>
#include <vector>

#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {
namespace {

using TensorTmaFewRowsTest = KernelsOnExecutorTest;

// Few columns and few rows, of which a cluster divides k.
TEST_F(TensorTmaFewRowsTest, Split) {
  Run<Bf16, Bf16>("tensor_split", InAllLayouts({{{136, 8, 392, 0}, 132},
                                                {{8, 136, 72, 0}, 132},
                                                {{136, 16, 136, 0}, 132},
                                                {{136, 24, 200, 0}, 132},
                                                {{264, 64, 136, 0}, 132},
                                                {{104, 120, 200, 0}, 1}}));
  ExpectKernels("TensorSplit", 16);
}

TEST_F(TensorTmaFewRowsTest, SplitStores) {
  const MatMulCase odd = {127, 23, 136, 0, false, true, -0.5, 2};
  MatMulCase bias = {136, 24, 72, 0};
  bias.bias = true;
  bias.activation = Activation::kGelu;
  const MatMulCase batch = {24, 136, 72, 0, false, false, 1, 0, 3, 8};
  const MatMulCase one_b = {136, 24, 40, 8, true, false, 1, 1, 3, 0, false, /*one_b=*/true};
  const std::vector<Call> calls = {{odd, 132}, {bias, 132}, {batch, 132}, {one_b, 132}, {odd, 1}};
  Run<Bf16, Bf16>("tensor_split", calls);
  Run<Fp16, Fp16>("tensor_split", calls);
  Run<Bf16, float>("tensor_split", calls);
  Run<Fp16, float>("tensor_split", calls);
  ExpectKernels("TensorSplit", 4);
}

// Wide tiles of C and of C transposed, cut on both sides, in clusters that divide k.
TEST_F(TensorTmaFewRowsTest, WideSplit) {
  std::vector<Call> calls = InAllLayouts({{{120, 120, 712, 0}, 1},
                                          {{120, 184, 712, 0}, 1},
                                          {{184, 120, 712, 0}, 1},
                                          {{120, 248, 712, 0}, 1},
                                          {{248, 120, 712, 0}, 1},
                                          {{72, 136, 40, 0}, 1},
                                          {{136, 72, 40, 0}, 1},
                                          {{72, 200, 40, 0}, 1},
                                          {{200, 72, 40, 0}, 1}});
  for (const bool transpose_a : {false, true}) {
    calls.push_back({{120, 216, 712, 0, transpose_a, true}, 1});
  }
  Run<Bf16, Bf16>("tensor_split", calls);
  ExpectKernels("TensorSplit", 14);
}

TEST_F(TensorTmaFewRowsTest, WideSplitStores) {
  const MatMulCase odd = {127, 183, 712, 0, false, true, -0.5, 2};
  const MatMulCase odd_columns = {183, 127, 712, 0, false, true, -0.5, 2};
  MatMulCase bias = {120, 184, 712, 0};
  bias.bias = true;
  bias.activation = Activation::kGelu;
  const MatMulCase batch = {120, 184, 712, 0, false, false, 1, 0, 2, 8};
  const std::vector<Call> calls = {{odd, 1}, {odd_columns, 1}, {bias, 1}, {batch, 4}};
  Run<Bf16, Bf16>("tensor_split", calls);
  Run<Fp16, Fp16>("tensor_split", calls);
  Run<Bf16, float>("tensor_split", calls);
  Run<Fp16, float>("tensor_split", calls);
  ExpectKernels("TensorSplit", 4);
}

// Tiles of C and of C transposed, cut on both sides.
TEST_F(TensorTmaFewRowsTest, KParts) {
  std::vector<Call> calls = InAllLayouts({{{120, 120, 2120, 0}, 10},
                                          {{120, 120, 2120, 0}, 4},
                                          {{136, 184, 2120, 0}, 10},
                                          {{136, 184, 2120, 0}, 6},
                                          {{120, 264, 2120, 0}, 4}});
  // Tiles of 96 and 144 columns, which lie along k.
  for (const bool transpose : {false, true}) {
    calls.push_back({{72, 120, 2120, 0, false, transpose}, 4});
    calls.push_back({{136, 184, 2120, 0, false, transpose}, 4});
  }
  kernel_from_end_ = 2;  // The last one adds sums.
  Run<Bf16, Bf16>("tensor_k_parts", calls);
  ExpectKernels("TensorKParts", 12);
}

TEST_F(TensorTmaFewRowsTest, KPartsStores) {
  const MatMulCase odd = {127, 183, 2120, 0, false, true, -0.5, 2};
  const MatMulCase odd_columns = {183, 127, 2120, 0, false, true, -0.5, 2};
  MatMulCase bias = {120, 184, 2120, 0};
  bias.bias = true;
  bias.activation = Activation::kGelu;
  const MatMulCase batch = {120, 184, 2120, 0, false, false, 1, 0, 2, 8};
  const std::vector<Call> calls = {{odd, 4}, {odd_columns, 4}, {bias, 4}, {batch, 7}};
  kernel_from_end_ = 2;
  Run<Bf16, Bf16>("tensor_k_parts", calls);
  Run<Fp16, Fp16>("tensor_k_parts", calls);
  Run<Bf16, float>("tensor_k_parts", calls);
  Run<Fp16, float>("tensor_k_parts", calls);
  ExpectKernels("TensorKParts", 4);
}

// Every tile of the few rows or columns, in clusters that divide k and alone: wide ones where
// multiprocessors are so few that the plan has to take them.
TEST_F(TensorTmaFewRowsTest, Decode) {
  std::vector<Call> calls = InAllLayouts({{{56, 136, 392, 0}, 132}, {{136, 40, 72, 0}, 132}});
  for (const bool few_turned : {false, true}) {
    calls.push_back({{64, 184, 136, 0, few_turned, true}, 2});
    calls.push_back({{104, 64, 200, 0, false, few_turned}, 1});
    calls.push_back({{48, 224, 72, 0, few_turned, true}, 1});
    calls.push_back({{8, 72, 328, 0, few_turned, true}, 1});
    calls.push_back({{8, 104, 328, 0, few_turned, true}, 1});
    calls.push_back({{104, 8, 520, 0, false, few_turned}, 1});
    calls.push_back({{136, 8, 40, 0, false, few_turned}, 1});
    // As many rows of the few as there are: rounded to 8 where they lie along k, and else to 16, 32
    // or 64, or 8 without gaps. Blocks that begin at other steps along k, too.
    calls.push_back({{16, 584, 328, 0, few_turned, true}, 132});
    calls.push_back({{584, 24, 136, 8, false, few_turned}, 132});
    calls.push_back({{584, 8, 200, 0, false, few_turned, 1, 0, 3}, 132});
    calls.push_back({{1, 136, 264, 0, false, few_turned}, 132});
    calls.push_back({{8, 72, 1352, 0, few_turned, true}, 1});
    calls.push_back({{96, 24, 200, 0, false, few_turned}, 2});
  }
  Run<Bf16, Bf16>("tensor_decode", calls);
  ExpectKernels("TensorDecode", 10);
}

TEST_F(TensorTmaFewRowsTest, DecodeStores) {
  const MatMulCase odd = {47, 127, 136, 0, false, true, -0.5, 2};
  const MatMulCase odd_columns = {127, 35, 136, 0, false, true, -0.5, 2};
  MatMulCase bias = {40, 136, 72, 0};
  bias.bias = true;
  bias.activation = Activation::kGelu;
  const MatMulCase batch = {136, 40, 72, 0, false, false, 1, 0, 3, 8};
  const MatMulCase one_b = {40, 136, 40, 8, true, false, 1, 1, 3, 0, false, /*one_b=*/true};
  const MatMulCase deep = {40, 64, 1160, 0};
  const MatMulCase one_row = {1, 136, 1352, 0, false, true, -0.5, 2};
  const MatMulCase few_columns = {127, 11, 136, 0, false, true, 1, 1};
  const std::vector<Call> calls = {{odd, 132},   {odd_columns, 132}, {bias, 132},
                                   {batch, 132}, {one_b, 132},       {odd, 2},
                                   {deep, 1},    {one_row, 2},       {few_columns, 132}};
  Run<Bf16, Bf16>("tensor_decode", calls);
  Run<Fp16, Fp16>("tensor_decode", calls);
  Run<Bf16, float>("tensor_decode", calls);
  Run<Fp16, float>("tensor_decode", calls);
  ExpectKernels("TensorDecode", 4);
}

// Every tile, with the operand that lies along k or across it as its rows, and more steps than a
// block fills alone, and than it has stages.
TEST_F(TensorTmaFewRowsTest, Pair) {
  std::vector<Call> calls;
  const struct {
    int64_t few, many, k;
  } shapes[] = {{6, 120, 1096}, {12, 56, 1096}, {30, 56, 1096}};
  for (const auto& s : shapes) {
    calls.push_back({{s.few, s.many, s.k, 0}, 2});
    calls.push_back({{s.few, s.many, 72, 0, false, true}, 2});
    calls.push_back({{s.many, s.few, s.k, 0, false, true}, 2});
    calls.push_back({{s.many, s.few, 392, 0, true, true}, 2});
  }
  Run<Bf16, Bf16>("tensor_pair", calls);
  ExpectKernels("TensorPair", 6);
}

// More than one cluster, cut tiles, a partner without a part of C, and stores.
TEST_F(TensorTmaFewRowsTest, PairStores) {
  const MatMulCase odd = {27, 127, 136, 0, false, true, -0.5, 2};
  const MatMulCase odd_columns = {127, 9, 136, 0, false, true, -0.5, 2};
  MatMulCase bias = {20, 136, 72, 0};
  bias.bias = true;
  bias.activation = Activation::kGelu;
  const MatMulCase batch = {24, 136, 72, 0, false, false, 1, 0, 3, 8};
  const MatMulCase one_b = {7, 136, 40, 8, false, false, 1, 1, 3, 0, false, /*one_b=*/true};
  const std::vector<Call> calls = {{odd, 6}, {odd_columns, 6}, {bias, 6}, {batch, 18}, {one_b, 9}};
  Run<Bf16, Bf16>("tensor_pair", calls);
  Run<Fp16, Fp16>("tensor_pair", calls);
  Run<Bf16, float>("tensor_pair", calls);
  Run<Fp16, float>("tensor_pair", calls);
  ExpectKernels("TensorPair", 8);
}

// Few along k and across it, warps that have all of their part of k
// and none, one stage and more lines than stages, cut lines, and stores.
TEST_F(TensorTmaFewRowsTest, Lines) {
  MatMulCase bias = {14, 72, 1160, 0, false, true};
  bias.bias = true;
  bias.activation = Activation::kGelu;
  const std::vector<Call> calls = {{{3, 20, 4096, 0, false, true}, 3},
                                   {{16, 100, 1024, 0, true, true}, 4},
                                   {{100, 16, 1032, 8, false, false, -0.5, 2}, 4},
                                   {{8, 33, 2056, 0, true, true}, 1},
                                   {{150, 9, 1032, 8, false, true, -0.5, 2}, 4},
                                   {{39, 1, 1800, 0, false, true}, 4},
                                   {bias, 4}};
  Run<Bf16, Bf16>("tensor_lines", calls);
  Run<Fp16, Fp16>("tensor_lines", {calls[1], calls[2], calls[4]});
  Run<Bf16, float>("tensor_lines", {calls[2], calls[4]});
  ExpectKernels("TensorLines", 2);
}

}  // namespace
}  // namespace stridewise

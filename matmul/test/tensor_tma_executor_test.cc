// The tensor kernels of large tiles that load by the TMA on the host executor, with calls whose
// operands it can address: tensor_executor_test has few of these, and of others the kernels leave
// to other kernels.

#include <cstdint>
#include <vector>

#include "common/base/case_random.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {
namespace {

using TensorTmaExecutorTest = KernelsOnExecutorTest;

// Every tile, with a cluster and without, in every layout.
TEST_F(TensorTmaExecutorTest, Tile) {
  const std::vector<Call> calls = InAllLayouts({{{104, 64, 72, 0}, 2},
                                                {{136, 40, 72, 0}, 1},
                                                {{40, 136, 72, 0}, 1},
                                                {{72, 40, 72, 0}, 1},
                                                {{392, 72, 72, 0}, 2},
                                                {{104, 192, 40, 0}, 1},
                                                {{104, 264, 40, 0}, 1},
                                                {{120, 200, 72, 0}, 1},
                                                {{200, 120, 72, 0}, 1},
                                                {{200, 192, 40, 0}, 1},
                                                {{200, 200, 40, 0}, 1},
                                                {{8, 8, 40, 0}, 1},
                                                {{8, 72, 40, 0}, 1},
                                                {{8, 136, 40, 0}, 1},
                                                {{8, 200, 200, 0}, 1},
                                                {{64, 136, 40, 0}, 1},
                                                {{40, 72, 72, 0}, 1}});
  Run<Bf16, Bf16>("tensor_tile", calls);
  ExpectKernels("TensorProduct", 36);
  if (!IsExhaustive()) return;
  Run<Fp16, Fp16>("tensor_tile", calls);
  Run<Bf16, float>("tensor_tile", calls);
  Run<Fp16, float>("tensor_tile", calls);
  ExpectKernels("TensorProduct", 144);
}

// Tiles of C transposed: cut on both sides, more than one of a block, and what leaves registers.
TEST_F(TensorTmaExecutorTest, Turned) {
  std::vector<Call> calls;
  for (const bool transpose_b : {false, true}) {
    calls.push_back({{104, 264, 72, 0, false, transpose_b}, 1});
    calls.push_back({{72, 40, 392, 0, false, transpose_b}, 2});
    calls.push_back({{152, 264, 392, 0, false, transpose_b, -0.5}, 2});
    calls.push_back({{120, 104, 72, 8, false, transpose_b, 1, 0, 3, 8}, 2});
    calls.push_back({{40, 264, 584, 0, false, transpose_b}, 4});
    calls.push_back({{160, 264, 392, 0, false, transpose_b}, 4});
  }
  const MatMulCase deep_in_clusters = {144, 256, 3208, 0, false, true};
  calls.push_back({deep_in_clusters, 2});
  Run<Bf16, Bf16>("tensor_turned", calls);
  Run<Fp16, Fp16>("tensor_turned", calls);
  ExpectKernels("TensorProduct", 16);
}

// Stages and what C is stored from are used again; C by the TMA, by rows and one by one; types.
TEST_F(TensorTmaExecutorTest, TileStores) {
  const MatMulCase deep = {56, 64, 648, 0};
  const MatMulCase tall = {264, 64, 72, 0, false, true};
  const MatMulCase odd = {127, 119, 72, 0, false, true};
  const MatMulCase odd_of_two = {200, 199, 72, 0, false, true, -0.5};
  const MatMulCase added = {200, 120, 72, 8, true, false, 1, 2};
  const MatMulCase added_wide = {136, 256, 72, 0, false, true, -0.5, 1};
  const MatMulCase added_one_by_one = {120, 192, 72, 0, false, false, 1, 2};
  const MatMulCase batch = {72, 64, 72, 0, false, false, 1, 0, 3, 8};
  const MatMulCase one_a = {72, 64, 40, 8, false, false, 1, 1, 3, 0, /*one_a=*/true};
  MatMulCase offset = {72, 120, 72, 0};
  offset.offset_c = 1;
  const std::vector<Call> calls = {{deep, 1},
                                   {tall, 1},
                                   {odd, 1},
                                   {odd_of_two, 1},
                                   {added, 1},
                                   {added_wide, 1},
                                   {added_one_by_one, 1},
                                   {batch, 2},
                                   {one_a, 1},
                                   {offset, 1}};
  Run<Bf16, Bf16>("tensor_tile", calls);
  Run<Fp16, Fp16>("tensor_tile", {{odd, 1}, {added, 1}, {tall, 1}});
  Run<Bf16, float>("tensor_tile", {{odd, 1}, {added, 1}, {tall, 1}});
  Run<Fp16, float>("tensor_tile", {{odd, 1}, {added, 1}, {tall, 1}});
  ExpectKernels("TensorProduct", 12);
}

// Every tile in every layout that it is for, with more steps than a block has stages, cut tiles and
// batches.
TEST_F(TensorTmaExecutorTest, Single) {
  std::vector<Call> calls = InAllLayouts({{{40, 40, 840, 0}, 2},
                                          {{56, 56, 840, 8}, 1},
                                          {{56, 120, 584, 0}, 1},
                                          {{120, 120, 456, 0}, 1},
                                          {{120, 184, 328, 0}, 1},
                                          {{120, 248, 328, 8}, 1},
                                          {{120, 56, 584, 0}, 1}});
  for (const bool transpose_b : {false, true}) {
    calls.push_back({{136, 120, 392, 0, false, transpose_b}, 1});
    calls.push_back({{200, 136, 72, 8, false, transpose_b, -0.5, 0, 3, 8}, 132});
    calls.push_back({{264, 328, 40, 0, true, transpose_b, -0.5}, 12});
    calls.push_back({{88, 200, 72, 0, false, transpose_b, -0.5, 0, 3, 8}, 132});
  }
  Run<Bf16, Bf16>("tensor_single", calls);
  Run<Fp16, Fp16>("tensor_single", calls);
  ExpectKernels("TensorSingle", 50);
}

// Tiles in clusters, where rows begin within lines: each of them, cut on both sides, with more
// steps than there are stages, and a batch.
TEST_F(TensorTmaExecutorTest, Clustered) {
  std::vector<Call> calls = InAllLayouts({{{200, 264, 1096, 0}, 9}});
  for (const bool transpose_b : {false, true}) {
    calls.push_back({{180, 248, 840, 0, false, transpose_b, -0.5}, 9});
    calls.push_back({{260, 72, 840, 0, false, transpose_b}, 9});
    calls.push_back({{136, 392, 520, 0, false, transpose_b}, 9});
    calls.push_back({{180, 248, 1160, 8, false, transpose_b, 1, 0, 3, 8}, 27});
  }
  Run<Bf16, Bf16>("tensor_single", calls);
  Run<Fp16, Fp16>("tensor_single", calls);
  ExpectKernels("TensorClustered", 20);
}

// What it leaves to tensor_tile: C of float, beta, rows of C that are no vectors, and more tiles
// than run at once.
TEST_F(TensorTmaExecutorTest, SingleLeavesCalls) {
  Run<Bf16, float>("tensor_single", {{{56, 56, 72, 0}, 132}});
  Run<Bf16, Bf16>("tensor_single", {{{56, 56, 72, 0, false, false, 1, 1}, 132},
                                    {{56, 52, 72, 0, false, true}, 132},
                                    {{264, 328, 40, 0}, 5}});
  ExpectKernels("TensorProduct", 4);
}

// The choice among them, with copies of operands that the TMA cannot address.
TEST_F(TensorTmaExecutorTest, TensorPacksOperands) {
  MatMulCase odd = {257, 255, 201, 1};
  Run<Bf16, Bf16>("tensor", {{odd, 4}});
  EXPECT_EQ(launches_, 2u);
  odd.transpose_a = odd.transpose_b = true;
  Run<Fp16, float>("tensor", {{odd, 4}});
  EXPECT_EQ(launches_, 2u);
  ExpectKernels("TensorProduct", 2);
}

}  // namespace
}  // namespace stridewise

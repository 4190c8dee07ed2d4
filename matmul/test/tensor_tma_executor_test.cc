// The tensor kernels that load by the TMA on the host executor, with calls whose operands it can
// address: tensor_executor_test has few of these, and of others the kernels leave to other kernels.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/case_random.h"
#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {
namespace {

class TensorTmaExecutorTest : public KernelsOnExecutorTest {
 protected:
  // Returns what the kernel makes of a sum of `large` squared and products of `small`.
  template <typename T, typename Out>
  float SumBehind(const char* name, MatMulCase c, MatMulPrecision precision, float large,
                  float small) {
    c.precision = precision;
    const auto implementation = OnHostExecutor(*FindMatMulImplementation(name));
    if (!implementation.ok()) return NAN;
    MatMulTestProblem<T, Out> problem(c);
    problem.ForOperands([&](T) { return T(1.0f); });
    for (int64_t i = 1; i < c.k; ++i) problem.SetA(0, i, T(small));
    problem.SetA(0, 0, T(large));
    problem.SetB(0, 0, T(large));
    DeviceModel device = H200Model();
    device.multiprocessors = 2;
    const absl::Status status =
        RunAsPlanned(*implementation, device, executors_[0].get(), &problem);
    return status.ok() ? static_cast<float>(problem.args().template C<Out>()(0, 0)) : NAN;
  }
};

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
                                                {{200, 200, 40, 0}, 1}});
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

// Few columns and few rows, of which a cluster divides k.
TEST_F(TensorTmaExecutorTest, Split) {
  Run<Bf16, Bf16>("tensor_split", InAllLayouts({{{136, 8, 392, 0}, 132},
                                                {{8, 136, 72, 0}, 132},
                                                {{136, 16, 136, 0}, 132},
                                                {{136, 24, 200, 0}, 132},
                                                {{264, 64, 136, 0}, 132},
                                                {{104, 120, 200, 0}, 1}}));
  ExpectKernels("TensorSplit", 16);
}

TEST_F(TensorTmaExecutorTest, SplitStores) {
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
TEST_F(TensorTmaExecutorTest, WideSplit) {
  std::vector<Call> calls = InAllLayouts({{{120, 120, 712, 0}, 1},
                                          {{120, 184, 712, 0}, 1},
                                          {{184, 120, 712, 0}, 1},
                                          {{120, 248, 712, 0}, 1},
                                          {{248, 120, 712, 0}, 1}});
  for (const bool transpose_a : {false, true}) {
    calls.push_back({{120, 216, 712, 0, transpose_a, true}, 1});
  }
  Run<Bf16, Bf16>("tensor_split", calls);
  ExpectKernels("TensorSplit", 14);
}

TEST_F(TensorTmaExecutorTest, WideSplitStores) {
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

// Every tile of the few rows or columns, in clusters that divide k and alone: wide ones where
// multiprocessors are so few that the plan has to take them.
TEST_F(TensorTmaExecutorTest, Decode) {
  std::vector<Call> calls = InAllLayouts({{{56, 136, 392, 0}, 132}, {{136, 40, 72, 0}, 132}});
  for (const bool few_turned : {false, true}) {
    calls.push_back({{64, 184, 136, 0, few_turned, true}, 2});
    calls.push_back({{104, 64, 200, 0, false, few_turned}, 1});
    calls.push_back({{48, 224, 72, 0, few_turned, true}, 1});
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

TEST_F(TensorTmaExecutorTest, DecodeStores) {
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
  std::vector<Call> calls = InAllLayouts({{{200, 504, 520, 0}, 9}});
  for (const bool transpose_b : {false, true}) {
    calls.push_back({{180, 248, 840, 0, false, transpose_b, -0.5}, 9});
    calls.push_back({{500, 120, 520, 0, false, transpose_b}, 9});
    calls.push_back({{180, 504, 520, 0, false, transpose_b}, 9});
    calls.push_back({{180, 248, 520, 8, false, transpose_b, 1, 0, 3, 8}, 27});
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

// Every tile, with the operand that lies along k or across it as its rows, and more steps than a
// block fills alone, and than it has stages.
TEST_F(TensorTmaExecutorTest, Pair) {
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
TEST_F(TensorTmaExecutorTest, PairStores) {
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
TEST_F(TensorTmaExecutorTest, Lines) {
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

TEST_F(TensorTmaExecutorTest, Fp16Sums) {
  Run<Fp16, Fp16>("tensor_fp16_sums",
                  InAllLayouts({{{200, 200, 72, 0}, 1}, {{56, 264, 40, 8}, 2}}));
  ExpectKernels("TensorProduct", 4);
}

// The sums that a caller asks for and no others: 4096 and 79 times 2^-5, which FP16 does not hold
// beside it, and 256 and products of 2^-6, which FP8's 13 bits do not.
TEST_F(TensorTmaExecutorTest, SumsThatAreAskedFor) {
  const MatMulCase in_fp16 = {136, 264, 80, 0};
  constexpr auto kDefault = MatMulPrecision::kFp32;
  EXPECT_EQ((SumBehind<Fp16, Fp16>("auto", in_fp16, kDefault, 64, 0x1p-5f)), 4100);
  EXPECT_EQ(
      (SumBehind<Fp16, Fp16>("tensor_fp16_sums", in_fp16, MatMulPrecision::kFp16Sums, 64, 0x1p-5f)),
      4096);
  const MatMulCase in_fp8 = {136, 248, 384, 0, false, true};  // One tile of fast sums.
  EXPECT_EQ((SumBehind<E4m3, float>("auto", in_fp8, kDefault, 16, 0x1p-6f)), 260);
  EXPECT_EQ((SumBehind<E4m3, float>("auto", in_fp8, MatMulPrecision::kFastSums, 16, 0x1p-6f)), 256);
}

// Both tiles with both operands in shared memory, and with either in registers, where C is perhaps
// stored transposed. The fourth layout needs a copy of an operand.
TEST_F(TensorTmaExecutorTest, Tf32) {
  std::vector<Call> calls = {{{200, 119, 40, 0, false, true}, 1}};
  for (const Call& call : InAllLayouts({{{200, 120, 72, 0}, 1},
                                        {{200, 248, 40, 4}, 1},
                                        {{136, 72, 40, 4, false, false, -0.5, 2}, 1},
                                        {{56, 120, 264, 0, false, false, 1, 0, 2, 8}, 1}})) {
    if (!call.c.transpose_a || call.c.transpose_b) calls.push_back(call);
  }
  Run<float, float>("tensor_tf32", calls);
  ExpectKernels("TensorProduct", 4);
}

// Up to 128 rows of tiles, which are without clusters: those of C, and of C transposed.
TEST_F(TensorTmaExecutorTest, Tf32WithoutClusters) {
  std::vector<Call> calls;
  for (const int multiprocessors : {1, 2}) {
    calls.push_back({{120, 248, 72, 0, false, true}, multiprocessors});
    calls.push_back({{248, 120, 72, 4, false, false, -0.5, 2}, multiprocessors});
    calls.push_back({{75, 250, 200, 0, false, true}, multiprocessors});
    calls.push_back({{120, 248, 40, 0, true, true}, multiprocessors});
  }
  Run<float, float>("tensor_few_tf32", calls);
  ExpectKernels("TensorProduct", 4);
}

// Up to 64 rows or columns beside an operand along k, by tensor_decode's kernel.
TEST_F(TensorTmaExecutorTest, Tf32OfFew) {
  MatMulCase bias = {40, 136, 72, 0, false, true};
  bias.bias = true;
  bias.activation = Activation::kGelu;
  Run<float, float>("tensor_few_tf32", {{{40, 136, 584, 0, false, true}, 132},
                                        {{5, 250, 72, 0, false, true, -0.5}, 2},
                                        {{136, 24, 1160, 4, false, true}, 132},
                                        {{250, 64, 40, 0, false, true, -0.5, 2}, 2},
                                        {{7, 119, 264, 0, false, true, 1, 0, 3, 8}, 132},
                                        {bias, 132}});
  ExpectKernels("TensorDecode", 2);
}

// Every tile, with more steps than a block has stages where consumers multiply in turn, and an odd
// number of tiles; and C that the TMA cannot store.
TEST_F(TensorTmaExecutorTest, Int8) {
  Run<int8_t, int32_t>("tensor_int8", {{{250, 250, 1040, 0, false, true}, 1},
                                       {{200, 120, 144, 16, false, true, 1, 2}, 2},
                                       {{520, 120, 912, 0, false, true}, 1},
                                       {{300, 119, 912, 0, false, true, -2}, 1},
                                       {{180, 380, 1040, 0, false, true}, 1},
                                       {{60, 370, 1040, 0, false, true}, 1},
                                       {{104, 248, 80, 16, false, true, 1, 2}, 1},
                                       {{56, 120, 144, 0, false, true, 1, 0, 3, 16}, 1}});
  ExpectKernels("TensorProduct", 5);
}

TEST_F(TensorTmaExecutorTest, Fp8) {
  const std::vector<Call> calls = {{{200, 184, 144, 0, false, true}, 1},
                                   {{184, 184, 1168, 0, false, true, -0.5}, 1},
                                   {{104, 120, 144, 16, false, true, -0.5, 2}, 1},
                                   {{264, 119, 16, 0, false, true}, 2},
                                   {{56, 120, 144, 0, false, true, 1, 0, 3, 16}, 1}};
  for (const char* const name : {"tensor_fp8", "tensor_fp8_fast"}) {
    Run<E4m3, float>(name, calls);
    Run<E4m3, Bf16>(name, calls);
    Run<E5m2, Fp16>(name, calls);
  }
  ExpectKernels("TensorProduct", 9);
}

// Operands of two types: tiles of C and of C transposed, where the two change places.
TEST_F(TensorTmaExecutorTest, Fp8OfTwoTypes) {
  const std::vector<Call> calls = {{{200, 184, 144, 0, false, true}, 1},
                                   {{184, 184, 272, 0, false, true, -0.5}, 1},
                                   {{104, 120, 144, 16, false, true, -0.5, 2}, 1},
                                   {{264, 119, 16, 0, false, true}, 2}};
  Run<E4m3, float, E5m2>("tensor_fp8", calls);
  Run<E4m3, Bf16, E5m2>("tensor_fp8", calls);
  Run<E5m2, Bf16, E4m3>("tensor_fp8", calls);
  Run<E5m2, Fp16, E4m3>("tensor_fp8", calls);
  ExpectKernels("TensorProduct", 10);
  const std::vector<float> of_a(200 * 2, 0.75F), of_b(2 * 2, 2.5F);
  Run<E5m2, float, E4m3>("tensor_fp8", {{{200, 184, 144, 0, false, true, 0.5, 2}, 1}},
                         {of_a.data(), of_b.data(), /*per_128=*/true});
}

TEST_F(TensorTmaExecutorTest, Fp8WithScales) {
  const MatMulCase c = {200, 136, 656, 0, false, true};
  std::vector<float> of_a(200 * 6), of_b(2 * 6);
  for (size_t i = 0; i < of_a.size(); ++i) of_a[i] = std::ldexp(1.25f, static_cast<int>(i % 7) - 3);
  for (size_t i = 0; i < of_b.size(); ++i) of_b[i] = std::ldexp(1.5f, static_cast<int>(i % 5) - 2);
  for (const char* const name : {"tensor_fp8", "tensor_fp8_fast"}) {
    for (const bool per_128 : {false, true}) {
      Run<E4m3, float>(name, {{c, 1}}, {of_a.data(), of_b.data(), per_128});
    }
    Run<E5m2, Bf16>(name, {{c, 1}}, {nullptr, of_b.data(), true});
  }
  ExpectKernels("TensorProduct", 4);
}

}  // namespace
}  // namespace stridewise

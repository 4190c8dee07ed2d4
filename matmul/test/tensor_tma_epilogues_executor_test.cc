// Biases and activations by the tensor kernels that load by the TMA, on the host executor.

#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {
namespace {

using TensorTmaEpiloguesTest = KernelsOnExecutorTest;

// Each bias and activation, with alpha and beta, by the kernels that have an epilogue: all ways to
// store C, and tiles of C transposed.
std::vector<Call> WithEpilogues(const std::vector<Call>& calls) {
  std::vector<Call> all;
  for (Call call : calls) {
    for (const auto& [bias, activation] :
         {std::pair(true, Activation::kNone), std::pair(true, Activation::kGelu),
          std::pair(false, Activation::kRelu), std::pair(true, Activation::kGeluErf)}) {
      call.c.bias = bias;
      call.c.activation = activation;
      all.push_back(call);
    }
  }
  return all;
}

TEST_F(TensorTmaEpiloguesTest, Tf32Finished) {
  std::vector<Call> calls = {{{200, 119, 40, 0, false, true}, 1}};
  for (const Call& call : InAllLayouts({{{200, 120, 72, 0}, 1},
                                        {{200, 248, 40, 4, false, false, 0.5}, 1},
                                        {{136, 72, 40, 4, false, false, -0.5, 2, 2, 8}, 1}})) {
    if (!call.c.transpose_a || call.c.transpose_b) calls.push_back(call);
  }
  Run<float, float>("tensor_tf32", WithEpilogues(calls));
  EXPECT_EQ(launches_, 1u);
  ExpectKernels("TensorProductFinished", 4);
}

TEST_F(TensorTmaEpiloguesTest, Fp8Finished) {
  const std::vector<Call> calls = WithEpilogues({{{200, 184, 144, 0, false, true}, 1},
                                                 {{184, 184, 272, 0, false, true, -0.5, 2}, 1},
                                                 {{264, 119, 16, 0, false, true}, 2},
                                                 {{56, 120, 144, 0, false, true, 1, 0, 3, 16}, 1}});
  Run<E4m3, float>("tensor_fp8", calls);
  Run<E4m3, Bf16>("tensor_fp8", calls);
  Run<E5m2, Fp16>("tensor_fp8", calls);
  EXPECT_EQ(launches_, 1u);
  ExpectKernels("TensorProductFinished", 7);
  const std::vector<float> of_a(200 * 2, 0.75F), of_b(2 * 2, 2.5F);
  const std::vector<Call> scaled = WithEpilogues({{{200, 184, 144, 0, false, true, 0.5, 2}, 1}});
  for (const bool per_128 : {false, true}) {
    Run<E4m3, Bf16>("tensor_fp8", scaled, {of_a.data(), of_b.data(), per_128});
  }
}

// Sums of INT32 as floats, with factors that are not whole, in every tile.
TEST_F(TensorTmaEpiloguesTest, Int8ToFloat) {
  const std::vector<Call> calls = {{{200, 120, 144, 0, false, true, 0.3}, 1},
                                   {{104, 248, 80, 16, false, true, 0.01, -0.7}, 1},
                                   {{200, 119, 144, 0, false, true, -2.5}, 2},
                                   {{200, 250, 144, 0, false, true, -1.5}, 1},
                                   {{56, 120, 144, 0, false, true, 1, 0, 3, 16}, 1}};
  Run<int8_t, float>("tensor_int8", calls);
  Run<int8_t, float>("tensor_int8", WithEpilogues(calls));
  ExpectKernels("TensorProductFinished", 4);
}

TEST_F(TensorTmaEpiloguesTest, Fp8OfTwoTypesFinished) {
  const std::vector<Call> calls = WithEpilogues({{{200, 184, 144, 0, false, true}, 1},
                                                 {{184, 184, 272, 0, false, true, -0.5, 2}, 1},
                                                 {{264, 119, 16, 0, false, true}, 2},
                                                 {{56, 120, 144, 0, false, true, 1, 0, 3, 16}, 1}});
  Run<E4m3, float, E5m2>("tensor_fp8", calls);
  Run<E4m3, Bf16, E5m2>("tensor_fp8", calls);
  Run<E5m2, Fp16, E4m3>("tensor_fp8", calls);
  EXPECT_EQ(launches_, 1u);
  ExpectKernels("TensorProductFinished", 7);
  const std::vector<float> of_a(200 * 2, 0.75F), of_b(2 * 2, 2.5F);
  const std::vector<Call> scaled = WithEpilogues({{{200, 184, 144, 0, false, true, 0.5, 2}, 1}});
  for (const bool per_128 : {false, true}) {
    Run<E5m2, Bf16, E4m3>("tensor_fp8", scaled, {of_a.data(), of_b.data(), per_128});
  }
}

// What the TMA cannot address, by mma.sync, and the epilogue as a pass behind it.
TEST_F(TensorTmaEpiloguesTest, FinishedByAPass) {
  const std::vector<Call> calls = {{{65, 67, 33, 1, true, false, 0.5, 2}, 1},
                                   {{5, 70, 0, 3, false, true}, 1}};
  Run<E4m3, float, E5m2>("tensor_fp8", calls);
  Run<E5m2, Bf16, E4m3>("tensor_fp8", calls);
  Run<int8_t, float>("tensor_int8", calls);
  ExpectKernels("TensorMma", 3);
  kernels_.clear();
  Run<E4m3, Bf16, E5m2>("tensor_fp8", WithEpilogues(calls));
  Run<E5m2, float>("tensor_fp8", WithEpilogues(calls));
  Run<int8_t, float>("tensor_int8", WithEpilogues(calls));
  Run<float, float>("tensor_tf32", WithEpilogues(calls));
  EXPECT_EQ(launches_, 2u);
  ExpectKernels("EpiloguePass", 2);
}

}  // namespace
}  // namespace stridewise

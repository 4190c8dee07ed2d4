// The tensor kernels of TF32, INT8, FP8 and of sums in FP16 that load by the TMA on the host
// executor, with calls whose operands it can address.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"

namespace stridewise {
namespace {

class TensorTmaTypesTest : public KernelsOnExecutorTest {
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

TEST_F(TensorTmaTypesTest, Fp16Sums) {
  Run<Fp16, Fp16>("tensor_fp16_sums",
                  InAllLayouts({{{200, 200, 72, 0}, 1}, {{56, 264, 40, 8}, 2}}));
  ExpectKernels("TensorProduct", 4);
}

// The sums that a caller asks for and no others: 4096 and 79 times 2^-5, which FP16 does not hold
// beside it, and 256 and products of 2^-6, which FP8's 13 bits do not.
TEST_F(TensorTmaTypesTest, SumsThatAreAskedFor) {
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
TEST_F(TensorTmaTypesTest, Tf32) {
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
TEST_F(TensorTmaTypesTest, Tf32WithoutClusters) {
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
TEST_F(TensorTmaTypesTest, Tf32OfFew) {
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

// Tiles of C of INT32 that are not divided, with more steps than a block has stages where consumers
// multiply in turn, and an odd number of tiles; and C that the TMA cannot store. Pairs of 128x256
// take more elements than a test has.
TEST_F(TensorTmaTypesTest, Int8) {
  Run<int8_t, int32_t>("tensor_int8", {{{120, 248, 784, 0, false, true}, 3},
                                       {{200, 120, 144, 16, false, true}, 2},
                                       {{1272, 120, 784, 0, false, true}, 1},
                                       {{300, 119, 80, 0, false, true, -2}, 132},
                                       {{504, 184, 784, 0, false, true}, 1},
                                       {{120, 120, 1040, 0, false, true}, 3},
                                       {{104, 248, 80, 16, false, true}, 132},
                                       {{56, 120, 144, 0, false, true, 1, 0, 3, 16}, 4}});
  ExpectKernels("TensorProduct", 4);
}

TEST_F(TensorTmaTypesTest, Fp8) {
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
TEST_F(TensorTmaTypesTest, Fp8OfTwoTypes) {
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

TEST_F(TensorTmaTypesTest, Fp8WithScales) {
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

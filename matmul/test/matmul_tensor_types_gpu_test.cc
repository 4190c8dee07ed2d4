// TF32, INT8 and FP8 on a GPU: every kernel with the cases that all share, with C of each type and
// sums of each precision.

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/tensor_cases.h"
#include "matmul/test/tensor_types_test.h"

namespace stridewise {
namespace {

class TensorTypeCasesGpuTest : public TensorTypesGpuTest {
 protected:
  template <typename T, typename Out, typename OfB = T>
  void RunCases() {
    if (!Takes(kElementTypeOf<T>, kElementTypeOf<Out>) || !TakesBoth<T, OfB, Out>()) return;
    std::vector<MatMulCase> cases = MatMulCasesFor(*implementation_, /*all=*/false);
    // Tiles cut on all sides, with rows that the TMA can address and without, several rounds of
    // blocks, and more than one round of 128 of k.
    const std::vector<MatMulCase> large =
        LargeMatMulCases(*implementation_, {656, 784, 272, 0},
                         {{144, 144, 1040, 0}, {144, 143, 1001, 0}}, /*alpha=*/-2);
    cases.insert(cases.end(), large.begin(), large.end());
    for (const MatMulCase& c : cases) {
      if (std::is_integral_v<Out> && c.alpha != std::trunc(c.alpha)) continue;
      RunCase<T, Out, OfB>(c);
    }
  }
};

TEST_P(TensorTypeCasesGpuTest, Tf32) { RunCases<float, float>(); }
TEST_P(TensorTypeCasesGpuTest, Int8) { RunCases<int8_t, int32_t>(); }
// What tensor_int8 divides along k: tiles of each width, of C and of C transposed.
TEST_P(TensorTypeCasesGpuTest, Int8OfFewTiles) {
  if (!Takes(kElementTypeOf<int8_t>, kElementTypeOf<int32_t>)) return;
  const int64_t shapes[][3] = {{300, 5, 4112},  {7, 1000, 2064},  {260, 12, 3088}, {15, 400, 4112},
                               {500, 30, 2720}, {20, 1500, 1552}, {140, 60, 5008}, {384, 250, 2064},
                               {60, 700, 1040}, {1, 3000, 8208},  {130, 9, 16}};
  int turn = 0;
  for (const auto& [m, n, k] : shapes) {
    for (const int ops : {0, 1, 2, 3}) {
      MatMulCase c = {m, n, k, turn % 3 == 0 ? 16 : 0, (ops & 1) != 0, (ops & 2) != 0};
      c.alpha = turn % 2 == 0 ? 1 : -3;
      c.beta = turn % 3;
      c.batch = turn % 5 == 0 ? 3 : 1;
      c.one_b = turn % 2 == 0;
      ++turn;
      RunCase<int8_t, int32_t>(c);
    }
  }
}

TEST_P(TensorTypeCasesGpuTest, E4m3ToFloat) { RunCases<E4m3, float>(); }
TEST_P(TensorTypeCasesGpuTest, E4m3ToBf16) { RunCases<E4m3, Bf16>(); }
TEST_P(TensorTypeCasesGpuTest, E4m3ToFp16) { RunCases<E4m3, Fp16>(); }
TEST_P(TensorTypeCasesGpuTest, E5m2ToFloat) { RunCases<E5m2, float>(); }
TEST_P(TensorTypeCasesGpuTest, E5m2ToBf16) { RunCases<E5m2, Bf16>(); }
TEST_P(TensorTypeCasesGpuTest, E5m2ToFp16) { RunCases<E5m2, Fp16>(); }

TEST_P(TensorTypeCasesGpuTest, Int8ToFloat) { RunCases<int8_t, float>(); }
TEST_P(TensorTypeCasesGpuTest, E4m3AndE5m2) {
  RunCases<E4m3, float, E5m2>();
  RunCases<E4m3, Bf16, E5m2>();
  RunCases<E5m2, Bf16, E4m3>();
  RunCases<E5m2, Fp16, E4m3>();
}

using TensorOneTypeGpuTest = TensorTypeCasesGpuTest;
using TensorFp16SumsGpuTest = TensorTypeCasesGpuTest;
using TensorFastSumsGpuTest = TensorTypeCasesGpuTest;

TEST_P(TensorOneTypeGpuTest, Fp16InFp16) { RunCases<Fp16, Fp16>(); }

TEST_P(TensorFp16SumsGpuTest, Fp16SumsThatAreAskedFor) {
  sums_ = MatMulPrecision::kFp16Sums;
  RunCases<Fp16, Fp16>();
  RunCases<Fp16, float>();
}

TEST_P(TensorFastSumsGpuTest, FastSumsThatAreAskedFor) {
  sums_ = MatMulPrecision::kFastSums;
  RunCases<E4m3, Bf16>();
  RunCases<E5m2, float>();
  RunCases<E4m3, Fp16, E5m2>();
}

INSTANTIATE_TEST_SUITE_P(All, TensorTypeCasesGpuTest,
                         TensorTypesImplementations([](const auto&) { return true; }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, TensorOneTypeGpuTest, TensorTypesImplementations([](const auto& i) {
                           return TakesType(i, ElementType::kFp16) && i.types.size() == 1;
                         }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, TensorFp16SumsGpuTest, TensorTypesImplementations([](const auto& i) {
                           return TakesPrecision(i, MatMulPrecision::kFp16Sums, ElementType::kFp16);
                         }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, TensorFastSumsGpuTest, TensorTypesImplementations(TakesFastSums),
                         NameOfImplementation);

}  // namespace
}  // namespace stridewise

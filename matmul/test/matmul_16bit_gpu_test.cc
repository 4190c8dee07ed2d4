// Every device implementation of 16-bit operands on a GPU, with sums in FP32 and C of either type.

#include <cstdint>
#include <vector>

#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_gpu_fixture.h"
#include "matmul/test/tensor_cases.h"

namespace stridewise {
namespace {

class MatMul16BitGpuTest : public MatMulGpuTest {
 protected:
  template <typename T>
  void RunCases() {
    std::vector<MatMulCase> cases = MatMulCasesFor(*implementation_, /*all=*/true);
    // More than one tile of 128x256 for each of an H200's 132 multiprocessors, and tiles cut on all
    // sides, with rows that the TMA can address.
    const std::vector<MatMulCase> large = LargeMatMulCases(*implementation_, {2056, 2312, 136, 0},
                                                           {{136, 136, 1032, 0}}, /*alpha=*/-0.5);
    cases.insert(cases.end(), large.begin(), large.end());
    constexpr ElementType kType = kElementTypeOf<T>;
    const bool takes_own = TakesTypes(*implementation_, kType, kType);
    const bool takes_float = TakesTypes(*implementation_, kType, ElementType::kFloat);
    for (const MatMulCase& c : cases) {
      if (takes_own) RunCase<T>(c);
      if (takes_float) RunCase<T, float>(c);
    }
  }
};

using MatMulBf16GpuTest = MatMul16BitGpuTest;
using MatMulFp16GpuTest = MatMul16BitGpuTest;

TEST_P(MatMulBf16GpuTest, Bf16) { RunCases<Bf16>(); }
TEST_P(MatMulFp16GpuTest, Fp16) { RunCases<Fp16>(); }

INSTANTIATE_TEST_SUITE_P(All, MatMulBf16GpuTest, DeviceImplementations([](const auto& i) {
                           return TakesType(i, ElementType::kBf16);
                         }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, MatMulFp16GpuTest, DeviceImplementations([](const auto& i) {
                           return TakesType(i, ElementType::kBf16) &&
                                  TakesType(i, ElementType::kFp16);
                         }),
                         NameOfImplementation);

}  // namespace
}  // namespace stridewise

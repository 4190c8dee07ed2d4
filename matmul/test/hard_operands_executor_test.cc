// Every kernel of 16-bit operands that the host executor runs, with operands that are hard for its
// sums.

#include <string>
#include <vector>

#include "common/base/case_random.h"
#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/tensor_cases.h"

namespace stridewise {
namespace {

// Returns whether the kernel multiplies these with sums in FP32.
bool Takes(const MatMulImplementation& implementation, ElementType operands, ElementType output) {
  MatMulArgs args;
  args.a.type = args.b.type = operands;
  args.c.type = output;
  const MatMulTypes* const types = FindTypes(implementation, args);
  return types != nullptr && types->accumulator == ElementType::kFloat;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.executor == Executor::kHostExecutable &&
        TakesType(implementation, ElementType::kBf16)) {
      names.push_back(implementation.name);
    }
  }
  return names;
}

class HardOperandsTest : public KernelsOnExecutorTest,
                         public testing::WithParamInterface<std::string> {
 protected:
  // Runs every case or, of fewer, those of which number % 2 is `turn`. A call is planned for an
  // H200, so that k is divided, and for so few multiprocessors that a block computes several tiles.
  template <typename T, typename Out>
  void RunCases(int turn) {
    const MatMulImplementation& implementation = *FindMatMulImplementation(GetParam());
    if (!Takes(implementation, kElementTypeOf<T>, kElementTypeOf<Out>)) return;
    const std::vector<MatMulCase> cases =
        HardMatMulCases(implementation, {{72, 40, 520, 0}, {16, 72, 1032, 0}, {136, 8, 521, 0}});
    for (size_t i = 0; i < cases.size(); ++i) {
      if (!IsExhaustive() && static_cast<int>(i % 2) != turn) continue;
      Run<T, Out>(GetParam().c_str(), {{cases[i], i % 3 == 0 ? 2 : 132}});
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(HardOperandsTest, Bf16) { RunCases<Bf16, Bf16>(0); }
TEST_P(HardOperandsTest, Bf16ToFloat) { RunCases<Bf16, float>(1); }
TEST_P(HardOperandsTest, Fp16) { RunCases<Fp16, Fp16>(1); }
TEST_P(HardOperandsTest, Fp16ToFloat) { RunCases<Fp16, float>(0); }

INSTANTIATE_TEST_SUITE_P(All, HardOperandsTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stridewise

// Tests of the operands that are hard for sums: what each kind is, and which mistakes they show.

#include "matmul/test/hard_operands.h"

#include <cstdint>

#include "absl/status/status.h"
#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {
namespace {

MatMulCase Case(Operands operands) {
  MatMulCase c = {9, 12, 520, 1};
  c.transpose_b = true;
  c.operands = operands;
  return c;
}

// Sets C to sums in FP32 of parts of k, each of which is rounded to Partial before it is added.
template <typename Partial, typename T, typename Out>
absl::Status CheckSums(const MatMulCase& c, int64_t parts) {
  MatMulTestProblem<T, Out> problem(c);
  const MatMulArgs& args = problem.args();
  for (int64_t row = 0; row < c.m; ++row) {
    for (int64_t col = 0; col < c.n; ++col) {
      float sum = 0;
      for (int64_t part = 0; part < parts; ++part) {
        float partial = 0;
        for (int64_t i = c.k * part / parts; i < c.k * (part + 1) / parts; ++i) {
          partial +=
              static_cast<float>(args.A<T>()(row, i)) * static_cast<float>(args.B<T>()(col, i));
        }
        sum += static_cast<float>(static_cast<Partial>(partial));
      }
      args.C<Out>()(row, col) = static_cast<Out>(sum);
    }
  }
  return problem.Check();
}

TEST(HardOperands, SumsInFp32KeepTheBound) {
  for (const Operands operands : kHardOperands) {
    for (const int64_t parts : {1, 2, 7}) {
      const MatMulCase c = Case(operands);
      EXPECT_TRUE((CheckSums<float, Bf16, Bf16>(c, parts).ok())) << c;
      EXPECT_TRUE((CheckSums<float, Bf16, float>(c, parts).ok())) << c;
      EXPECT_TRUE((CheckSums<float, Fp16, Fp16>(c, parts).ok())) << c;
      EXPECT_TRUE((CheckSums<float, Fp16, float>(c, parts).ok())) << c;
    }
  }
}

// Parts of k whose sums are stored in C's type before they are added: what cancels shows it even
// where C is rounded to that type in the end.
TEST(HardOperands, PartialSumsOf16BitsShow) {
  EXPECT_FALSE((CheckSums<Bf16, Bf16, Bf16>(Case(Operands::kHalvesCancel), 2).ok()));
  EXPECT_FALSE((CheckSums<Fp16, Fp16, Fp16>(Case(Operands::kHalvesCancel), 2).ok()));
  for (const Operands operands : kHardOperands) {
    if (operands == Operands::kNeighboursCancel) continue;  // Its partial sums are small, too.
    EXPECT_FALSE((CheckSums<Bf16, Bf16, float>(Case(operands), 7).ok())) << Case(operands);
  }
}

TEST(HardOperands, AreWhatTheyAreCalled) {
  constexpr int64_t kK = 64;
  for (const ElementType type : {ElementType::kBf16, ElementType::kFp16}) {
    const HardValues large(Operands::kOneLarge, type, kK);
    const HardValues halves(Operands::kHalvesCancel, type, kK);
    const HardValues subnormal(Operands::kSubnormal, type, kK);
    for (int64_t row = 0; row < 5; ++row) {
      int of_row = 0;
      for (int64_t i = 0; i < kK; ++i) {
        of_row += large.A(1, row, i) * large.B(2, i, 3) == 0x1p12 ? 1 : 0;
        const double a = subnormal.A(1, row, i);
        EXPECT_LT(a, type == ElementType::kFp16 ? 0x1p-14 : 0x1p-126);
        EXPECT_GT(type == ElementType::kFp16 ? static_cast<float>(Fp16(static_cast<float>(a)))
                                             : static_cast<float>(Bf16(static_cast<float>(a))),
                  0);
      }
      EXPECT_EQ(of_row, 1);
      for (int64_t i = 0; i < kK / 2; ++i) {
        EXPECT_EQ(halves.A(1, row, i), halves.A(1, row, i + kK / 2));
        EXPECT_EQ(halves.B(2, i, row) + halves.B(2, i + kK / 2, row), -0x1p-7);
      }
    }
  }
}

}  // namespace
}  // namespace stridewise

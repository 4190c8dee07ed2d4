// Each of the tests that BUILD makes of this file has another STRIDEWISE_SIMD.

#include "common/base/simd_target.h"

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(SimdTargetTest, IsNoMoreThanTheVariableSays) {
  const char* const variable = std::getenv("STRIDEWISE_SIMD");
  const std::string limit = variable == nullptr ? "" : variable;
  const std::string chosen = SimdInstructionSet();
  if (limit == "baseline") {
    EXPECT_EQ(ChosenSimdTarget(), SimdTarget::kBaseline);
    EXPECT_EQ(chosen, "baseline");
  } else if (limit == "avx2") {
    EXPECT_LE(ChosenSimdTarget(), SimdTarget::kAvx2);
    EXPECT_NE(chosen, "avx512");
  }
  if (limit == "avx512") {
    EXPECT_FALSE(HasBf16Products());
  }
  if (limit == "avx512_bf16") {
    EXPECT_FALSE(HasBf16Tiles());
  }
  if (HasBf16Products()) {
    EXPECT_EQ(chosen, "avx512");
  }
  if (HasBf16Tiles()) {
    EXPECT_TRUE(HasBf16Products());
  }
}

// A name that there is not must not make a program slow.
TEST(SimdTargetTest, OtherNamesLeaveTheBest) {
  const char* const variable = std::getenv("STRIDEWISE_SIMD");
  if (variable == nullptr || std::string(variable) != "sse") {
    GTEST_SKIP() << "for the test whose STRIDEWISE_SIMD is no name";
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_GE(ChosenSimdTarget(), SimdTarget::kAvx2);
  }
#endif
}

}  // namespace
}  // namespace stridewise

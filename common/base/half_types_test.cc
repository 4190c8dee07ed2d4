#include "common/base/half_types.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "common/base/element_type.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Every number of the type comes back from float as it was; NaNs stay NaNs.
template <typename T>
void RoundTrip() {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    T value;
    value.bits = static_cast<uint16_t>(bits);
    const float wide = value;
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(T(wide)))) << bits;
    } else {
      EXPECT_EQ(T(wide).bits, bits);
    }
  }
}
TEST(Bf16, RoundTrip) { RoundTrip<Bf16>(); }
TEST(Fp16, RoundTrip) { RoundTrip<Fp16>(); }

// Between neighbours the nearer one, in the middle the even one: for all numbers but the largest.
template <typename T>
void RoundsToNearest(uint32_t last) {
  for (uint32_t bits = 0; bits < last; ++bits) {
    T low, high;
    low.bits = static_cast<uint16_t>(bits);
    high.bits = static_cast<uint16_t>(bits + 1);
    const double middle = (double{low} + double{high}) / 2;
    const auto exact = static_cast<float>(middle);
    ASSERT_EQ(double{exact}, middle);
    EXPECT_EQ(T(exact).bits, bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(T(std::nextafter(exact, 0.0f)).bits, bits);
    EXPECT_EQ(T(std::nextafter(exact, std::numeric_limits<float>::infinity())).bits, bits + 1);
    EXPECT_EQ(T(-exact).bits, T(exact).bits | 0x8000);
  }
}
TEST(Bf16, RoundsToNearest) { RoundsToNearest<Bf16>(0x7f7f); }
TEST(Fp16, RoundsToNearest) { RoundsToNearest<Fp16>(0x7bff); }

TEST(Fp16, Overflows) {
  EXPECT_EQ(Fp16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Fp16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Fp16(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
}

// UnitRoundoff() of element_type.h is half the distance of 1 and the next number.
TEST(HalfTypes, UnitRoundoff) {
  Bf16 above_one(1.0f);
  ++above_one.bits;
  EXPECT_EQ((double{above_one} - 1) / 2, UnitRoundoff(ElementType::kBf16));
  Fp16 above(1.0f);
  ++above.bits;
  EXPECT_EQ((double{above} - 1) / 2, UnitRoundoff(ElementType::kFp16));
}

}  // namespace
}  // namespace stridewise

#include "common/base/fp8_types.h"

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
  for (int bits = 0; bits < 0x100; ++bits) {
    T value;
    value.bits = static_cast<uint8_t>(bits);
    const float wide = value;
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(T(wide)))) << bits;
    } else {
      EXPECT_EQ(T(wide).bits, bits);
    }
  }
}
TEST(E4m3, RoundTrip) { RoundTrip<E4m3>(); }
TEST(E5m2, RoundTrip) { RoundTrip<E5m2>(); }

// Between neighbours the nearer one, in the middle the even one: for all numbers but the largest.
template <typename T>
void RoundsToNearest(int last) {
  for (int bits = 0; bits < last; ++bits) {
    T low, high;
    low.bits = static_cast<uint8_t>(bits);
    high.bits = static_cast<uint8_t>(bits + 1);
    const float middle = (float{low} + float{high}) / 2;
    EXPECT_EQ(T(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(T(std::nextafter(middle, 0.0f)).bits, bits);
    EXPECT_EQ(T(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits, bits + 1);
    EXPECT_EQ(T(-middle).bits, T(middle).bits | 0x80);
  }
}
TEST(E4m3, RoundsToNearest) { RoundsToNearest<E4m3>(0x7e); }
TEST(E5m2, RoundsToNearest) { RoundsToNearest<E5m2>(0x7b); }

TEST(E4m3, Saturates) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(float{E4m3(449.0f)}, 448);
  EXPECT_EQ(float{E4m3(1e30f)}, 448);
  EXPECT_EQ(float{E4m3(-kInfinity)}, -448);
}

TEST(E5m2, Saturates) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(float{E5m2(1e30f)}, 57344);
  EXPECT_EQ(float{E5m2(-61440.0f)}, -57344);
  EXPECT_EQ(float{E5m2(kInfinity)}, kInfinity);
}

// Known numbers of the two formats.
TEST(Fp8Types, Values) {
  EXPECT_EQ(E4m3(1.0f).bits, 0x38);
  EXPECT_EQ(E4m3(0x1p-9f).bits, 0x01);
  EXPECT_EQ(E5m2(1.0f).bits, 0x3c);
  EXPECT_EQ(E5m2(0x1p-16f).bits, 0x01);
}

// UnitRoundoff() of element_type.h is half the distance of 1 and the next number.
TEST(Fp8Types, UnitRoundoff) {
  E4m3 above_one(1.0f);
  ++above_one.bits;
  EXPECT_EQ((double{above_one} - 1) / 2, UnitRoundoff(ElementType::kE4m3));
  E5m2 above(1.0f);
  ++above.bits;
  EXPECT_EQ((double{above} - 1) / 2, UnitRoundoff(ElementType::kE5m2));
}

}  // namespace
}  // namespace stridewise

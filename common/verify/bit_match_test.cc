#include "common/verify/bit_match.h"

#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

struct Bytes16 {
  uint64_t low;
  uint64_t high;
};

// A 3x4 matrix in rows of 5, numbered from 1; its padding is different in each one made.
template <typename T>
struct Numbered {
  Numbered() : bytes(15 * sizeof(T)) {
    static unsigned char padding = 0;
    std::memset(bytes.data(), ++padding, bytes.size());
    for (int row = 0; row < 3; ++row) {
      for (int col = 0; col < 4; ++col) {
        unsigned char* element = At(row, col);
        std::memset(element, 0, sizeof(T));
        element[0] = static_cast<unsigned char>(row * 4 + col + 1);
      }
    }
  }

  unsigned char* At(int row, int col) { return &bytes[(row * 5 + col) * sizeof(T)]; }
  ConstMatrix<T> view() const { return {reinterpret_cast<const T*>(bytes.data()), 3, 4, 5}; }

  std::vector<unsigned char> bytes;
};

template <typename T>
class MatchBitsTest : public ::testing::Test {};
using ElementTypes = ::testing::Types<uint8_t, uint16_t, float, double, Bytes16>;
TYPED_TEST_SUITE(MatchBitsTest, ElementTypes);

TYPED_TEST(MatchBitsTest, EqualBitsMatchWhateverThePaddingHolds) {
  const BitMatch match = MatchBits(Numbered<TypeParam>().view(), Numbered<TypeParam>().view(), 8);
  EXPECT_TRUE(match.ok());
  EXPECT_EQ(match.mismatches, 0);
  EXPECT_TRUE(match.first.empty());
}

TYPED_TEST(MatchBitsTest, FindsEachFlippedBit) {
  for (size_t bit = 0; bit < sizeof(TypeParam) * 8; ++bit) {
    Numbered<TypeParam> got;
    got.At(2, 3)[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
    const BitMatch match = MatchBits(got.view(), Numbered<TypeParam>().view(), 8);
    ASSERT_EQ(match.mismatches, 1) << bit;
    EXPECT_EQ(match.first[0].row, 2);
    EXPECT_EQ(match.first[0].col, 3);
  }
}

TYPED_TEST(MatchBitsTest, ListsTheFirstAndCountsAll) {
  Numbered<TypeParam> got;
  for (const int col : {1, 2, 3}) got.At(1, col)[0] = 0xff;
  const BitMatch match = MatchBits(got.view(), Numbered<TypeParam>().view(), 2);
  EXPECT_EQ(match.mismatches, 3);
  ASSERT_EQ(match.first.size(), 2u);
  EXPECT_EQ(match.first[1].row, 1);
  EXPECT_EQ(match.first[1].col, 2);
  EXPECT_EQ(match.first[1].got.size(), 2 + 2 * sizeof(TypeParam));
  EXPECT_EQ(match.first[1].got.substr(2 * sizeof(TypeParam)), "ff");
  EXPECT_EQ(match.first[1].want.substr(2 * sizeof(TypeParam)), "07");
}

TEST(MatchBits, ComparesBitsAndNotValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  float other_nan = nan;
  uint32_t bits = 0;
  std::memcpy(&bits, &nan, sizeof(bits));
  bits ^= 1;
  std::memcpy(&other_nan, &bits, sizeof(bits));
  const float got[] = {nan, nan, -0.0f, 1.0f};
  const float want[] = {nan, other_nan, 0.0f, 1.0f};
  const BitMatch match =
      MatchBits(ConstMatrix<float>{got, 1, 4, 4}, ConstMatrix<float>{want, 1, 4, 4}, 8);
  EXPECT_EQ(match.mismatches, 2);
  ASSERT_EQ(match.first.size(), 2u);
  EXPECT_EQ(match.first[0].col, 1);
  EXPECT_EQ(match.first[1].col, 2);
  EXPECT_EQ(match.first[1].got, "0x80000000");
  EXPECT_EQ(match.first[1].want, "0x00000000");
}

TEST(MatchBits, ViewsMayHaveDifferentLeadingDimensions) {
  const float got[] = {1, 2, 3, 4};
  const float want[] = {1, 2, -1, 3, 4, -1};
  EXPECT_TRUE(
      MatchBits(ConstMatrix<float>{got, 2, 2, 2}, ConstMatrix<float>{want, 2, 2, 3}, 8).ok());
}

TEST(MatchBits, EmptyMatricesMatch) {
  for (const auto& shape : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {0, 5}, {5, 0}}) {
    const ConstMatrix<double> empty{nullptr, shape.first, shape.second, 8};
    EXPECT_TRUE(MatchBits(empty, empty, 8).ok());
  }
}

TEST(Describe, NamesPlaceAndBits) {
  const uint16_t got[] = {0xbeef, 2, 3};
  const uint16_t want[] = {1, 2, 0xcafe};
  const BitMatch match =
      MatchBits(ConstMatrix<uint16_t>{got, 1, 3, 3}, ConstMatrix<uint16_t>{want, 1, 3, 3}, 1);
  const std::string text = match.Describe();
  for (const char* part : {"2", "(0, 0)", "0xbeef", "0x0001"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(text.find("cafe"), std::string::npos) << text;
}

}  // namespace
}  // namespace stridewise

#include "common/executor/ptx/shared_descriptor.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

uint64_t Bits(uint64_t address, uint64_t leading, uint64_t stride, uint64_t swizzle) {
  return address >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62;
}

TEST(SharedDescriptorTest, FieldsAreWhereTheManualHasThem) {
  const SharedDescriptor d =
      DecodeSharedDescriptor(Bits(0x3fff0, 8192, 1024, 1) | uint64_t{5} << 49);
  EXPECT_EQ(d.address, 0x3fff0u);
  EXPECT_EQ(d.leading_bytes, 8192u);
  EXPECT_EQ(d.stride_bytes, 1024u);
  EXPECT_EQ(d.base_offset, 5u);
  EXPECT_EQ(d.swizzle_bytes, 128u);
  EXPECT_FALSE(d.has_reserved_bits);
  const uint32_t swizzles[] = {0, 128, 64, 32};
  for (uint64_t mode = 0; mode < 4; ++mode) {
    EXPECT_EQ(DecodeSharedDescriptor(mode << 62).swizzle_bytes, swizzles[mode]);
  }
}

TEST(SharedDescriptorTest, BitsBetweenFieldsAreNoticed) {
  const std::set<int> reserved = {14, 15, 30, 31, 46, 47, 48, 52, 53,
                                  54, 55, 56, 57, 58, 59, 60, 61};
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(DecodeSharedDescriptor(uint64_t{1} << bit).has_reserved_bits, reserved.count(bit) > 0)
        << bit;
  }
}

TEST(SharedDescriptorTest, KMajorRowsOf128BytesExchangeTheirPieces) {
  // The second 32 bytes of k of a tile at 2048: piece p of row r lies at p ^ (r % 8).
  const SharedOperand operand = {DecodeSharedDescriptor(Bits(2048 + 32, 16, 1024, 1))};
  for (int row = 0; row < 64; ++row) {
    for (int k = 0; k < 16; ++k) {
      const int piece = 2 + k / 8;
      EXPECT_EQ(ElementAddress(operand, row, k),
                2048u + row * 128 + (piece ^ (row % 8)) * 16 + k % 8 * 2);
    }
  }
}

TEST(SharedDescriptorTest, MnMajorPanelsFollowEachOther) {
  SharedOperand operand = {DecodeSharedDescriptor(Bits(1024, 8192, 1024, 1)), true, 2, 128, 16};
  for (int col = 0; col < 128; ++col) {
    for (int k = 0; k < 16; ++k) {
      EXPECT_EQ(ElementAddress(operand, col, k),
                1024u + col / 64 * 8192 + k * 128 + (col % 64 / 8 ^ k % 8) * 16 + col % 8 * 2);
    }
  }
}

TEST(SharedDescriptorTest, WithoutSwizzleCoreMatricesAre128Bytes) {
  SharedOperand operand = {DecodeSharedDescriptor(Bits(0, 256, 4096, 0))};
  EXPECT_EQ(ElementAddress(operand, 7, 0), 7u * 16);
  EXPECT_EQ(ElementAddress(operand, 8, 0), 4096u);  // Stride: eight rows on.
  EXPECT_EQ(ElementAddress(operand, 0, 8), 256u);   // Leading: 16 bytes of k on.
  operand.mn_major = true;
  EXPECT_EQ(ElementAddress(operand, 0, 7), 7u * 16);
  EXPECT_EQ(ElementAddress(operand, 8, 0), 4096u);  // Stride: 16 bytes of m on.
  EXPECT_EQ(ElementAddress(operand, 0, 8), 256u);   // Leading: eight rows of k on.
}

TEST(SharedDescriptorTest, NarrowSwizzlesExchangeFewerPieces) {
  // Rows of 64 bytes: two of them, from an address of 128 on, are exchanged alike.
  SharedOperand operand = {DecodeSharedDescriptor(Bits(0, 16, 512, 2))};
  EXPECT_EQ(ElementAddress(operand, 1, 0), 64u);
  EXPECT_EQ(ElementAddress(operand, 2, 0), 128u + 16);
  EXPECT_EQ(ElementAddress(operand, 6, 0), 384u + 48);
  operand.descriptor = DecodeSharedDescriptor(Bits(0, 16, 256, 3));
  EXPECT_EQ(ElementAddress(operand, 3, 0), 96u);
  EXPECT_EQ(ElementAddress(operand, 4, 0), 128u + 16);
  EXPECT_EQ(ElementAddress(operand, 4, 8), 128u);
}

TEST(SharedDescriptorTest, ABaseOffsetMovesThePattern) {
  SharedOperand operand = {DecodeSharedDescriptor(Bits(1024 + 3 * 128, 16, 1024, 1))};
  operand.descriptor.base_offset = 3;
  for (int row = 0; row < 8; ++row) {
    EXPECT_EQ(ElementAddress(operand, row, 0), 1408u + row * 128 + row * 16) << row;
  }
}

TEST(SharedDescriptorTest, PiecesAreDistinctAndHoldTheElements) {
  for (const bool mn_major : {false, true}) {
    for (uint64_t mode = 0; mode < 4; ++mode) {
      const uint64_t leading = mn_major && mode != 0 ? 4096 : 128;
      const uint64_t stride = mode == 0 ? 256 : mode == 1 ? 1024 : mode == 2 ? 512 : 256;
      SharedOperand operand = {DecodeSharedDescriptor(Bits(0, leading, stride, mode)), mn_major};
      if (mode == 0 && mn_major) {  // Eight pieces along m, of two groups of k each.
        operand.descriptor.leading_bytes = 128;
      }
      const std::vector<uint32_t> pieces = PieceAddresses(operand);
      EXPECT_EQ(pieces.size(), 64u * 16 * 2 / 16);
      EXPECT_EQ(std::set<uint32_t>(pieces.begin(), pieces.end()).size(), pieces.size());
      std::vector<uint8_t> shared(32768);
      for (int mn = 0; mn < 64; ++mn) {
        for (int k = 0; k < 16; ++k) {
          const uint32_t at = ElementAddress(operand, mn, k);
          shared[at] = static_cast<uint8_t>(mn);
          shared[at + 1] = static_cast<uint8_t>(k);
        }
      }
      std::vector<uint32_t> elements(64 * 16);
      ASSERT_TRUE(LoadSharedOperand(operand, shared.data(), shared.size(), elements.data()));
      for (uint32_t i = 0; i < elements.size(); ++i) {
        EXPECT_EQ(elements[i], i / 16 | i % 16 << 8) << "mode " << mode;
      }
    }
  }
}

TEST(SharedDescriptorTest, AccessesBeyondTheEndAreRefused) {
  const SharedOperand operand = {DecodeSharedDescriptor(Bits(0, 16, 1024, 1))};
  std::vector<uint8_t> shared(8192);
  std::vector<uint32_t> elements(64 * 16);
  EXPECT_TRUE(LoadSharedOperand(operand, shared.data(), 8192, elements.data()));
  EXPECT_FALSE(LoadSharedOperand(operand, shared.data(), 7168, elements.data()));
}

}  // namespace
}  // namespace stridewise::executor

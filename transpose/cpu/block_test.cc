// Transposes of blocks of every shape, as far as each instruction set's kernels differ.

#include "transpose/cpu/block.h"

#include <cstdint>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

struct Shape {
  int64_t rows, cols;
  int64_t pad_in = 0, pad_out = 0;  // In elements, as are the following.
  int64_t offset = 0;
  int64_t count = 1, gap = 0;  // Blocks, and what is between them.
  int64_t ahead = 0;           // In bytes, as is the following.
  int64_t ahead_out = 0;
  bool along_rows = false;
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.rows << "x" << s.cols << " pads " << s.pad_in << " and " << s.pad_out
             << ", offset " << s.offset << ", " << s.count << " blocks";
}

// Checks that the transposes are written, and nothing else. Memory ends with the last element of
// either side, so that a sanitizer sees what is read behind it.
void ExpectTransposed(const Shape& s, int64_t bytes) {
  constexpr uint8_t kCanary = 0xA5;
  const int64_t ld_in = s.cols + s.pad_in;
  const int64_t ld_out = s.rows + s.pad_out;
  const int64_t stride_in = s.rows * ld_in + s.gap;
  const int64_t stride_out = s.cols * ld_out + s.gap;
  const int64_t last = s.count - 1;
  std::vector<uint8_t> in((s.offset + last * stride_in + (s.rows - 1) * ld_in + s.cols) * bytes);
  std::vector<uint8_t> out((s.offset + last * stride_out + (s.cols - 1) * ld_out + s.rows) * bytes,
                           kCanary);
  std::mt19937 random(1);
  for (uint8_t& byte : in) byte = static_cast<uint8_t>(random());
  std::vector<uint8_t> expected = out;
  for (int64_t i = 0; i < s.count; ++i) {
    for (int64_t row = 0; row < s.rows; ++row) {
      for (int64_t col = 0; col < s.cols; ++col) {
        const int64_t from = s.offset + i * stride_in + row * ld_in + col;
        const int64_t to = s.offset + i * stride_out + col * ld_out + row;
        for (int64_t b = 0; b < bytes; ++b) expected[to * bytes + b] = in[from * bytes + b];
      }
    }
  }
  const BlockTranspose first = {in.data() + s.offset * bytes,
                                ld_in * bytes,
                                out.data() + s.offset * bytes,
                                ld_out * bytes,
                                s.rows,
                                s.cols,
                                bytes,
                                s.ahead,
                                s.ahead_out,
                                s.along_rows};
  TransposeBlocks(first, s.count, stride_in * bytes, stride_out * bytes);
  EXPECT_TRUE(out == expected) << s << ", elements of " << bytes << " bytes";
}

class BlockTest : public testing::TestWithParam<int64_t> {};

// Of each number of rows and columns that a square may have, and one more: with less than a line of
// the long side, a line, a bit more, and several.
TEST_P(BlockTest, TransposesThinBlocks) {
  for (int64_t thin = 1; thin <= 17; ++thin) {
    for (const int64_t extent : {1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 79, 80, 81, 130, 259}) {
      for (const int64_t pad : {0, 3}) {
        ExpectTransposed({thin, extent, pad, 0}, GetParam());
        ExpectTransposed({thin, extent, 0, pad, 1}, GetParam());
        ExpectTransposed({extent, thin, pad, 0, 1}, GetParam());
        ExpectTransposed({extent, thin, 0, pad}, GetParam());
      }
    }
  }
}

// Long enough for cells of five to eight rows or columns.
TEST_P(BlockTest, TransposesLongThinBlocks) {
  for (int64_t thin = 4; thin <= 9; ++thin) {
    for (const int64_t extent : {1024, 1055, 1091}) {
      for (const int64_t pad : {0, 3}) {
        ExpectTransposed({thin, extent, pad, 0, 1}, GetParam());
        ExpectTransposed({thin, extent, 0, pad}, GetParam());
        ExpectTransposed({extent, thin, pad, 0}, GetParam());
        ExpectTransposed({extent, thin, 0, pad, 1}, GetParam());
      }
    }
  }
}

TEST_P(BlockTest, TransposesBlocksOfSquares) {
  for (const Shape& s : {Shape{20, 18}, Shape{18, 300, 1, 2, 3}, Shape{63, 50}, Shape{64, 64},
                         Shape{65, 130, 0, 0, 1}, Shape{200, 33, 5, 0, 0}, Shape{130, 129, 0, 7, 2},
                         Shape{70, 1024}, Shape{100, 1000, 24, 0, 5}, Shape{70, 1024, 1, 0, 1}}) {
    ExpectTransposed(s, GetParam());
    Shape other = s;
    other.along_rows = true;
    other.ahead_out = 128;
    ExpectTransposed(other, GetParam());
  }
}

TEST_P(BlockTest, TransposesSeveralAndFetchesAhead) {
  for (const int64_t ahead : {0, 256}) {
    for (const int64_t gap : {0, 5}) {
      ExpectTransposed({3, 59, 0, 0, 0, 7, gap, ahead}, GetParam());
      ExpectTransposed({12, 66, 0, 0, 1, 5, gap, ahead}, GetParam());
      ExpectTransposed({40, 5, 0, 0, 0, 4, gap, ahead}, GetParam());
      ExpectTransposed({70, 90, 0, 0, 0, 1, gap, ahead}, GetParam());
    }
  }
}

// Enough of them that whole vectors are written beyond the ends of all but the last.
TEST_P(BlockTest, TransposesManySmall) {
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>(5, 7),
                                   {7, 3},
                                   {2, 40},
                                   {20, 12},
                                   {3, 3},
                                   {33, 50},
                                   {2, 2},
                                   {14, 66},
                                   {63, 2},
                                   {1, 9},
                                   {16, 16},
                                   {27, 18},
                                   {9, 41},
                                   {12, 11},
                                   {24, 11},
                                   {14, 103}}) {
    ExpectTransposed({rows, cols, 0, 0, 0, 8192 / (rows * cols) + 20, 0, 256}, GetParam());
    ExpectTransposed({rows, cols, 0, 0, 1, 8192 / (rows * cols) + 20, 1}, GetParam());
    ExpectTransposed({rows, cols, 1, 0, 0, 8192 / (rows * cols) + 20}, GetParam());
    ExpectTransposed({rows, cols, 0, 1, 0, 8192 / (rows * cols) + 20}, GetParam());
  }
}

// As many bytes as each number of whole vectors, and fewer.
TEST_P(BlockTest, TransposesManyOfEachNumberOfVectors) {
  for (int64_t bytes = 32; bytes <= 544; bytes += 32) {
    const int64_t cols = bytes / 2 / GetParam();
    if (cols < 2) continue;
    const int64_t count = 6000 / bytes + 3;
    ExpectTransposed({2, cols, 0, 0, 1, count, 0, 256}, GetParam());
    ExpectTransposed({cols, 2, 0, 0, 0, count}, GetParam());
    ExpectTransposed({2, cols - 1, 0, 0, 0, count}, GetParam());
  }
}

// Rows of the output of up to four lines and more, without gaps.
TEST_P(BlockTest, TransposesToShortColumns) {
  for (int64_t rows = 2; rows * GetParam() <= 300; rows += 1 + rows / 9) {
    for (const int64_t cols : {2, 15, 16, 33, 150}) {
      ExpectTransposed({rows, cols, 0, 0, 1}, GetParam());
      ExpectTransposed({rows, cols, 3, 0, 0, 1, 0, 256}, GetParam());
      ExpectTransposed({rows, cols, 0, 0, 0, 40}, GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, BlockTest, testing::Values(1, 2, 4, 8, 16));

// Every distance from a line, and less than a line.
TEST(StreamCopy, CopiesAnyBytes) {
  alignas(64) uint8_t in[512];
  for (int i = 0; i < 512; ++i) in[i] = static_cast<uint8_t>(i * 7 + i / 256);
  for (const int offset : {0, 1, 16, 63}) {
    for (const int bytes : {0, 1, 63, 64, 65, 127, 128, 300}) {
      alignas(64) uint8_t out[512] = {};
      StreamCopy(in + 3, out + offset, bytes);
      for (int i = 0; i < 512; ++i) {
        const bool copied = i >= offset && i < offset + bytes;
        ASSERT_EQ(out[i], copied ? in[3 + i - offset] : 0) << offset << " " << bytes << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace stridewise

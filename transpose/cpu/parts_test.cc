#include "transpose/cpu/parts.h"

#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

BatchTranspose Batch(int64_t rows, int64_t cols, int64_t bytes, int64_t count = 1) {
  BatchTranspose batch;
  batch.first = BlockTranspose{{nullptr, cols * bytes, nullptr, rows * bytes, rows, cols, bytes}};
  batch.count = count;
  batch.stride_in = batch.stride_out = batch.bytes();
  return batch;
}

TEST(ChooseParts, CutsTheLongSideAndKeepsWholeMatrices) {
  const struct {
    BatchTranspose batch;
    int threads;
    int64_t rows, cols;
  } cases[] = {
      {Batch(46989, 5, 16), 16, 16, 1},   {Batch(5, 46989, 16), 16, 1, 16},
      {Batch(117465, 45, 1), 16, 16, 1},  {Batch(1374, 193, 8), 16, 1, 16},
      {Batch(1024, 1024, 4), 16, 1, 16},  {Batch(500, 500, 4, 16), 16, 1, 1},
      {Batch(12, 66, 1, 1000), 16, 1, 1}, {Batch(1024, 1024, 4, 8), 16, 1, 2},
      {Batch(1, 1000000, 4), 3, 1, 3},    {Batch(700, 300, 2), 1, 1, 1},
  };
  for (const auto& c : cases) {
    const Parts parts = ChooseParts(c.batch, c.threads);
    EXPECT_EQ(std::make_tuple(parts.rows, parts.cols), std::make_tuple(c.rows, c.cols))
        << c.batch.count << " of " << c.batch.first.rows << "x" << c.batch.first.cols;
  }
}

class TransposePartTest : public testing::TestWithParam<int64_t> {};

// The parts together write the transpose, and no two that share rows of the output write to one of
// its lines.
TEST_P(TransposePartTest, WritesLinesOfItsOwn) {
  const int64_t bytes = GetParam();
  const struct {
    int64_t rows, cols, pad_in, pad_out, offset;  // In elements.
    Parts parts;
  } cases[] = {{1000, 7, 0, 0, 0, {4, 1}},  {1000, 7, 0, 0, 3, {4, 1}},
               {517, 130, 1, 3, 1, {7, 2}}, {65, 66, 0, 0, 0, {1, 1}},
               {257, 300, 0, 1, 0, {4, 3}}, {640, 100, 0, 0, 0, {5, 1}},
               {200, 1000, 3, 0, 5, {3, 5}}};
  for (const auto& c : cases) {
    const int64_t ld_in = c.cols + c.pad_in;
    const int64_t ld_out = c.rows + c.pad_out;
    std::vector<uint8_t> in(static_cast<size_t>(c.rows * ld_in * bytes));
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 77 % 251 + 1);
    const auto size = static_cast<size_t>((c.cols * ld_out + c.offset) * bytes + 128);
    std::vector<uint8_t> memory(size);
    std::vector<uint8_t> sum(size);
    std::vector<uint8_t> expected(size);
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    const auto shift = static_cast<int64_t>((64 - address % 64) % 64);
    const int64_t begin = shift + c.offset * bytes;
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t col = 0; col < c.cols; ++col) {
        std::memcpy(&expected[begin + (col * ld_out + row) * bytes],
                    &in[(row * ld_in + col) * bytes], bytes);
      }
    }
    const BlockTranspose matrix = {
        {in.data(), ld_in * bytes, memory.data() + begin, ld_out * bytes, c.rows, c.cols, bytes}};
    for (int64_t col = 0; col < c.parts.cols; ++col) {
      std::vector<int64_t> writer(size / kLineBytes + 1, -1);
      for (int64_t row = 0; row < c.parts.rows; ++row) {
        std::memset(memory.data(), 0, size);
        TransposePart(matrix, c.parts, row * c.parts.cols + col);
        for (size_t i = 0; i < size; ++i) {
          if (memory[i] == 0) continue;
          sum[i] = memory[i];
          int64_t& line = writer[(i - static_cast<size_t>(shift)) / kLineBytes];
          // A line may be the end of a row and the begin of the next.
          const bool is_end = (static_cast<int64_t>(i) - begin) / bytes % ld_out >= c.rows - 64;
          if (is_end && row == c.parts.rows - 1) continue;
          EXPECT_TRUE(line == -1 || line == row)
              << "byte " << i << " of " << c.rows << "x" << c.cols;
          line = row;
        }
      }
    }
    EXPECT_TRUE(sum == expected) << c.rows << "x" << c.cols;
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, TransposePartTest, testing::Values(1, 2, 4, 8, 16));

}  // namespace
}  // namespace stridewise

// Transposes past the caches with the tiles of every processor, whichever this one is.

#include "transpose/cpu/streamed.h"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

struct Shape {
  int64_t rows, cols;  // In elements, as are the following.
  int64_t pad_in, pad_out;
  int64_t offset_in, offset_out;  // From a cache line to the first element.
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.rows << "x" << s.cols << " pads " << s.pad_in << " and " << s.pad_out
             << ", offsets " << s.offset_in << " and " << s.offset_out;
}

// Less than a tile, one, one and a bit, several; rows of the output that begin with lines, and that
// do not.
constexpr Shape kShapes[] = {
    {1, 1, 0, 0, 0, 0},      {3, 300, 0, 0, 0, 0},      {300, 3, 0, 0, 0, 0},
    {64, 512, 0, 0, 0, 0},   {256, 2048, 0, 0, 0, 0},   {256, 2048, 64, 64, 0, 0},
    {257, 2049, 0, 0, 0, 0}, {511, 515, 1, 5, 0, 0},    {512, 130, 0, 64, 3, 0},
    {512, 576, 0, 0, 1, 7},  {640, 4160, 64, 0, 0, 64}, {1000, 77, 3, 0, 0, 1},
    {77, 4100, 0, 3, 5, 0},
};

class StreamedTest : public testing::TestWithParam<std::tuple<StreamedTiling, int64_t>> {};

TEST_P(StreamedTest, WritesTheTransposeAndNothingElse) {
  constexpr int64_t kGuard = 256;
  constexpr uint8_t kCanary = 0xA5;
  const auto [tiling, bytes] = GetParam();
  std::mt19937 random(1);
  for (Shape s : kShapes) {
    // Some tiles each way, whose extents in elements depend on their bytes.
    s.rows = std::min(s.rows, 2560 / bytes + 1);
    s.cols = std::min(s.cols, 8320 / bytes + 1);
    const int64_t ld_in = s.cols + s.pad_in;
    const int64_t ld_out = s.rows + s.pad_out;
    std::vector<uint8_t> in_bytes(((s.rows * ld_in + s.offset_in) * bytes + 2 * kGuard));
    for (uint8_t& byte : in_bytes) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> out_bytes((s.cols * ld_out + s.offset_out) * bytes + 2 * kGuard, kCanary);
    const auto begin = [&](std::vector<uint8_t>& memory, int64_t offset) {
      const auto address = reinterpret_cast<uintptr_t>(memory.data() + kGuard / 2);
      return memory.data() + kGuard / 2 + (64 - address % 64) % 64 + offset * bytes;
    };
    const uint8_t* const in = begin(in_bytes, s.offset_in);
    uint8_t* const out = begin(out_bytes, s.offset_out);
    std::vector<uint8_t> expected = out_bytes;
    uint8_t* const to = expected.data() + (out - out_bytes.data());
    for (int64_t row = 0; row < s.rows; ++row) {
      for (int64_t col = 0; col < s.cols; ++col) {
        for (int64_t b = 0; b < bytes; ++b) {
          to[(col * ld_out + row) * bytes + b] = in[(row * ld_in + col) * bytes + b];
        }
      }
    }
    StreamedTranspose transpose = {in, ld_in * bytes, out, ld_out * bytes, s.rows, s.cols, bytes};
    transpose.tiling = tiling;
    const int64_t tiles = CountStreamedTiles(transpose);
    // In two parts, as threads do, of which the last one runs first.
    TransposeStreamed(transpose, tiles / 2, tiles);
    TransposeStreamed(transpose, 0, tiles / 2);
    EXPECT_TRUE(out_bytes == expected) << s;
  }
}

INSTANTIATE_TEST_SUITE_P(All, StreamedTest,
                         testing::Combine(testing::Values(StreamedTiling::kIntel,
                                                          StreamedTiling::kAmd),
                                          testing::Values(1, 2, 4, 8, 16)));

}  // namespace
}  // namespace stridewise

// Each schedule on batches that it would be chosen for, only smaller.

#include "transpose/cpu/schedules.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "transpose/cpu/batch.h"

namespace stridewise {
namespace {

struct Shape {
  int64_t rows, cols;
  int64_t count = 1;
  int64_t pad_in = 0, pad_out = 0;  // In elements.
  int64_t gap = 0;                  // Elements between matrices.
  int64_t offset = 0;               // Elements from a cache line to the output.
};

struct Schedule {
  const char* name;
  void (*run)(const BatchTranspose& batch, int threads);
  bool (*takes)(const BatchTranspose& batch);
  std::vector<Shape> shapes;
};

bool TakesAll(const BatchTranspose& /*batch*/) { return true; }

void ChosenByBytes(const BatchTranspose& batch, int threads) { TransposeBatch(batch, threads); }

// In and across pieces, groups of matrices and tiles; one matrix and several.
const std::vector<Schedule>& Schedules() {
  static const auto& schedules = *new std::vector<Schedule>{
      {"InCaches",
       TransposeInCaches,
       TakesAll,
       {{1, 700, 3},
        {3, 59, 40},
        {59, 3, 40, 1},
        {300, 260},
        {260, 300, 1, 3, 5},
        {12, 66, 100},
        {1000, 33, 2, 0, 0, 7},
        {5, 4000},
        {4000, 5, 2},
        {70, 200, 5, 0, 1, 3},
        {2000, 90, 1, 1, 0, 0, 3}}},
      {"ContiguousOutput",
       StreamContiguousOutput,
       HasContiguousOutput,
       {{3, 59, 500},
        {12, 66, 300, 2},
        {12, 66, 50, 0, 0, 3, 1},
        {133, 3000, 1, 0, 0, 0, 3},
        {15, 9000, 2, 1, 0, 0, 1},
        {197, 64, 9},
        {1001, 200, 1, 0, 0, 0, 1},
        {2, 40000, 2}}},
      {"FewColumns",
       StreamFewColumns,
       HasFewColumns,
       {{20000, 3},
        {9000, 15, 2, 1, 5},
        {4500, 61},
        {700, 2, 30, 0, 0, 3, 1},
        {4100, 7, 2, 0, 0, 0, 5}}},
      {"Tiles",
       StreamTiles,
       TakesAll,
       {{300, 700, 3}, {64, 2000, 4}, {1000, 77, 2, 3, 5, 7, 1}, {515, 511}}},
      {"ChosenByBytes",
       ChosenByBytes,
       TakesAll,
       {{1, 5000, 3}, {5000, 1, 3}, {1, 500, 2, 0, 3}, {500, 1, 2, 3}, {90, 100, 10}}},
  };
  return schedules;
}

class ScheduleTest : public testing::TestWithParam<std::tuple<size_t, int64_t, int>> {};

TEST_P(ScheduleTest, WritesTheTransposesAndNothingElse) {
  constexpr uint8_t kCanary = 0xA5;
  constexpr int64_t kGuard = 192;
  const auto [index, bytes, threads] = GetParam();
  const Schedule& schedule = Schedules()[index];
  std::mt19937 random(1);
  for (const Shape& s : schedule.shapes) {
    const int64_t ld_in = s.cols + s.pad_in;
    const int64_t ld_out = s.rows + s.pad_out;
    const int64_t stride_in = s.rows * ld_in + s.gap;
    const int64_t stride_out = s.cols * ld_out + s.gap;
    std::vector<uint8_t> in(s.count * stride_in * bytes);
    for (uint8_t& byte : in) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> memory((s.count * stride_out + s.offset) * bytes + 2 * kGuard, kCanary);
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    const int64_t begin = kGuard / 2 +
                          static_cast<int64_t>((64 - (address + kGuard / 2) % 64) % 64) +
                          s.offset * bytes;
    std::vector<uint8_t> expected = memory;
    for (int64_t i = 0; i < s.count; ++i) {
      for (int64_t row = 0; row < s.rows; ++row) {
        for (int64_t col = 0; col < s.cols; ++col) {
          std::memcpy(&expected[begin + (i * stride_out + col * ld_out + row) * bytes],
                      &in[(i * stride_in + row * ld_in + col) * bytes], bytes);
        }
      }
    }
    const BatchTranspose batch = {
        {in.data(), ld_in * bytes, memory.data() + begin, ld_out * bytes, s.rows, s.cols, bytes},
        s.count,
        stride_in * bytes,
        stride_out * bytes};
    if (!schedule.takes(batch)) continue;  // Rows of large elements may be too long.
    schedule.run(batch, threads);
    EXPECT_TRUE(memory == expected) << schedule.name << ": " << s.count << " of " << s.rows << "x"
                                    << s.cols << ", elements of " << bytes << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleTest,
                         testing::Combine(testing::Range<size_t>(0, 5),
                                          testing::Values(1, 2, 4, 8, 16),
                                          testing::Values(1, 3, 5)),
                         [](const auto& info) {
                           return std::string(Schedules()[std::get<0>(info.param)].name) + "Of" +
                                  std::to_string(std::get<1>(info.param)) + "BytesOn" +
                                  std::to_string(std::get<2>(info.param)) + "Threads";
                         });

TEST(CopyOnThreads, CopiesPartsOfEveryThread) {
  for (const bool streams : {false, true}) {
    for (const int64_t bytes : {1, 100, 6401, 600000}) {
      std::vector<uint8_t> in(bytes);
      for (int64_t i = 0; i < bytes; ++i) in[i] = static_cast<uint8_t>(i * 31 >> 3);
      std::vector<uint8_t> out(bytes + 2, 0);
      CopyOnThreads(in.data(), out.data() + 1, bytes, streams, 3);
      EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin() + 1)) << streams << " " << bytes;
      EXPECT_EQ(out.front(), 0);
      EXPECT_EQ(out.back(), 0);
    }
  }
}

TEST(PartBegin, DividesEverythingAtUnits) {
  for (const int64_t n : {1, 63, 64, 1000}) {
    for (const int64_t parts : {1, 3, 16, 40}) {
      EXPECT_EQ(PartBegin(n, parts, 0, 64), 0);
      EXPECT_EQ(PartBegin(n, parts, parts, 64), n);
      for (int64_t i = 0; i < parts; ++i) {
        EXPECT_LE(PartBegin(n, parts, i, 64), PartBegin(n, parts, i + 1, 64));
        EXPECT_TRUE(PartBegin(n, parts, i, 64) % 64 == 0 || PartBegin(n, parts, i, 64) == n);
      }
    }
  }
}

}  // namespace
}  // namespace stridewise

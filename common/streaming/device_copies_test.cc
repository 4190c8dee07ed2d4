#include "common/streaming/device_copies.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Addresses that nobody uses.
void* At(int64_t address) { return reinterpret_cast<void*>(address); }

std::vector<BlockCopy> CopiesOf(const BlockCopy& whole) {
  std::vector<BlockCopy> copies;
  const absl::Status status = ForDeviceCopies(whole, [&](const BlockCopy& copy) {
    copies.push_back(copy);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  return copies;
}

void ExpectRow(const BlockCopy& copy, int64_t to, int64_t from, int64_t bytes) {
  EXPECT_EQ(copy.to, At(to));
  EXPECT_EQ(copy.from, At(from));
  EXPECT_EQ(copy.row_bytes, bytes);
  EXPECT_EQ(copy.rows, 1);
}

constexpr int64_t kTo = int64_t{1} << 40, kFrom = int64_t{1} << 44;

TEST(DeviceCopiesTest, NothingIsNoCopy) {
  EXPECT_TRUE(CopiesOf({At(kTo), 8, At(kFrom), 8, 0, 3}).empty());
  EXPECT_TRUE(CopiesOf({At(kTo), 8, At(kFrom), 8, 8, 0}).empty());
}

// A part of 32768 x 16384 doubles is a row of 2^32 bytes, whose pitch no copy of rows takes.
TEST(DeviceCopiesTest, WhatLiesDenseIsOneRowOfAnyLength) {
  constexpr int64_t kBytes = int64_t{1} << 32;
  for (const int64_t pitch : {kBytes, int64_t{7}}) {
    const auto one = CopiesOf({At(kTo), pitch, At(kFrom), pitch, kBytes, 1});
    ASSERT_EQ(one.size(), 1u);
    ExpectRow(one[0], kTo, kFrom, kBytes);
  }
  const auto rows = CopiesOf({At(kTo), 1 << 17, At(kFrom), 1 << 17, 1 << 17, 32768});
  ASSERT_EQ(rows.size(), 1u);
  ExpectRow(rows[0], kTo, kFrom, kBytes);
}

TEST(DeviceCopiesTest, RowsWithGapsAreCopiedTogether) {
  for (const int64_t pitch : {int64_t{11}, kMaxCopyPitch}) {
    for (const bool to_is_dense : {true, false}) {
      const int64_t to_pitch = to_is_dense ? 10 : pitch, from_pitch = to_is_dense ? pitch : 10;
      const auto copies = CopiesOf({At(kTo), to_pitch, At(kFrom), from_pitch, 10, 5});
      ASSERT_EQ(copies.size(), 1u);
      EXPECT_EQ(copies[0].to_pitch, to_pitch);
      EXPECT_EQ(copies[0].from_pitch, from_pitch);
      EXPECT_EQ(copies[0].row_bytes, 10);
      EXPECT_EQ(copies[0].rows, 5);
    }
  }
}

TEST(DeviceCopiesTest, RowsThatAreTooFarApartAreCopiedOneByOne) {
  constexpr int64_t kPitch = kMaxCopyPitch + 1;
  for (const bool to_is_dense : {true, false}) {
    const int64_t to_pitch = to_is_dense ? 10 : kPitch, from_pitch = to_is_dense ? kPitch : 10;
    const auto copies = CopiesOf({At(kTo), to_pitch, At(kFrom), from_pitch, 10, 5});
    ASSERT_EQ(copies.size(), 5u);
    for (int64_t row = 0; row < 5; ++row) {
      ExpectRow(copies[row], kTo + row * to_pitch, kFrom + row * from_pitch, 10);
    }
  }
}

TEST(DeviceCopiesTest, AnErrorEndsIt) {
  int calls = 0;
  const auto status =
      ForDeviceCopies({At(kTo), kMaxCopyPitch + 1, At(kFrom), 10, 10, 5}, [&](const BlockCopy&) {
        return ++calls == 2 ? absl::InternalError("told to fail") : absl::OkStatus();
      });
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace stridewise

// How `auto` runs a batch.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "transpose/dispatch.h"
#include "transpose/registry.h"
#include "transpose/test/unused_args.h"

namespace stridewise {
namespace {

// Appends the arguments to the vector that the stream points to.
absl::Status Record(const TransposeImplementation& /*implementation*/, const TransposeArgs& args) {
  reinterpret_cast<std::vector<TransposeArgs>*>(args.stream)->push_back(args);
  return absl::OkStatus();
}

TEST(RunChosenTranspose, LoopsWhereTheChosenTakesNoBatches) {
  TransposeArgs args = Gapless(1 << 20, 1, 4, 3);
  args.stride_in += 1;
  args.stride_out += 2;
  std::vector<TransposeArgs> calls;
  args.stream = reinterpret_cast<cudaStream_t>(&calls);
  ASSERT_TRUE(RunChosenTranspose(args, Record).ok());
  ASSERT_EQ(calls.size(), 3u);
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].batch, 1);
    EXPECT_EQ(calls[i].in, At(0x10000000 + i * 4 * ((1 << 20) + 1)));
    EXPECT_EQ(calls[i].out, At(0x20000000 + i * 4 * ((1 << 20) + 2)));
    EXPECT_EQ(calls[i].rows, args.rows);
    EXPECT_EQ(calls[i].ld_out, args.ld_out);
  }
}

TEST(RunChosenTranspose, IsOneCallElseAndNoneWithoutElements) {
  std::vector<TransposeArgs> calls;
  TransposeArgs args = Gapless(7, 5, 4, 1000);
  args.stream = reinterpret_cast<cudaStream_t>(&calls);
  ASSERT_TRUE(RunChosenTranspose(args, Record).ok());
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].batch, 1000);
  args.batch = 0;
  ASSERT_TRUE(RunChosenTranspose(args, Record).ok());
  args.batch = 2;
  args.rows = 0;
  ASSERT_TRUE(RunChosenTranspose(args, Record).ok());
  EXPECT_EQ(calls.size(), 1u);
}

TEST(RunChosenTranspose, TakesABatchOfLinesWithoutGapsAsOneRow) {
  for (TransposeArgs args : {Gapless(1, 1000, 4, 300), Gapless(1000, 1, 2, 300)}) {
    std::vector<TransposeArgs> calls;
    args.stream = reinterpret_cast<cudaStream_t>(&calls);
    ASSERT_TRUE(RunChosenTranspose(args, Record).ok());
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].batch, 1);
    EXPECT_EQ(calls[0].rows, 1);
    EXPECT_EQ(calls[0].cols, 300 * 1000);
    EXPECT_EQ(calls[0].ld_in, 300 * 1000);
    EXPECT_EQ(calls[0].ld_out, 1);
    args.stride_out += 1;
    ASSERT_TRUE(RunChosenTranspose(args, Record).ok());
    EXPECT_EQ(calls[1].batch, 300);
  }
}

TEST(RunChosenTranspose, StopsAtTheFirstError) {
  TransposeArgs args = Gapless(1 << 20, 1, 4, 3);
  args.stride_in += 1;
  int calls = 0;
  args.stream = reinterpret_cast<cudaStream_t>(&calls);
  const auto fail = [](const TransposeImplementation&, const TransposeArgs& call) -> absl::Status {
    ++*reinterpret_cast<int*>(call.stream);
    return absl::InternalError("no");
  };
  EXPECT_EQ(RunChosenTranspose(args, fail).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace stridewise

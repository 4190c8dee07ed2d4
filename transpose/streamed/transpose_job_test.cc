// Streamed transposes on a device of the host, whose queues run in any order that events allow.

#include "transpose/streamed/transpose_job.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mapped_file.h"
#include "common/streaming/fake_stream_queues.h"
#include "common/streaming/stream_job.h"
#include "gtest/gtest.h"
#include "transpose/on_host.h"
#include "transpose/streamed/streamed_test_transpose.h"

namespace stridewise {
namespace {

constexpr StreamedTransposeCase kCases[] = {
    {1, 1, 4},      {1, 300, 1, 3}, {300, 1, 2},    {17, 19, 4},   {64, 64, 8, 1},
    {65, 63, 4, 2}, {100, 7, 16},   {7, 100, 4, 5}, {128, 129, 2}, {3, 2000, 1},
};

absl::Status TransposeAt(const MatrixView& in, const MutableMatrixView& out, cudaStream_t) {
  return TransposeOnHost(in, out);
}

TEST(TransposeJobTest, TransposesWithAnyMemory) {
  for (const StreamedTransposeCase& c : kCases) {
    for (const int64_t bytes : {int64_t{1024}, int64_t{3000}, int64_t{20000}, int64_t{1} << 30}) {
      for (uint64_t seed = 0; seed < 8; ++seed) {
        StreamedTestTranspose problem(c);
        const auto devices = static_cast<int64_t>(1 + seed % 3);
        ASSERT_TRUE(CheckStreamedTranspose(problem.in(), problem.out()).ok());
        const auto plan = PlanTranspose(problem.in(), bytes, devices, {});
        ASSERT_TRUE(plan.ok()) << plan.status();
        EXPECT_LE(plan->device_bytes, bytes);
        EXPECT_GT(plan->seconds, 0);
        const FakeDevices fakes(devices, seed, plan->device_bytes);
        const TransposeJob job(problem.in(), problem.out(), *plan, TransposeAt);
        const absl::Status status = RunStreamJob(job, fakes.queues(), {});
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_TRUE(problem.IsRight()) << c << ", " << bytes << " bytes, seed " << seed;
        EXPECT_TRUE(fakes.CanariesAreWhole());
      }
    }
  }
}

// With queues that run in another order.
TEST(TransposeJobTest, GoesOnAfterCancelled) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    StreamedTestTranspose problem({65, 63, 4, 2});
    StreamCheckpoint checkpoint;
    std::atomic<bool> cancel = false;
    StreamOptions options;
    options.checkpoint = &checkpoint;
    const auto run = [&](uint64_t device_seed) -> absl::Status {
      const auto plan = PlanTranspose(problem.in(), 1024, 1, {});
      if (!plan.ok()) return plan.status();
      FakeStreamQueues device(device_seed, plan->device_bytes);
      const TransposeJob job(problem.in(), problem.out(), *plan, TransposeAt);
      return RunStreamJob(job, {&device}, options);
    };
    options.cancel = &cancel;
    options.progress = [&](int64_t done, int64_t) { cancel = done >= 3; };
    EXPECT_TRUE(absl::IsCancelled(run(seed)));
    EXPECT_FALSE(problem.IsRight());
    int64_t first_done = 0;
    options.cancel = nullptr;
    options.progress = [&](int64_t done, int64_t) {
      if (first_done == 0) first_done = done;
    };
    const absl::Status status = run(seed + 100);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GT(first_done, 3);  // Those that were done are not done again.
    EXPECT_TRUE(problem.IsRight());
  }
}

// From a file into another.
TEST(TransposeJobTest, TransposesMappedFiles) {
  constexpr int64_t kRows = 65, kCols = 129;
  constexpr int64_t kBytes = kRows * kCols * sizeof(float);
  const auto from = MappedFile::CreateUnnamed(testing::TempDir(), kBytes);
  const auto to = MappedFile::CreateUnnamed(testing::TempDir(), kBytes);
  ASSERT_TRUE(from.ok() && to.ok()) << from.status() << to.status();
  for (int64_t i = 0; i < kRows * kCols; ++i) from->As<float>()[i] = static_cast<float>(i);
  const MatrixView in = {from->data(), kRows, kCols, kCols, sizeof(float)};
  const MutableMatrixView out = {to->data(), kCols, kRows, kRows, sizeof(float)};
  const auto plan = PlanTranspose(in, 6000, 1, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  FakeStreamQueues device(1, plan->device_bytes);
  const absl::Status status =
      RunStreamJob(TransposeJob(in, out, *plan, TransposeAt), {&device}, {});
  ASSERT_TRUE(status.ok()) << status;
  for (int64_t i = 0; i < kRows * kCols; ++i) {
    ASSERT_EQ(to->As<float>()[i % kCols * kRows + i / kCols], static_cast<float>(i)) << i;
  }
}

TEST(TransposeJobTest, TilesHaveLongRowsBothWays) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{131072, 131072},
                                   {100000, 200000},
                                   {5, 1 << 30},
                                   {1 << 30, 5}}) {
    const MatrixView in = {nullptr, rows, cols, cols, 4};
    const auto plan = PlanTranspose(in, 2 * kGiB, 1, {});
    ASSERT_TRUE(plan.ok());
    EXPECT_GE(plan->tile_rows, std::min<int64_t>(rows, 4096));
    EXPECT_GE(plan->tile_cols, std::min<int64_t>(cols, 4096));
    EXPECT_GE(plan->tile_rows * plan->tile_cols, 1 << 22);
    EXPECT_LE(plan->device_bytes, 2 * kGiB);
    EXPECT_LE(plan->seconds, 1.1 * plan->bytes / StreamRates().bytes_in);
  }
}

TEST(TransposeJobTest, DevicesShareTheMemoryOfTheHost) {
  const MatrixView in = {nullptr, 65536, 65536, 65536, 4};
  StreamRates rates;
  rates.bytes_in = rates.bytes_out = 50e9;
  rates.host_bytes = 80e9;
  const auto seconds = [&](int64_t devices) {
    return PlanTranspose(in, int64_t{1} << 30, devices, rates)->seconds;
  };
  const double bytes = 65536.0 * 65536 * 4;
  EXPECT_NEAR(seconds(1), bytes / 50e9, 0.05 * seconds(1));
  EXPECT_NEAR(seconds(2), bytes / 80e9, 0.1 * seconds(2));
  EXPECT_EQ(seconds(4), seconds(2));
}

TEST(TransposeJobTest, NothingToDoAndNoRoom) {
  const auto empty = PlanTranspose({nullptr, 0, 5, 5, 4}, 0, 1, {});
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->tiles_down * empty->tiles_across, 0);
  EXPECT_TRUE(
      absl::IsResourceExhausted(PlanTranspose({nullptr, 5, 5, 5, 4}, 1000, 1, {}).status()));
}

TEST(TransposeJobTest, RefusesWhatItDoesNotTake) {
  StreamedTestTranspose problem({8, 6, 4});
  MatrixView batch = problem.in();
  MutableMatrixView batch_out = problem.out();
  batch.batch = batch_out.batch = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckStreamedTranspose(batch, batch_out)));
  MatrixView narrow = problem.in();
  narrow.ld = 5;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckStreamedTranspose(narrow, problem.out())));
  MutableMatrixView over = problem.out();
  over.data = const_cast<void*>(problem.in().data);
  EXPECT_TRUE(absl::IsInvalidArgument(CheckStreamedTranspose(problem.in(), over)));
}

}  // namespace
}  // namespace stridewise

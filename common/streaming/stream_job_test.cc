// The executor of streamed operations on devices of the host: every tile once, buffers never
// overwritten while in use, cancelled and resumed, failing.

#include "common/streaming/stream_job.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/streaming/fake_stream_queues.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Each tile is a number: what it was, if asked for, and the sum of a number for each step.
class SumJob : public StreamJob {
 public:
  SumJob(int64_t tiles, int64_t steps, bool adds)
      : steps_(steps), adds_(adds), in_(tiles * steps), out_(tiles), computed_(tiles) {
    for (size_t i = 0; i < in_.size(); ++i) in_[i] = static_cast<int64_t>(i * i + 1);
    for (size_t i = 0; i < out_.size(); ++i) out_[i] = Before(i);
  }

  int64_t steps() const override { return steps_; }
  StreamCheckpoint first_checkpoint() const override {
    return {1, 1, std::vector<bool>(out_.size())};
  }
  int64_t input_bytes() const override { return sizeof(int64_t); }
  int64_t output_bytes() const override { return sizeof(int64_t); }
  std::vector<BlockCopy> Loads(int64_t tile, int64_t step, void* input) const override {
    return {{input, 8, &in_[tile * steps_ + step], 8, 8, 1}};
  }
  std::vector<BlockCopy> OutputLoads(int64_t tile, void* output) const override {
    if (!adds_) return {};
    return {{output, 8, &out_[tile], 8, 8, 1}};
  }
  absl::Status Compute(int64_t tile, int64_t step, const StreamBuffers& buffers,
                       cudaStream_t) const override {
    ++computed_[tile];
    auto* sum = static_cast<int64_t*>(buffers.output);
    if (step == 0 && !adds_) *sum = 0;
    *sum += *static_cast<int64_t*>(buffers.input);
    return absl::OkStatus();
  }
  BlockCopy Store(int64_t tile, const void* output) const override {
    return {&out_[tile], 8, output, 8, 8, 1};
  }

  static int64_t Before(int64_t tile) { return -1000 - tile; }
  int64_t Expected(int64_t tile) const {
    int64_t sum = adds_ ? Before(tile) : 0;
    for (int64_t step = 0; step < steps_; ++step) sum += in_[tile * steps_ + step];
    return sum;
  }
  int64_t out(int64_t tile) const { return out_[tile]; }
  int64_t computed(int64_t tile) const { return computed_[tile]; }

 private:
  int64_t steps_;
  bool adds_;
  std::vector<int64_t> in_;
  mutable std::vector<int64_t> out_;
  mutable std::vector<std::atomic<int64_t>> computed_;
};

struct Case {
  int64_t tiles, steps;
  bool adds;
  int devices;
};

constexpr Case kCases[] = {{0, 1, false, 1},  {1, 1, false, 1}, {1, 1, true, 1},  {1, 5, true, 1},
                           {2, 1, true, 1},   {3, 2, true, 1},  {7, 1, false, 1}, {7, 3, true, 1},
                           {20, 2, false, 1}, {7, 3, true, 2},  {20, 1, true, 3}, {2, 2, true, 4}};

absl::Status Compute(const SumJob& job, int devices, uint64_t seed, const StreamOptions& options,
                     int64_t fails_at = -1) {
  std::vector<std::unique_ptr<FakeStreamQueues>> owned;
  std::vector<StreamQueues*> queues;
  for (int i = 0; i < devices; ++i) {
    owned.push_back(std::make_unique<FakeStreamQueues>(seed + i, 1000, fails_at));
    queues.push_back(owned.back().get());
  }
  const absl::Status status = RunStreamJob(job, queues, options);
  for (const auto& device : owned) EXPECT_TRUE(device->CanariesAreWhole());
  return status;
}

TEST(StreamJobTest, ComputesEveryTileOnceInAnyOrderOfTheQueues) {
  for (const Case& c : kCases) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      SumJob job(c.tiles, c.steps, c.adds);
      int64_t last = 0;
      StreamOptions options;
      options.progress = [&](int64_t done, int64_t tiles) {
        EXPECT_EQ(done, ++last);
        EXPECT_EQ(tiles, c.tiles);
      };
      ASSERT_TRUE(Compute(job, c.devices, seed, options).ok());
      EXPECT_EQ(last, c.tiles);
      for (int64_t tile = 0; tile < c.tiles; ++tile) {
        ASSERT_EQ(job.out(tile), job.Expected(tile)) << "tile " << tile << " seed " << seed;
        ASSERT_EQ(job.computed(tile), c.steps);
      }
    }
  }
}

TEST(StreamJobTest, GoesOnAfterCancelled) {
  for (const Case& c : kCases) {
    if (c.tiles == 0) continue;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      SumJob job(c.tiles, c.steps, c.adds);
      StreamCheckpoint checkpoint;
      std::atomic<bool> cancel = false;
      StreamOptions options;
      options.checkpoint = &checkpoint;
      options.cancel = &cancel;
      const auto stop_at = static_cast<int64_t>(seed) % c.tiles;
      options.progress = [&](int64_t done, int64_t) { cancel = done > stop_at; };
      const absl::Status first = Compute(job, c.devices, seed, options);
      EXPECT_TRUE(first.ok() || absl::IsCancelled(first)) << first;
      int64_t done = 0;
      for (int64_t tile = 0; tile < c.tiles; ++tile) {
        done += checkpoint.done[tile] ? 1 : 0;
        ASSERT_EQ(job.out(tile), checkpoint.done[tile] ? job.Expected(tile) : SumJob::Before(tile));
      }
      EXPECT_GT(done, stop_at);
      EXPECT_EQ(first.ok(), done == c.tiles);

      options.cancel = nullptr;
      options.progress = nullptr;
      ASSERT_TRUE(Compute(job, c.devices, seed + 1000, options).ok());
      for (int64_t tile = 0; tile < c.tiles; ++tile) ASSERT_EQ(job.out(tile), job.Expected(tile));
    }
  }
}

TEST(StreamJobTest, BeginsNothingWhenCancelledBefore) {
  SumJob job(4, 2, false);
  const std::atomic<bool> cancel = true;
  StreamOptions options;
  options.cancel = &cancel;
  EXPECT_TRUE(absl::IsCancelled(Compute(job, 2, 1, options)));
  for (int64_t tile = 0; tile < 4; ++tile) EXPECT_EQ(job.computed(tile), 0);
}

TEST(StreamJobTest, ReturnsTheErrorOfADevice) {
  for (int64_t fails_at = 0; fails_at < 12; ++fails_at) {
    SumJob job(3, 2, true);
    StreamCheckpoint checkpoint;
    StreamOptions options;
    options.checkpoint = &checkpoint;
    EXPECT_TRUE(absl::IsInternal(Compute(job, 1, fails_at, options, fails_at))) << fails_at;
    for (int64_t tile = 0; tile < 3; ++tile) {
      if (!checkpoint.done[tile]) continue;
      EXPECT_EQ(job.out(tile), job.Expected(tile));
    }
  }
}

TEST(StreamJobTest, RefusesACheckpointOfOtherTiles) {
  SumJob job(3, 1, false);
  StreamCheckpoint checkpoint = {1, 1, {true, false}};
  StreamOptions options;
  options.checkpoint = &checkpoint;
  EXPECT_TRUE(absl::IsInvalidArgument(Compute(job, 1, 1, options)));
}

TEST(StreamJobTest, SaysThatADeviceIsTooSmall) {
  SumJob job(3, 1, false);
  FakeStreamQueues small(1, 31);
  StreamQueues* const queues = &small;
  EXPECT_TRUE(absl::IsResourceExhausted(RunStreamJob(job, {&queues, 1}, {})));
}

}  // namespace
}  // namespace stridewise

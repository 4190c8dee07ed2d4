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

// Each tile is three numbers: what they were, if asked for, and for each slice a number, twice and
// three times that number. Steps have up to four slices; a band has one number or more.
class SumJob : public StreamJob {
 public:
  SumJob(int64_t tiles, int64_t slices, bool adds)
      : slices_(slices), adds_(adds), in_(tiles * slices), out_(tiles * kWidth), computed_(tiles) {
    for (size_t i = 0; i < in_.size(); ++i) in_[i] = static_cast<int64_t>(i * i + 1);
    for (int64_t i = 0; i < tiles * kWidth; ++i) out_[i] = Before(i);
  }

  int64_t slices() const override { return slices_; }
  int64_t slices_at_once() const override { return kMostSlices; }
  int64_t bands() const override { return kWidth - 1; }
  StreamCheckpoint first_checkpoint() const override {
    return {1, 1, std::vector<bool>(computed_.size())};
  }
  int64_t input_bytes() const override { return kMostSlices * kBytes; }
  int64_t output_bytes() const override { return kWidth * kBytes; }
  std::vector<BlockCopy> Loads(const StreamStep& step, void* input) const override {
    EXPECT_LE(step.slices, kMostSlices);
    const int64_t bytes = step.slices * kBytes;
    return {{input, bytes, &in_[step.tile * slices_ + step.first], bytes, bytes, 1}};
  }
  std::vector<BlockCopy> OutputLoads(int64_t tile, void* output) const override {
    if (!adds_) return {};
    const int64_t bytes = kWidth * kBytes;
    return {{output, bytes, &out_[tile * kWidth], bytes, bytes, 1}};
  }
  absl::Status Compute(const StreamStep& step, const StreamBand& band, const StreamBuffers& buffers,
                       cudaStream_t) const override {
    const auto* const slices = static_cast<const int64_t*>(buffers.input);
    for (int64_t i = BeginOf(band); i < BeginOf({band.index + 1, band.bands}); ++i) {
      int64_t& sum = static_cast<int64_t*>(buffers.output)[i];
      if (step.first == 0 && !adds_) sum = 0;
      for (int64_t slice = 0; slice < step.slices; ++slice) sum += (i + 1) * slices[slice];
      computed_[step.tile] += step.slices;
    }
    return absl::OkStatus();
  }
  BlockCopy Store(int64_t tile, const StreamBand& band, const void* output) const override {
    const int64_t begin = BeginOf(band);
    const int64_t bytes = (BeginOf({band.index + 1, band.bands}) - begin) * kBytes;
    const auto* const from = static_cast<const int64_t*>(output) + begin;
    return {&out_[tile * kWidth + begin], bytes, from, bytes, bytes, 1};
  }

  // Return whether the tile is as it was before, and whether it is right.
  bool IsAsBefore(int64_t tile) const {
    return Is(tile, [&](int64_t i) { return Before(tile * kWidth + i); });
  }
  bool IsRight(int64_t tile) const {
    int64_t sum = 0;
    for (int64_t slice = 0; slice < slices_; ++slice) sum += in_[tile * slices_ + slice];
    return Is(tile,
              [&](int64_t i) { return (adds_ ? Before(tile * kWidth + i) : 0) + (i + 1) * sum; });
  }
  // Returns how often slices were added to the tile's numbers.
  int64_t computed(int64_t tile) const { return computed_[tile]; }
  int64_t computed_once() const { return kWidth * slices_; }

 private:
  static constexpr int64_t kWidth = 3;
  static constexpr int64_t kMostSlices = 4;
  static constexpr int64_t kBytes = sizeof(int64_t);

  static int64_t Before(int64_t number) { return -1000 - number; }
  static int64_t BeginOf(const StreamBand& band) { return kWidth * band.index / band.bands; }
  template <typename Expected>
  bool Is(int64_t tile, Expected expected) const {
    for (int64_t i = 0; i < kWidth; ++i) {
      if (out_[tile * kWidth + i] != expected(i)) return false;
    }
    return true;
  }

  int64_t slices_;
  bool adds_;
  std::vector<int64_t> in_;
  mutable std::vector<int64_t> out_;
  mutable std::vector<std::atomic<int64_t>> computed_;
};

struct Case {
  int64_t tiles, slices;
  bool adds;
  int devices;
};

constexpr Case kCases[] = {{0, 1, false, 1},  {1, 1, false, 1}, {1, 1, true, 1},  {1, 25, true, 1},
                           {2, 1, true, 1},   {3, 2, true, 1},  {7, 1, false, 1}, {7, 30, true, 1},
                           {20, 2, false, 1}, {7, 13, true, 2}, {20, 1, true, 3}, {2, 2, true, 4}};

absl::Status Compute(const SumJob& job, int devices, uint64_t seed, const StreamOptions& options,
                     int64_t fails_at = -1) {
  const FakeDevices fakes(devices, seed, 1000, fails_at);
  const absl::Status status = RunStreamJob(job, fakes.queues(), options);
  EXPECT_TRUE(fakes.CanariesAreWhole());
  return status;
}

TEST(StreamJobTest, ComputesEveryTileOnceInAnyOrderOfTheQueues) {
  for (const Case& c : kCases) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      SumJob job(c.tiles, c.slices, c.adds);
      int64_t last = 0;
      StreamOptions options;
      options.progress = [&](int64_t done, int64_t tiles) {
        EXPECT_EQ(done, ++last);
        EXPECT_EQ(tiles, c.tiles);
      };
      ASSERT_TRUE(Compute(job, c.devices, seed, options).ok());
      EXPECT_EQ(last, c.tiles);
      for (int64_t tile = 0; tile < c.tiles; ++tile) {
        ASSERT_TRUE(job.IsRight(tile)) << "tile " << tile << " seed " << seed;
        ASSERT_EQ(job.computed(tile), job.computed_once());
      }
    }
  }
}

TEST(StreamJobTest, GoesOnAfterCancelled) {
  for (const Case& c : kCases) {
    if (c.tiles == 0) continue;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      SumJob job(c.tiles, c.slices, c.adds);
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
        ASSERT_TRUE(checkpoint.done[tile] ? job.IsRight(tile) : job.IsAsBefore(tile));
      }
      EXPECT_GT(done, stop_at);
      EXPECT_EQ(first.ok(), done == c.tiles);

      options.cancel = nullptr;
      options.progress = nullptr;
      ASSERT_TRUE(Compute(job, c.devices, seed + 1000, options).ok());
      for (int64_t tile = 0; tile < c.tiles; ++tile) ASSERT_TRUE(job.IsRight(tile));
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
      EXPECT_TRUE(job.IsRight(tile));
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
  FakeStreamQueues small(1, 2 * (4 + 3) * 8 - 1);
  StreamQueues* const queues = &small;
  EXPECT_TRUE(absl::IsResourceExhausted(RunStreamJob(job, {&queues, 1}, {})));
}

}  // namespace
}  // namespace stridewise

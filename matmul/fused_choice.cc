#include "matmul/fused_choice.h"

#include <algorithm>
#include <limits>

#include "common/gpu/launch_geometry.h"
#include "matmul/cluster_sizes.h"
#include "matmul/memory_factor.h"

namespace stridewise {
namespace {

// Microseconds, fitted to 53 random products on an H100 and 42 on an H200, 4 % off in the mean, and
// less by what the loop and the store of C gained on an H100 since; tiles of 256x64 and 64x256 and
// kUsOfLater were fitted to 110 more on an H200. A multiprocessor holds one block.
struct TileTime {
  FusedTileShape tile;
  int64_t rows, cols;
  double us_of_k;  // For each k of a tile.
  double us;       // Its first loads and its store.
};
constexpr TileTime kTimes[] = {
    {FusedTileShape::k128x128, 128, 128, 30.6e-3, 6.8},
    {FusedTileShape::k256x64, 256, 64, 35.5e-3, 8},
    {FusedTileShape::k64x256, 64, 256, 37.5e-3, 6.8},
};
// What a tile takes less where another one was computed before: blocks do not wait for each other.
constexpr double kUsOfLater = 0.9;
constexpr double kUsOfCall = 6;
constexpr double kUsOfSplit = 4.5;     // Where blocks of a cluster add their sums,
constexpr double kUsOfPartial = 7;     // and where another kernel adds those of any blocks.
constexpr double kUsOfByte = 0.33e-6;  // On an H200.
constexpr double kUnaligned = 0.04;    // More for each operand that is loaded float by float.
constexpr int64_t kStepK = 64;
constexpr int64_t kMostSplit = 8;
constexpr int64_t kMostParts = 32;      // Where another kernel adds their sums.
constexpr int64_t kLeastPartSteps = 3;  // Of those.

double OperandBytes(const MatMulArgs& args) {
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  return sizeof(float) * static_cast<double>(args.batch) * (m * k + k * n + m * n);
}

}  // namespace

bool CanFuse(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return device.compute_capability == 90 && args.k >= kLeastFusedK && args.k <= kMost / 2 &&
         static_cast<float>(args.alpha) != 0 && std::max(args.m, args.n) <= kMost / 2 &&
         CeilDiv(args.m, 64) * CeilDiv(args.n, 32) <= kMost / kMostSplit / args.batch;
}

FusedChoice ChooseFused(const MatMulArgs& args, const DeviceModel& device) {
  const int64_t steps = CeilDiv(args.k, kStepK);
  // With fewer than two steps of k a block would have a bound of its own.
  const int64_t most_split = std::max<int64_t>(1, std::min(kMostSplit, steps / 2));
  const double memory_us = kUsOfByte * MemoryFactor(device) * OperandBytes(args);
  const int64_t most_bytes = std::min(
      args.workspace_bytes, int64_t{sizeof(float)} * args.batch * (args.m + args.n) * args.k);
  const double unaligned = 1 + kUnaligned * static_cast<double>(args.a.ld % 2 + args.b.ld % 2);
  FusedChoice best = {FusedTileShape::k128x128, 1, std::numeric_limits<double>::infinity()};
  for (const TileTime& time : kTimes) {
    const int64_t tiles = CeilDiv(args.m, time.rows) * CeilDiv(args.n, time.cols) * args.batch;
    const auto consider = [&](int split, int64_t slots) {
      const auto rounds = static_cast<double>(CeilDiv(tiles, slots));
      const auto k = static_cast<double>(CeilDiv(steps, split) * kStepK);
      const double us =
          kUsOfCall +
          std::max(memory_us, rounds * (unaligned * time.us_of_k * k + time.us) -
                                  (rounds - 1) * kUsOfLater + (split > 1 ? kUsOfSplit : 0));
      if (us < best.us) best = {time.tile, split, us};
    };
    // Divides the tiles behind `whole` so that all of their parts run in these rounds.
    const auto consider_parts = [&](int64_t whole, int64_t rounds) {
      const int64_t divided = tiles - whole;
      if (divided == 0) return;
      const int64_t split = std::min(
          {rounds * device.multiprocessors / divided, steps / kLeastPartSteps, kMostParts});
      const int64_t bytes = divided * split * time.rows * time.cols * int64_t{sizeof(float)};
      if (split < 2 || bytes > most_bytes) return;
      const auto full_rounds = static_cast<double>(whole / device.multiprocessors);
      const auto k = static_cast<double>(CeilDiv(steps, split) * kStepK);
      const double us_of_k = unaligned * time.us_of_k;
      const double us =
          kUsOfCall +
          std::max(
              memory_us,
              full_rounds * (us_of_k * static_cast<double>(steps * kStepK) + time.us - kUsOfLater) +
                  static_cast<double>(rounds) * (us_of_k * k + time.us) + kUsOfPartial);
      if (us < best.us) best = {time.tile, static_cast<int>(split), us, bytes, whole};
    };
    consider(1, device.multiprocessors);
    for (const ClusterSize& size : kClusterSizes) {
      if (size.blocks > most_split) break;
      consider(size.blocks, std::max<int64_t>(1, ClustersAtOnce(size, 1, device.multiprocessors)));
    }
    consider_parts(tiles / device.multiprocessors * device.multiprocessors, 1);
    if (tiles < device.multiprocessors) consider_parts(0, 2);
  }
  return best;
}

}  // namespace stridewise

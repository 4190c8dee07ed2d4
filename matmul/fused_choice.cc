#include "matmul/fused_choice.h"

#include <algorithm>
#include <limits>

#include "common/gpu/launch_geometry.h"
#include "matmul/cluster_sizes.h"
#include "matmul/memory_factor.h"

namespace stridewise {
namespace {

// Microseconds, fitted to 219 products on an H100, of which half was 6 % off in the mean when the
// other half was fitted. A multiprocessor holds one block.
struct TileTime {
  FusedTileShape tile;
  int64_t rows, cols;
  double us_of_k;  // For each k of a tile.
  double us;       // Its first loads and its store.
};
constexpr TileTime kTimes[] = {
    {FusedTileShape::k128x128, 128, 128, 30.6e-3, 6},
    {FusedTileShape::k256x64, 256, 64, 32.7e-3, 10.3},
    {FusedTileShape::k64x256, 64, 256, 38.3e-3, 6.9},
};
constexpr double kUsOfCall = 6.7;
constexpr double kUsOfSplit = 6.8;     // Where blocks of a cluster add their sums,
constexpr double kUsOfPartial = 6.7;   // and where another kernel adds those of any blocks.
constexpr double kUsOfByte = 0.36e-6;  // On an H200.
constexpr double kUnaligned = 0.026;   // More for each operand that is loaded float by float.
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
          kUsOfCall + std::max(memory_us, rounds * (unaligned * time.us_of_k * k + time.us) +
                                              (split > 1 ? kUsOfSplit : 0));
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
          std::max(memory_us,
                   full_rounds * (us_of_k * static_cast<double>(steps * kStepK) + time.us) +
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

#include "matmul/split_cost.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "matmul/cluster_sizes.h"

namespace stridewise {
namespace {

// The constants below were fitted to 97 pairs of a product and a kernel, each timed on an H100 with
// all divisions that it allows. At these the plans take 1.010 times as long as the best division in
// the geometric mean and 1.14 times at worst.

// The part of a full multiprocessor's time that a step takes where one block of several runs.
constexpr double kLoneStepOfCluster = 0.7;

// What a round costs beside its steps, in parts of the policy's split cost: where a cluster has a
// tile, where two kernels share it, and where units begin and end within tiles, for each tile of a
// unit and once more.
constexpr double kTileCost = 0.2;
constexpr double kTwoPartsCost = 0.6;
constexpr double kUnitCost = 0.45;

// Returns the part of a step's time of clusters that all have one tile, on as few multiprocessors
// as they fit.
double PartOfStep(const ClusterRound& round, const ClusterSize& size) {
  if (round.resident == 1) return 1;
  int64_t resident = 1;
  while (ClustersAtOnce(size, resident, round.multiprocessors) < round.tiles) ++resident;
  return kLoneStepOfCluster + (1 - kLoneStepOfCluster) * static_cast<double>(resident - 1) /
                                  static_cast<double>(round.resident - 1);
}

// Returns the part of the clusters that are busy where tails follow: those of 16 blocks wait until
// a group of multiprocessors has room for all.
double BusyPart(const ClusterRound& round, int blocks) {
  if (blocks == 2) return 1;
  if (blocks <= 4 && round.resident > 2) return 0.9;
  return blocks <= 8 ? 0.975 : blocks <= 12 ? 0.9 : 0.6;
}

}  // namespace

// Each group of multiprocessors may leave a rest of them.
bool TailsFit(const ClusterRound& round, int blocks, int tail_blocks) {
  constexpr int64_t kGroups = 8;
  constexpr int kMostOfSmall = 2;
  if (tail_blocks > blocks || round.steps < 2 * (blocks + tail_blocks)) return false;
  const int64_t slots = round.resident * round.multiprocessors;
  const int64_t all = round.tiles * (blocks + tail_blocks);
  if (tail_blocks <= kMostOfSmall) return all <= slots - kGroups * (tail_blocks - 1);
  // Wider tails are a third to a half of a cluster of 8 or 16, and left a tenth of the slots free
  // wherever they were timed.
  const bool timed = tail_blocks == 3 ? blocks == 8 || blocks == 12 || blocks == 16 : blocks == 16;
  return timed && 11 * all <= 10 * slots;
}

ClusterPlan PlanClusters(const ClusterRound& round) {
  const auto tiles = static_cast<double>(round.tiles);
  const auto tile_steps = static_cast<double>(round.steps);
  ClusterPlan plan;
  plan.steps = round.tiles > 0 ? tile_steps : 0;
  // Kernels count steps in 32 bits.
  if ((round.tiles + 1) * round.steps > std::numeric_limits<uint32_t>::max()) return plan;
  const auto keep = [&](double steps, double cost, int64_t units, int blocks, int tail_blocks) {
    steps += round.split_cost * cost;
    if (steps < plan.steps) plan = {units, blocks, tail_blocks, 0, steps};
  };
  for (const ClusterSize& size : kClusterSizes) {
    constexpr int kPortableBlocks = 8;  // Other GPUs may not take more.
    if (size.blocks > kPortableBlocks && round.compute_capability != 90) break;
    const int64_t at_once = ClustersAtOnce(size, round.resident, round.multiprocessors);
    const int64_t units = std::min(round.tiles, at_once);
    if (units == 0 || round.steps < size.blocks) break;
    if (units < round.tiles) {
      const double of_unit = tiles / (static_cast<double>(units) * BusyPart(round, size.blocks));
      keep(tile_steps * of_unit / size.blocks, kUnitCost * (of_unit + 1), units, size.blocks, 0);
      continue;
    }
    keep(PartOfStep(round, size) * tile_steps / size.blocks, kTileCost, units, size.blocks, 0);
    for (const int tail_blocks : kTailBlocks) {
      if (!TailsFit(round, size.blocks, tail_blocks)) continue;
      keep(tile_steps / (size.blocks + tail_blocks), kTwoPartsCost, units, size.blocks,
           tail_blocks);
    }
  }
  if (plan.tail_blocks > 0) {
    plan.head_steps = HeadSteps(round.steps, plan.blocks, plan.tail_blocks);
  }
  return plan;
}

}  // namespace stridewise

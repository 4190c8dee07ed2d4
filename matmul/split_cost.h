// Whether splitting the tiles of the last round along k takes less time than leaving them whole,
// and among which clusters of blocks a call without workspace splits them: one rule for the plans
// of kernels and for the counts of predictions.

#ifndef STRIDEWISE_MATMUL_SPLIT_COST_H_
#define STRIDEWISE_MATMUL_SPLIT_COST_H_

#include <cstdint>

namespace stridewise {

// What splitting costs, in k steps of a block on a multiprocessor that has all the blocks that it
// holds: the launches, and the partial sums' way to memory and back where there are as many units
// as the device holds blocks.
struct SplitCost {
  double launches = 0;
  double sums = 0;
};

// The tiles of the last round, in numbers of blocks.
struct LastRound {
  double tiles_of_multiprocessor;  // Of the multiprocessor that has the most, if they stay whole.
  double units_of_multiprocessor;  // The same of work units.
  double resident;                 // That a multiprocessor holds.
  double steps;                    // Of a tile.
  double unit_steps;
  double part_of_slots;  // Units over the blocks that the device holds.
};

// A k step of a block that has a multiprocessor for itself takes this part of the time of one that
// shares it with all that it holds. On an H100, at 281 random products to which nothing here was
// fitted, what ten kernels do takes 1.004 times as long as the better of whole and split tiles in
// the geometric mean, and 1.09 times at the 99th percentile; with 1, and one cost for each policy,
// 1.009 and 1.22.
inline constexpr double kLoneStep = 0.6;

constexpr bool SplittingPays(const LastRound& round, const SplitCost& cost, double factor) {
  const double slope = round.resident > 1 ? (1 - kLoneStep) / (round.resident - 1) : 0;
  const double first = round.resident > 1 ? kLoneStep : 1;
  const double whole = round.steps * (first + slope * (round.tiles_of_multiprocessor - 1));
  const double split = round.unit_steps * (first + slope * (round.units_of_multiprocessor - 1));
  return split + factor * (cost.launches + cost.sums * round.part_of_slots) < whole;
}

// The last round of a call without workspace, whose tiles clusters of blocks may divide along k
// (device/cluster_split.h).
struct ClusterRound {
  int64_t tiles;     // Fewer than run at once.
  int64_t steps;     // Of a tile.
  int64_t resident;  // Blocks that a multiprocessor holds.
  int64_t multiprocessors;
  int compute_capability;
  double split_cost;  // The policy's kClusterCost, times the device's factor.
};

// Either `units` clusters of `blocks` blocks, each with the same number of steps, which begin and
// end wherever they happen to; or, where there are `tail_blocks`, one cluster for the first
// `head_steps` of each tile, and beside it one of `tail_blocks` for the others.
struct ClusterPlan {
  int64_t units = 0;  // 0: tiles stay whole.
  int blocks = 0;
  int tail_blocks = 0;
  int64_t head_steps = 0;
  double steps = 0;  // The time of the round, in k steps of a block.
};

// The numbers of tail_blocks.
inline constexpr int kTailBlocks[] = {1, 2, 3, 4, 8};

// Returns whether each tile can have a cluster of `tail_blocks` beside one of `blocks`, all of them
// running at once. REQUIRES: clusters of `blocks` for each tile do.
bool TailsFit(const ClusterRound& round, int blocks, int tail_blocks);

// Returns the steps of a tile that the first of the two clusters takes.
constexpr int64_t HeadSteps(int64_t steps, int blocks, int tail_blocks) {
  const int64_t all = blocks + tail_blocks;
  return (steps * blocks + all / 2) / all;
}

// Returns the plan that takes the least time, on compute capability 9.0 or newer.
ClusterPlan PlanClusters(const ClusterRound& round);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_SPLIT_COST_H_

#include "transpose/permute_plan_choice.h"

#include <algorithm>
#include <cstdint>

namespace stridewise {
namespace {

// Fitted to the times of 238 random permutations of 2 MB and more with 5 to 80 plans each, on an
// H200: 0.835 of a copy in the geometric mean with the plans of least predicted cost, 0.802 with
// the default limits, 0.882 with the best of all plans. Fitted to three seeds, 0.842 and 0.833 at
// the shapes of three others, where the default limits have 0.821 and 0.785.
constexpr double kMove = 0.925;        // Loads and stores of whole sectors.
constexpr double kVectorByte = 0.088;  // Of the vectors that rows of `out` are cut into.
constexpr double kEndStep =
    0.681;  // An element, or a word, that the end of a row is looked at for.
constexpr double kTableEntry = 1.92;
constexpr double kIdle = 0.0522;  // Over the share of a multiprocessor's threads that are resident.

constexpr double kOutRowEntries = 1.5;  // A row of `out` also joins a list.

double ResidentShare(const PermutePlan& plan) {
  constexpr int kThreads = 2048;  // Of a multiprocessor.
  constexpr int kBlocks = 32;
  constexpr int kSharedBytes = 227 << 10;
  constexpr int kReservedBytes = 1 << 10;  // Of each block.
  const int blocks = std::min(
      {kBlocks, kThreads / plan.threads, kSharedBytes / (plan.shared_bytes + kReservedBytes)});
  return static_cast<double>(std::max(1, blocks)) * plan.threads / kThreads;
}

}  // namespace

double PredictedCost(const PermutePlan& plan, int64_t element_bytes) {
  auto tile = static_cast<double>(element_bytes);
  auto tensor = static_cast<double>(element_bytes);
  for (int d = 0; d < plan.rank; ++d) {
    tile *= plan.dims[d].tile;
    tensor *= static_cast<double>(plan.dims[d].extent);
  }
  const double vector_bytes = 16.0 * plan.out_rows_held * (plan.out_groups << plan.log2_neighbours);
  // Both ends of a row are looked at in four words each, and words of small elements element by
  // element.
  const double end_steps =
      plan.out_ends ? (element_bytes < 4 ? 32.0 : 8.0) * plan.out_rows_held : 0.0;
  const double entries = plan.in_rows_held + kOutRowEntries * plan.out_rows_held +
                         (plan.out_packed ? plan.out_run_held : 0);
  const double of_tile = kVectorByte * vector_bytes + kEndStep * end_steps + kTableEntry * entries;
  // The last tiles of a dimension may be cut off, and cost as much as the others.
  return kMove + of_tile * static_cast<double>(plan.blocks) / tensor + kIdle / ResidentShare(plan);
}

PermutePlan ChoosePermutePlan(const PermuteArgs& args) {
  if (args.limits != nullptr) return MakePermutePlan(args, *args.limits);
  constexpr int kMostBytes[] = {20 << 10, 36 << 10, 64 << 10};
  constexpr int kOutQuarters[] = {4, 1, 2, 8, 16};
  PermuteTileLimits limits;
  const int64_t of_block = Elements(args) * args.element_bytes / limits.blocks_of_device;
  PermutePlan best;
  double least = 0;
  for (const int bytes : kMostBytes) {
    limits.most_bytes = bytes;
    for (const int quarters : kOutQuarters) {
      limits.out_quarters = quarters;
      const PermutePlan plan = MakePermutePlan(args, limits);
      const double cost = PredictedCost(plan, args.element_bytes);
      if (least == 0 || cost < least) {
        least = cost;
        best = plan;
      }
    }
    if (of_block <= bytes) break;  // Larger limits give the same plans.
  }
  return best;
}

}  // namespace stridewise

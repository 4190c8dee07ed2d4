#include "transpose/permute_plan_choice.h"

#include <algorithm>
#include <cstdint>

#include "common/base/latest.h"
#include "common/gpu/launch_geometry.h"
#include "transpose/permute_lanes.h"

namespace stridewise {
namespace {

// What the parts of a plan cost: `move` and `idle` as shares of the copy's time, the others in the
// bytes that a copy would take as long for.
struct Costs {
  double move;     // Loads and stores of whole sectors.
  double in_row;   // A row of `in`.
  double out_row;  // A row of `out`.
  double ends;     // The same, in addition, where it may begin or end inside a vector.
  double vector;   // A vector that rows of `out` are cut into.
  double element;  // An entry in the table of a packed run.
  double thread;
  double idle;  // Over the share of a multiprocessor's threads that are resident.
};

// Fitted to the times of 134 random permutations of 4 MB and more with up to 35 plans each, on an
// H200. At 41 others with elements of 4 bytes and more these plans have 0.868 of a copy in the
// geometric mean and 0.65 at the 5th percentile; those of three sizes with 256 threads, whose parts
// always begin at sectors, chosen with one set of costs for all elements, 0.844 and 0.63.
constexpr Costs kSmallElements = {1.423, 0.24, 1.84, 54.5,
                                  2.23,  1.53, 0.61, 0};  // Of 1 and 2 bytes.
constexpr Costs kLargeElements = {1.002, 10.7, 0.01, 57.3, 0.42, 0.70, 1.63, 0.0708};

// What a wavefront of the lanes of bytes costs as a share of the copy's time, beside the others: at
// 46 random permutations on an H200 the plans that are chosen have 0.977 of the speed of the best
// in the geometric mean, and 0.958 without it. Elements of 2 bytes gain nothing by it.
constexpr double kCostOfWavefront = 0.01;

double ResidentShare(const PermutePlan& plan) {
  constexpr int kThreads = 2048;  // Of a multiprocessor.
  constexpr int kBlocks = 32;
  constexpr int kSharedBytes = 227 << 10;
  constexpr int kReservedBytes = 1 << 10;  // Of each block.
  const int blocks = std::min(
      {kBlocks, kThreads / plan.threads, kSharedBytes / (plan.shared_bytes + kReservedBytes)});
  return static_cast<double>(std::max(1, blocks)) * plan.threads / kThreads;
}

// All that a plan depends on: of the addresses what they are modulo a sector.
using LatestPlans = Latest<3 * kMaxPermuteRank + 1, PermutePlan, 4>;

LatestPlans::Key KeyOf(const PermuteArgs& args) {
  constexpr uintptr_t kSectorBytes = 1 << kLog2SectorBytes;
  const auto inside = [](const void* data) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % kSectorBytes);
  };
  LatestPlans::Key key = {};
  int i = 0;
  key[i++] = args.rank | args.element_bytes << 8 | inside(args.in) << 16 | inside(args.out) << 24;
  for (int d = 0; d < args.rank; ++d) {
    key[i++] = args.dims[d].extent;
    key[i++] = args.dims[d].stride_in;
    key[i++] = args.dims[d].stride_out;
  }
  return key;
}

}  // namespace

double PredictedCost(const PermutePlan& plan, int64_t element_bytes) {
  const Costs& costs = element_bytes < 4 ? kSmallElements : kLargeElements;
  auto tensor = static_cast<double>(element_bytes);
  for (int d = 0; d < plan.rank; ++d) tensor *= static_cast<double>(plan.dims[d].extent);
  // Of small elements, groups of four, as the costs were fitted: ChooseLanes() may take others.
  const int64_t group = element_bytes < 4 ? 4 : int64_t{1} << plan.log2_neighbours;
  const double vectors = static_cast<double>(plan.out_rows_held) *
                         static_cast<double>(CeilDiv(plan.out_vectors, group) * group);
  const double of_tile = costs.in_row * plan.in_rows_held +
                         (costs.out_row + (plan.out_ends ? costs.ends : 0)) * plan.out_rows_held +
                         costs.vector * vectors +
                         (plan.out_packed ? costs.element * plan.out_run_held : 0) +
                         costs.thread * plan.threads;
  // The last tiles of a dimension may be cut off, and cost as much as the others.
  return costs.move + of_tile * static_cast<double>(plan.blocks) / tensor +
         costs.idle / ResidentShare(plan);
}

namespace {

PermutePlan ChooseAnew(const PermuteArgs& args) {
  constexpr int kMostBytes[] = {20 << 10, 36 << 10, 52 << 10};
  constexpr int kOutQuarters[] = {4, 1, 2, 8, 16};
  constexpr int kManyThreads = 48 << 10;  // Bytes of a tile from which on it has 512 threads.
  PermuteTileLimits limits;
  const int64_t of_block = Elements(args) * args.element_bytes / limits.blocks_of_device;
  PermuteTileLimits best;
  bool shifts = false;
  double least = 0;
  // What its warps do at the same time counts where a tensor takes longer than that choice.
  constexpr int64_t kLargeBytes = 8000000;
  limits.lanes = Elements(args) * args.element_bytes >= kLargeBytes;
  const bool counts_lanes = limits.lanes && args.element_bytes == 1;
  const auto consider = [&] {
    PermuteTileLimits tried = limits;
    tried.lanes = false;  // Chosen only for what may be the best.
    PermutePlan plan = MakePermutePlan(args, tried);
    double cost = PredictedCost(plan, args.element_bytes);
    if (counts_lanes) {
      constexpr double kFewWavefronts = 40;  // Which no lanes are below.
      if (least != 0 && cost + kCostOfWavefront * kFewWavefronts >= least) return;
      ChooseLanes(args.element_bytes, &plan);
      cost += kCostOfWavefront * LaneCost(args.element_bytes, plan);
    }
    if (least != 0 && cost >= least) return;
    least = cost;
    best = limits;
    shifts = plan.out_shifts;
  };
  for (const int bytes : kMostBytes) {
    limits.most_bytes = bytes;
    limits.threads = bytes > kManyThreads ? 512 : 256;
    for (const int quarters : kOutQuarters) {
      limits.out_quarters = quarters;
      consider();
    }
    if (of_block <= bytes) break;  // Larger limits give the same plans.
  }
  if (shifts) {
    limits = best;
    limits.shift = false;
    consider();
  }
  return MakePermutePlan(args, best);
}

}  // namespace

PermutePlan ChoosePermutePlan(const PermuteArgs& args) {
  if (args.limits != nullptr) return MakePermutePlan(args, *args.limits);
  static thread_local LatestPlans latest;
  return latest.For(KeyOf(args), [&] { return ChooseAnew(args); });
}

}  // namespace stridewise

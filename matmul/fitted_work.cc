// Counts of `fitted` (matmul/library/fitted.cu), which chooses among eleven arrangements of tiles.

#include <algorithm>
#include <cmath>
#include <limits>

#include "matmul/count_blocks.h"
#include "matmul/kernel_work.h"

namespace stridewise {
namespace {

// An arrangement and its policy, as in matmul/device/fitted_plan.h and fitted_tile.h.
struct Arrangement {
  constexpr Arrangement(double most_rows, double most_cols, double unit_extent, double k,
                        double slices_of_k, double blocks)
      : unit(unit_extent),
        units_m(most_rows / unit_extent),
        units_n(most_cols / unit_extent),
        step_k(k),
        slices(slices_of_k),
        resident(blocks) {}

  MatMulDivisor unit;              // What extents are multiples of.
  MatMulDivisor units_m, units_n;  // At most.
  MatMulDivisor step_k;
  double slices;
  MatMulDivisor resident;
};
constexpr double kWarps = 4;
constexpr MatMulDivisor kWarpSize = 32;
constexpr Arrangement kArrangements[] = {
    {128, 64, 16, 16, 1, 4}, {64, 128, 16, 16, 1, 4}, {96, 80, 16, 16, 1, 4},
    {120, 16, 8, 32, 1, 6},  {16, 120, 8, 32, 1, 6},  {64, 32, 8, 32, 1, 6},
    {32, 64, 8, 32, 1, 6},   {16, 32, 8, 64, 4, 3},   {64, 8, 8, 64, 4, 3},
    {8, 64, 8, 64, 4, 3},    {32, 16, 8, 64, 4, 3},
};

// The estimated instructions of a warp that copy an operand's part of a step.
double CopyCost(const Arrangement& most, bool k_major, bool vectors, double extent) {
  constexpr MatMulDivisor kFourCopies = 8 * kWarps;
  if (k_major) return 16 + 19.5 * Ceil(extent, kFourCopies) * most.step_k.value / 16;
  const double of_row = vectors ? extent / 4 : extent;
  double lanes = 1;
  while (lanes < 32 && lanes < of_row) lanes *= 2;
  return 16 +
         11.0 * Ceil(most.step_k.value, kWarps * 32 / lanes) * Ceil(extent, vectors ? 128 : 32);
}

}  // namespace

MatMulWork FittedWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  MatMulWork work = {};
  double least = std::numeric_limits<double>::infinity();
  for (const Arrangement& most : kArrangements) {
    const double units_m = Ceil(call.m, most.unit);
    const double units_n = Ceil(call.n, most.unit);
    const double tiles_m = Ceil(units_m, most.units_m);
    const double tiles_n = Ceil(units_n, most.units_n);
    const double squares_m = Ceil(units_m, tiles_m);
    const double squares_n = Ceil(units_n, tiles_n);
    const double rows = squares_m * most.unit.value;
    const double cols = squares_n * most.unit.value;
    const bool large = most.unit.value == 16;
    const double steps = Ceil(call.k, most.step_k);
    const double k = most.slices == 1 ? call.k : steps * most.step_k.value / most.slices;
    const double working_warps = Ceil(squares_m * squares_n * 4 * most.slices, kWarpSize);
    const double copies = CopyCost(most, !call.args.a.transposed, call.vectors_a, rows) +
                          CopyCost(most, call.args.b.transposed, call.vectors_b, cols);
    const double instructions = kWarps * (120 + steps * (24 + copies)) +
                                working_warps * k * (large ? 74 : 22.5) + rows * cols / 32 * 2;
    const double blocks = tiles_m * tiles_n * call.batch;
    const double issue = blocks * instructions * call.multiprocessors.inverse / (4 * 0.85);
    const double rounds = Ceil(blocks, most.resident * call.multiprocessors);
    const double latency = rounds * (1600 + steps * (large ? 3150 : 1070));
    const double clocks = issue * issue + latency * latency;
    if (clocks >= least) continue;
    least = clocks;
    work = {};
    AddBlocks(call, blocks, steps, most.resident, &work);
    work.planned = std::sqrt(clocks) / 1000;  // Thousands of clocks.
    work.fill = blocks * most.resident.inverse * call.multiprocessors.inverse;
    work.waste = rows * cols * tiles_m * tiles_n * call.batch * call.one_over_elements;
  }
  work.launches = 1;
  work.slow_copies = work.block_steps * ((call.vectors_a ? 0 : 0.5) + (call.vectors_b ? 0 : 0.5));
  work.dram_mb = call.dram_mb;
  return work;
}

}  // namespace stridewise

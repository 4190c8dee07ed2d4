// How `dots` (library/dots.cu) divides a batch.

#ifndef STRIDEWISE_MATMUL_DOTS_PLAN_H_
#define STRIDEWISE_MATMUL_DOTS_PLAN_H_

#include <cstdint>

#include "common/gpu/launch_geometry.h"

namespace stridewise {

inline constexpr int kDotsWarps = 8;   // Of a block.
inline constexpr int kDotsStepK = 32;  // One k for each lane of a warp.

// A tile is computed by `slices` neighbouring warps of a block, a power of two.
struct DotsPlan {
  uint32_t tiles;             // Of the batch.
  uint32_t tiles_of_product;  // Of one multiplication,
  uint32_t tiles_n;           // and in one row of them.
  int side;                   // Rows and columns of a tile: 8, or 12.
  int slices;
  int log_slices;

  int64_t Blocks() const { return CeilDiv(int64_t{tiles} * slices, kDotsWarps); }
  // On a multiprocessor: registers allow no more.
  int BlocksOfMultiprocessor() const { return side == 8 ? 2 : 1; }
};

// Returns a plan of larger tiles where that saves a quarter of the loads, with the fewest slices
// that give each multiprocessor warps for four rounds, or with slices of four steps where k has no
// more. REQUIRES: there are fewer than 2^32 tiles.
inline DotsPlan PlanDots(int64_t m, int64_t n, int64_t k, int64_t batch, int multiprocessors) {
  const auto loads = [&](int64_t side) { return CeilDiv(n, side) * m + CeilDiv(m, side) * n; };
  DotsPlan plan;
  plan.side = 4 * loads(12) < 3 * loads(8) ? 12 : 8;
  const int64_t tiles_n = CeilDiv(n, plan.side);
  const int64_t tiles_of_product = CeilDiv(m, plan.side) * tiles_n;
  const int64_t tiles = tiles_of_product * batch;
  plan.tiles = static_cast<uint32_t>(tiles);
  plan.tiles_of_product = static_cast<uint32_t>(tiles_of_product);
  plan.tiles_n = static_cast<uint32_t>(tiles_n);
  plan.slices = 1;
  plan.log_slices = 0;
  const int64_t wanted = int64_t{4} * plan.BlocksOfMultiprocessor() * kDotsWarps * multiprocessors;
  constexpr int64_t kLeastSteps = 4;
  while (plan.slices < kDotsWarps && tiles * plan.slices < wanted &&
         CeilDiv(k, kDotsStepK) >= 2 * plan.slices * kLeastSteps) {
    plan.slices *= 2;
    ++plan.log_slices;
  }
  return plan;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DOTS_PLAN_H_

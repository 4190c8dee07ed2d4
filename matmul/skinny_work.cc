// Counts of the kernels for vectors and few rows or columns (matmul/library/matvec.cu, skinny.cu).

#include <algorithm>
#include <limits>

#include "matmul/count_blocks.h"
#include "matmul/kernel_work.h"

namespace stridewise {
namespace {

// Blocks of a cluster, as in cluster_sizes.h. `skinny` tries all numbers up to 16, which would take
// longer here than it tells more.
constexpr MatMulDivisor kParts[] = {1, 2, 3, 4, 6, 8, 12, 16};

// The cluster's blocks add the sums of one tile.
void SetParts(double parts, MatMulWork* work) {
  if (parts == 1) return;
  work->cluster_tiles = 1;
  work->cluster_blocks = parts;
  work->units = parts;
}

}  // namespace

MatMulWork MatVecWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const bool is_row = call.m == 1;
  const double cols = is_row ? call.n : call.m;
  const bool k_major = is_row ? call.args.b.transposed : !call.args.a.transposed;
  const bool vectors = is_row ? call.vectors_b : call.vectors_a;
  constexpr double kMaxCols = 32;
  constexpr double kWarps = 8;
  const double width = vectors ? 4 : 1;
  double tiles, resident, rounds;  // Rounds of loads of a tile.
  if (k_major) {
    const double warp_cols = cols * call.batch < 2048 ? 1 : 4;
    const double step_k = 32 * width * (vectors ? 8 : 16) / warp_cols;
    resident = 3;
    const double wanted = call.multiprocessors.value * 24;
    const double groups = Ceil(cols, warp_cols) * call.batch;
    rounds = std::max(1.0, Ceil(call.k, step_k));
    double slices = 1;
    while (slices < kWarps && slices < rounds && groups * slices * 2 <= wanted) slices *= 2;
    tiles = Ceil(cols, kWarps / slices * warp_cols) * call.batch;
    rounds = Ceil(rounds, slices);
  } else {
    const double threads = call.k <= 64 ? 128 : 512;
    const bool many = Ceil(cols, kMaxCols) * call.batch > 256;
    const double at_once = call.k <= 64 ? (vectors ? 4 : 8) : (vectors ? 8 : 16) / (many ? 2 : 1);
    resident = call.k <= 64 ? 8 : many ? 4 : 2;
    tiles = Ceil(cols, kMaxCols) * call.batch;
    rounds = std::max(1.0, Ceil(call.k, threads * width / kMaxCols * at_once));
  }
  double parts = 1;
  double least = std::numeric_limits<double>::infinity();
  const MatMulDivisor slots = resident * call.multiprocessors.value;
  for (const MatMulDivisor& parts_of : kParts) {
    const double of = parts_of.value;
    if (of > 1 && (of > rounds || call.device.compute_capability < 90)) break;
    const double cost = Ceil(tiles * of, slots) * (Ceil(rounds, parts_of) + 1) + (of > 1 ? 1 : 0);
    if (cost >= least) continue;
    least = cost;
    parts = of;
  }
  MatMulWork work = {};
  work.launches = 1;
  AddBlocks(call, tiles * parts, Ceil(rounds, parts), resident, &work);
  SetParts(parts, &work);
  work.slow_copies = vectors ? 0 : work.block_steps;
  work.dram_mb = call.dram_mb;
  work.fill = tiles * parts * slots.inverse;
  work.waste = 1;
  return work;
}

MatMulWork SkinnyWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const bool x_is_b = call.n >= call.m || (call.n >= 128 && call.k <= 128);
  const double rows = x_is_b ? call.m : call.n;
  const double cols = x_is_b ? call.n : call.m;
  const bool vectors = x_is_b ? call.vectors_b : call.vectors_a;
  const bool k_major = x_is_b ? call.args.b.transposed : !call.args.a.transposed;
  constexpr double kExtentK = 32;
  struct Tile {
    MatMulDivisor cols, rows, blocks;
    double alone, shared;
    double least_rows;  // Fewer are not tried here.
  };
  // As in skinny.cu.
  static constexpr Tile kTiles[] = {{128, 8, 3, 0.63, 0.434, 1},
                                    {128, 16, 3, 0.191, 0.749, 9},
                                    {128, 24, 3, 1.132, 0.94, 17},
                                    {256, 24, 2, 1.937, 1.775, 17}};
  const double chunks = Ceil(call.k, kExtentK);
  const double col_tiles = Ceil(cols, 128) * call.batch;
  Tile tile = kTiles[0];
  double parts = 1;
  double predicted = 0;
  if (call.k <= 64 && (rows > 8 || call.k <= kExtentK)) {
    const double multiprocessors = call.multiprocessors.value;
    if (rows <= 16 || Ceil(rows, 16) * col_tiles <= multiprocessors) {
      tile = {128, 16, 8, 0, 0, 0};
    } else if (rows <= 32 || Ceil(rows, 32) * col_tiles <= 2 * multiprocessors) {
      tile = {128, 32, 6, 0, 0, 0};
    } else {
      tile = {128, 64, 4, 0, 0, 0};
    }
  } else {
    const double slower = (vectors ? 1 : 1.249) * (k_major ? 1.068 : 1);
    double least = std::numeric_limits<double>::infinity();
    for (const Tile& candidate : kTiles) {
      if (rows < candidate.least_rows) break;
      const double tiles = Ceil(cols, candidate.cols) * Ceil(rows, candidate.rows) * call.batch;
      const MatMulDivisor slots = candidate.blocks * call.multiprocessors;
      for (const MatMulDivisor& parts_of : kParts) {
        const double of = parts_of.value;
        if (of > 1 && (of > chunks || call.device.compute_capability < 90)) break;
        const double blocks = tiles * of;
        const double steps = Ceil(chunks, parts_of) * slower;
        const double whole = Floor(blocks, slots);
        const double last = Ceil(blocks - whole * slots.value, call.multiprocessors);
        const auto round = [&](double of_each) {
          return 3.874 + steps * std::max(candidate.alone, of_each * candidate.shared);
        };
        const double us = (of > 1 ? 0.925 + 0.132 * of : 0) +
                          whole * round(candidate.blocks.value) + (last > 0 ? round(last) : 0);
        if (us >= least) continue;
        least = us;
        tile = candidate;
        parts = of;
      }
    }
    predicted = least;
  }
  const double tiles = Ceil(cols, tile.cols) * Ceil(rows, tile.rows) * call.batch;
  MatMulWork work = {};
  work.launches = 1;
  AddBlocks(call, tiles * parts, Ceil(chunks, parts), tile.blocks, &work);
  SetParts(parts, &work);
  work.slow_copies = vectors ? 0 : work.block_steps;
  work.mfma = work.tiles * tile.rows.value * tile.cols.value * call.k / parts / 1e6;
  work.planned = predicted;  // Microseconds of all but the launch.
  work.dram_mb = call.dram_mb;
  work.fill = tiles * parts * tile.blocks.inverse * call.multiprocessors.inverse;
  work.waste = tiles * tile.rows.value * tile.cols.value * call.one_over_elements;
  return work;
}

}  // namespace stridewise

#include "matmul/kernel_work.h"

#include <algorithm>
#include <limits>

#include "matmul/count_blocks.h"
#include "matmul/tma_clusters.h"

namespace stridewise {
namespace {

bool IsMadeOfVectors(const MatMulInput& operand, int64_t row_length, int64_t batch) {
  const int64_t all = operand.ld | row_length | (batch == 1 ? 0 : operand.stride);
  return reinterpret_cast<uintptr_t>(operand.data) % 16 == 0 && all % 4 == 0;
}

// Sets what does not depend on how the tiles are divided.
void SetTileFields(const MatMulCall& call, const MatMulTile& tile, double tiles, MatMulWork* work) {
  const bool slow_a = !call.args.a.transposed || !call.vectors_a;
  const bool slow_b = call.args.b.transposed || !call.vectors_b;
  work->slow_copies = work->block_steps *
                      ((slow_a ? tile.rows.value : 0) + (slow_b ? tile.cols.value : 0)) /
                      (tile.rows.value + tile.cols.value);
  work->dram_mb = call.dram_mb;
  work->fill = tiles * tile.resident.inverse * call.multiprocessors.inverse;
  work->waste = tiles * tile.rows.value * tile.cols.value * call.one_over_elements;
}

// Counts the work of a call without workspace, as PlanClusterSplit() of split_plan.h divides it.
MatMulWork CountClusters(const MatMulCall& call, const MatMulTile& tile, double tiles,
                         double steps) {
  const MatMulDivisor slots = tile.resident * call.multiprocessors;
  const double last_tiles = tiles - Floor(tiles, slots) * slots.value;
  const ClusterPlan plan = PlanClusters(
      {static_cast<int64_t>(last_tiles), static_cast<int64_t>(steps),
       static_cast<int64_t>(tile.resident.value), call.device.multiprocessors,
       call.device.compute_capability, call.device.split_cost_factor * tile.cluster_cost});
  const double units = Double(plan.units);
  const double split = units > 0 ? last_tiles : 0;
  MatMulWork work = {};
  if (tiles > split) {
    AddBlocks(call, tiles - split, steps, tile.resident, &work);
    work.launches = 1;
  }
  if (units > 0) {
    const double blocks = plan.blocks + plan.tail_blocks;
    const double tiles_of_unit = last_tiles / units;
    AddBlocks(call, units * blocks, steps * tiles_of_unit / blocks, tile.resident, &work);
    work.launches += plan.tail_blocks > 0 ? 2 : 1;
    work.cluster_tiles = tiles_of_unit > 1 ? tiles_of_unit + 1 : 1;
    work.cluster_blocks = work.cluster_tiles * blocks;
    work.units = units * blocks;
  }
  SetTileFields(call, tile, tiles, &work);
  return work;
}

// How the tiles of the last round may be split along k.
enum class Split { kNever, kWithWorkspace, kAlways };

MatMulWork CountTiles(const MatMulCall& call, const MatMulTile& tile, Split may) {
  const double area = tile.rows.value * tile.cols.value;
  const double tiles = Ceil(call.m, tile.rows) * Ceil(call.n, tile.cols) * call.batch;
  const double steps = Ceil(call.k, tile.k);
  const MatMulDivisor slots = tile.resident * call.multiprocessors;

  // As PlanSplit() does it.
  double split = tiles - Floor(tiles, slots) * slots.value;
  const double split_steps = split * steps;
  constexpr MatMulDivisor kMinStepsPerUnit = 2;
  double units = std::min(slots.value, Floor(split_steps, kMinStepsPerUnit));
  const bool pays =
      may != Split::kNever && units > 0 &&
      SplittingPays({Ceil(split, call.multiprocessors), Ceil(units, call.multiprocessors),
                     tile.resident.value, steps, split_steps / units, units * slots.inverse},
                    tile.split_cost, call.device.split_cost_factor);
  const bool splits = pays && 2 * units * area * sizeof(float) <= call.workspace_bytes;
  if (pays && !splits && may == Split::kAlways && call.device.compute_capability >= 90) {
    return CountClusters(call, tile, tiles, steps);
  }
  if (!splits) split = units = 0;

  MatMulWork work = {};
  if (tiles > split) {
    AddBlocks(call, tiles - split, steps, tile.resident, &work);
    work.launches = 1;
  }
  if (splits) {
    AddBlocks(call, units, split_steps / units, tile.resident, &work);
    work.launches += 2;
    // A unit has parts of about two tiles.
    work.fixup_mb = kFloatMb * area * (units + split);
    // As fixup.h: above 16 units to a tile, eight threads add them.
    const double units_of_tile = units / split;
    work.fixup_depth = units_of_tile > 16 ? units_of_tile / 8 + 8 : units_of_tile;
  }
  SetTileFields(call, tile, tiles, &work);
  work.units = units;
  return work;
}

// Returns the call without the last few rows and columns, as ragged.cu divides it.
MatMulCall BulkOf(const MatMulCall& call, const MatMulTile& tile) {
  constexpr int64_t kMaxThin = 16;
  const auto bulk_extent = [](int64_t extent, int64_t of_tile) {
    const int64_t rest = extent % of_tile;
    return Double(extent > of_tile && rest <= kMaxThin ? extent - rest : extent);
  };
  MatMulCall bulk = call;
  bulk.m = bulk_extent(call.args.m, static_cast<int64_t>(tile.rows.value));
  bulk.n = bulk_extent(call.args.n, static_cast<int64_t>(tile.cols.value));
  return bulk;
}

// Adds what `thin` does.
void AddRests(const MatMulCall& call, const MatMulCall& bulk, MatMulWork* work) {
  for (const bool bottom : {true, false}) {
    const double rest = bottom ? call.m - bulk.m : call.n - bulk.n;
    if (rest == 0) continue;
    work->launches += 1;
    work->dram_mb += kFloatMb * call.k * call.batch * (bottom ? call.n : bulk.m);
  }
}

}  // namespace

MatMulCall::MatMulCall(const MatMulArgs& call_args, const DeviceModel& call_device)
    : args(call_args),
      device(call_device),
      m(Double(args.m)),
      n(Double(args.n)),
      batch(Double(args.batch)),
      k(args.alpha == 0 ? 0 : Double(args.k)),
      elements(m * n * batch),
      one_over_elements(1 / elements),
      multiprocessors(device.multiprocessors),
      workspace_bytes(Double(args.workspace_bytes)),
      // Not what beta reads of C: all kernels read it, and times were fitted to calls without. With
      // it 350 outer products of 659 x 212 x 5 took 198 us by another kernel than without, 68.
      dram_mb(kFloatMb * (m * k * (args.a.stride == 0 ? 1 : batch) +
                          k * n * (args.b.stride == 0 ? 1 : batch) + elements)),
      vectors_a(IsMadeOfVectors(args.a, args.a.transposed ? args.m : args.k, args.batch)),
      vectors_b(IsMadeOfVectors(args.b, args.b.transposed ? args.k : args.n, args.batch)) {}

MatMulWork TileWork(const MatMulCall& call, const MatMulTile& tile) {
  return CountTiles(call, tile, Split::kAlways);
}

MatMulWork WholeTileWork(const MatMulCall& call, const MatMulTile& tile) {
  return CountTiles(call, tile, Split::kNever);
}

// No layout makes copies slow. A number of rows that is no multiple of four takes four copies.
MatMulWork TmaWork(const MatMulCall& call, const MatMulTile& tile) {
  MatMulWork work = CountTiles(call, tile, Split::kWithWorkspace);
  if (work.units == 0) {
    const double tiles = Ceil(call.m, tile.rows) * Ceil(call.n, tile.cols) * call.batch;
    const double steps = Ceil(call.k, tile.k);
    const TmaClusters plan = PlanTmaClusters(
        static_cast<int64_t>(tiles), static_cast<int64_t>(steps),
        kTmaClusterCost * tile.cluster_cost, static_cast<int64_t>(call.multiprocessors.value));
    if (plan.blocks > 1) {
      const double blocks = plan.blocks + plan.tail_blocks;
      const MatMulDivisor clusters = Double(plan.clusters);
      work.rounds = work.tiles = work.steps = work.block_steps = 0;
      AddBlocks(call, tiles * blocks, Ceil(steps, blocks), tile.resident, &work);
      work.cluster_tiles = Ceil(tiles, clusters);
      work.cluster_blocks = work.cluster_tiles * blocks;
      work.units = tiles * blocks;
      if (plan.tail_blocks > 0) work.launches += 1;
    }
  }
  const int64_t rows_of_a = call.args.a.transposed ? call.args.k : call.args.m;
  const int64_t rows_of_b = call.args.b.transposed ? call.args.n : call.args.k;
  work.slow_copies = work.steps * ((rows_of_a % 4 == 0 ? 0 : 1) + (rows_of_b % 4 == 0 ? 0 : 1));
  return work;
}

MatMulWork TinyWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const double k = call.k;
  constexpr double kFewTiles = 264;
  const bool small = k <= 128 && Ceil(call.m, 8) * Ceil(call.n, 8) * call.batch <= kFewTiles;
  // The tiles of LaunchPart() in tiny.cu.
  const MatMulDivisor side = small ? 8 : 16;
  const MatMulDivisor extent_k = small ? (k <= 16   ? 16
                                          : k <= 32 ? 32
                                          : k <= 64 ? 64
                                                    : 128)
                                       : (k <= 16   ? 16
                                          : k <= 64 ? 64
                                                    : 160);
  const double threads = small ? (k <= 16 ? 128 : k <= 64 ? 256 : 512) : (k <= 16 ? 256 : 512);
  constexpr double kThreadsOfMultiprocessor = 2048;
  const MatMulDivisor resident = kThreadsOfMultiprocessor / threads;
  const double tiles = Ceil(call.m, side) * Ceil(call.n, side) * call.batch;
  const double area = side.value * side.value;
  const double loads = side.value * extent_k.value / threads;  // Of a thread, from each operand.
  MatMulWork work = {};
  work.launches = 1;
  AddBlocks(call, tiles, loads * std::max(1.0, Ceil(k, extent_k)), resident, &work);
  work.mfma = work.tiles * area * k / 1e6;
  work.dram_mb = call.dram_mb;
  work.fill = tiles * resident.inverse * call.multiprocessors.inverse;
  work.waste = tiles * area * call.one_over_elements;
  return work;
}

MatMulWork ThinWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const bool few_rows = call.m <= call.n;
  const double rows = few_rows ? call.m : call.n;
  const double cols = few_rows ? call.n : call.m;
  const bool k_major = few_rows ? call.args.b.transposed : !call.args.a.transposed;
  const bool vectors = few_rows ? call.vectors_b : call.vectors_a;
  const double row_tiles = Ceil(rows, 16);
  // The forms of thin.cu: columns of a tile, and blocks on a multiprocessor.
  const MatMulDivisor tile_cols = rows <= 4 ? 32 : rows <= 8 || k_major ? 64 : 128;
  const bool two = rows == 1 || (rows == 2 && k_major && vectors);
  const MatMulDivisor resident = rows == 1 && vectors && !k_major && cols > 8192 ? 4 : two ? 2 : 1;
  const MatMulDivisor slots = resident * call.multiprocessors;
  const double tiles = Ceil(cols, tile_cols) * row_tiles * call.batch;

  // Parts of k as SkinnyPlan chooses them: the most for each number of rounds.
  const double tile_bytes = tile_cols.value * call.k * sizeof(float);
  double parts = 1;
  double best = Ceil(tiles, slots) * tile_bytes;
  const MatMulDivisor by_tiles = tiles;
  constexpr int kMaxRounds = 8;
  for (int rounds = 1; rounds <= kMaxRounds; ++rounds) {
    const double most = Floor(rounds * slots.value, by_tiles);
    if (most < 2) continue;
    const double cost = rounds * (tile_bytes / most + Double(call.device.k_part_cost_bytes));
    if (cost < best) {
      best = cost;
      parts = most;
    }
  }
  if (parts * call.elements * sizeof(float) > call.workspace_bytes) parts = 1;

  MatMulWork work = {};
  // A step is that of the walks in skinny_k_major.h and skinny_mn_major.h.
  const MatMulDivisor step_k = k_major || rows <= 4 ? 128 : rows <= 8 ? 64 : 32;
  AddBlocks(call, tiles * parts, Ceil(call.k / parts, step_k), resident, &work);
  work.launches = parts > 1 ? 2 : 1;
  work.fixup_mb = parts > 1 ? kFloatMb * parts * call.elements : 0;
  work.fixup_depth = parts > 1 ? parts : 0;
  work.slow_copies = vectors ? 0 : work.block_steps;
  const double rows_of_tile = rows <= 1 ? 1 : rows <= 2 ? 2 : rows <= 4 ? 4 : rows <= 8 ? 8 : 16;
  work.mfma = work.tiles * tile_cols.value * rows_of_tile * (call.k / parts) / 1e6;
  // MB that a block slot loads, one piece after the other: what a few tiles take that nothing
  // divides, where latency bounds each and memory is idle.
  work.planned = kFloatMb * work.rounds * tile_cols.value * call.k / parts;
  work.dram_mb = call.dram_mb;
  work.fill = tiles * parts * slots.inverse;
  work.waste = row_tiles * 16 / rows;
  work.units = parts > 1 ? tiles * parts : 0;
  return work;
}

MatMulWork RaggedWork(const MatMulCall& call, const MatMulTile& tile) {
  const MatMulArgs& args = call.args;
  MatMulCall bulk = BulkOf(call, tile);

  // The TMA loads operands with a row for each k, at multiples of 16 bytes; others are packed.
  const bool packs_a = !args.a.transposed || args.a.ld % 4 != 0 ||
                       reinterpret_cast<uintptr_t>(args.a.data) % 16 != 0;
  const bool packs_b =
      args.b.transposed || args.b.ld % 4 != 0 || reinterpret_cast<uintptr_t>(args.b.data) % 16 != 0;
  const auto packed_bytes = [&](bool packs, double extent) {
    return packs ? 4 * Ceil(extent, 4) * call.k * call.batch * sizeof(float) : 0;
  };
  const double packed = call.k * call.batch * ((packs_a ? bulk.m : 0) + (packs_b ? bulk.n : 0));
  const double bytes = packed_bytes(packs_a, bulk.m) + packed_bytes(packs_b, bulk.n);
  const double products_per_element = packs_a && packs_b ? 450 : 900;
  const bool specialized = call.device.compute_capability >= 90 && call.k > 0 &&
                           products_per_element * packed <= bulk.m * bulk.n * call.k * call.batch &&
                           bytes <= call.workspace_bytes;
  if (specialized) bulk.workspace_bytes -= bytes;
  MatMulWork work = CountTiles(bulk, tile, Split::kAlways);
  if (specialized) {
    work.slow_copies = 0;
    work.launches = 1 + (work.units > 0 ? 1 : 0) + (packs_a ? 1 : 0) + (packs_b ? 1 : 0);
    work.packed_mb = 2 * kFloatMb * packed;
  }
  AddRests(call, bulk, &work);
  return work;
}

MatMulWork RaggedStreamKWork(const MatMulCall& call, const MatMulTile& tile) {
  const MatMulCall bulk = BulkOf(call, tile);
  MatMulWork work = CountTiles(bulk, tile, Split::kAlways);
  MatMulWork rests = {};
  AddRests(call, bulk, &rests);
  constexpr double kUsOfLaunch = 4;
  constexpr double kUsOfMb = 0.3;
  work.planned = kUsOfLaunch * rests.launches + kUsOfMb * rests.dram_mb;
  return work;
}

}  // namespace stridewise

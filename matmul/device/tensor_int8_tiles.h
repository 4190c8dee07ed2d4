// The tiles of INT8, and which of them a call takes; with an epilogue or without.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_INT8_TILES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_INT8_TILES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {

// Two consumers share a tile, or have one each in turn (tensor_alternate.h).
template <typename Out, int kColumns, int kStages, int kCluster>
using SharedInt8Tile = TensorTile<int8_t, Out, kColumns, kStages, kCluster, OperandLayout::kKMajor,
                                  OperandLayout::kKMajor>;
template <typename Out, int kParts, int kColumns, int kStages, int kCluster>
using AlternatingInt8Tile =
    TensorTile<int8_t, Out, kColumns, kStages, kCluster, OperandLayout::kKMajor,
               OperandLayout::kKMajor, TensorSums::kTensorCores, /*kIsTurned=*/false, kConsumers,
               kParts, /*kAlternating=*/true>;

// What a tile costs in microseconds: fitted to times of 45 products, measured on an H100 with a
// cold L2, whose rows begin with lines of the L2.
struct Int8TileCost {
  int rows, cols, cluster;
  double fixed;
  double tile;   // A round of tiles.
  double step;   // 128 of k.
  double full;   // More for a step where all multiprocessors load.
  double store;  // More for 1000 elements of C that the TMA cannot store.
};
enum Int8TileKind { kInt8Wide, kInt8Square, kInt8Alternating, kInt8AlternatingWide, kInt8Low };
constexpr Int8TileCost kInt8TileCosts[] = {
    {128, 256, 2, 9.33, 2.02, 0.559, 0.147, 0.09},   // kInt8Wide
    {128, 128, 1, 7.19, 1.13, 0.282, 0.209, 0.08},   // kInt8Square
    {128, 128, 2, 10.19, 0.03, 0.297, 0.115, 0.17},  // kInt8Alternating
    {128, 192, 2, 10.44, 0.92, 0.442, 0.078, 0},     // kInt8AlternatingWide
    {64, 128, 1, 8.08, 0.00, 0.172, 0.211, 0.15}};   // kInt8Low

// Returns the microseconds that a product is expected to take with a tile.
inline double Int8TileUs(const MatMulArgs& args, const DeviceModel& device, Int8TileKind kind) {
  // Where rows without gaps begin within lines, the L2 sends less of what all blocks ask for.
  constexpr double kOffLines = 1.5;
  // Low tiles reach less of memory's rate, where C is much beside the operands: 300 products of 494
  // x 1036 x 128 took 499 us in them, and 423 in wide ones.
  constexpr double kMemoryOfLow = 1.2;
  constexpr double kOfRate = 0.9;
  constexpr double kOneByOne = 1;  // For 1000 elements of C, where beta is not 0.
  const Int8TileCost& cost = kInt8TileCosts[kind];
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  const auto batch = static_cast<double>(args.batch);
  const double bytes =
      (m * k * (args.a.stride == 0 ? 1 : batch) + n * k * (args.b.stride == 0 ? 1 : batch)) +
      m * n * batch * static_cast<double>(sizeof(int));
  const double memory =
      (kind == kInt8Low ? kMemoryOfLow : 1) * bytes / (kOfRate * 1e3 * device.memory_gbps);
  const int64_t clusters = ClustersAtOnce(cost.cluster, 1, device.multiprocessors);
  const int64_t tiles = CeilDiv(args.m, int64_t{cost.rows} * cost.cluster) *
                        CeilDiv(args.n, int64_t{cost.cols}) * args.batch;
  const auto rounds = static_cast<double>(CeilDiv(tiles, clusters));
  const double fill = static_cast<double>(tiles) / (rounds * static_cast<double>(clusters));
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kSwizzleBytes}));
  const double full = cost.full * (args.k % kSwizzleBytes == 0 ? 1 : kOffLines);
  const double store = args.beta != 0 ? kOneByOne : StoresByTma<int>(args) ? 0 : cost.store;
  const double elements = std::min(m, 1.0 * cost.rows) * std::min(n, 1.0 * cost.cols);
  const double work =
      rounds * (cost.tile + steps * (cost.step + full * fill) + elements / 1000 * store);
  // Of two things that overlap, a fifth more than either where both take as long.
  return cost.fixed + std::sqrt(std::hypot(memory * memory, work * work));
}

// Returns the tile that a call takes: one that needs the TMA for C only where `by_tma`.
inline Int8TileKind PlanInt8Tile(const MatMulArgs& args, const DeviceModel& device, bool by_tma) {
  Int8TileKind best = kInt8Wide;
  double best_us = Int8TileUs(args, device, best);
  for (const Int8TileKind kind : {kInt8Square, kInt8Alternating, kInt8AlternatingWide, kInt8Low}) {
    if (kind == kInt8AlternatingWide && !by_tma) continue;
    const double us = Int8TileUs(args, device, kind);
    if (us >= best_us) continue;
    best = kind;
    best_us = us;
  }
  return best;
}

// Runs the product with the tile that is expected to be the fastest.
template <typename Out, typename... Finish>
LaunchStatus RunInt8Tiles(const MatMulArgs& args, const DeviceModel& device,
                          const TensorOperands<int8_t>& operands, const Finish&... finish) {
  const auto launch = [&](auto tile) {
    return LaunchTensor<decltype(tile)>(args, device, operands, {}, /*c_transposed=*/false,
                                        finish...);
  };
  // With an epilogue 192 accumulators do not fit beside what it loads.
  constexpr bool kHasWide = sizeof...(Finish) == 0;
  switch (PlanInt8Tile(args, device, kHasWide && StoresByTma<Out>(args))) {
    case kInt8Square:
      return launch(SharedInt8Tile<Out, 128, 6, 1>());
    case kInt8Alternating:
      return launch(AlternatingInt8Tile<Out, 2, 128, 6, 2>());
    case kInt8AlternatingWide:
      if constexpr (kHasWide) return launch(AlternatingInt8Tile<Out, 2, 192, 4, 2>());
      break;
    case kInt8Low:
      return launch(AlternatingInt8Tile<Out, 1, 128, 7, 1>());
    case kInt8Wide:
      break;
  }
  return launch(SharedInt8Tile<Out, 256, 4, 2>());
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_INT8_TILES_H_

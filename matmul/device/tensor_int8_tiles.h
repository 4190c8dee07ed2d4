// The tiles of INT8, and which of them a call takes; with an epilogue or without.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_INT8_TILES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_INT8_TILES_H_

#include <cstdint>

#include "matmul/device/tensor/tile_plan.h"
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

// What the tiles cost, as TensorTileUs() takes it: fitted to times of 45 products, measured on an
// H100 with a cold L2, whose rows begin with lines of the L2.
enum Int8TileKind { kInt8Wide, kInt8Square, kInt8Alternating, kInt8AlternatingWide, kInt8Low };
constexpr TensorTileCost kInt8TileCosts[] = {
    {256, 2, 9.33, 2.02, 0.559, 0.147, 0.094},       // kInt8Wide
    {128, 1, 7.19, 1.13, 0.282, 0.209, 0.075},       // kInt8Square
    {128, 2, 10.19, 0.03, 0.297, 0.115, 0.086},      // kInt8Alternating
    {192, 2, 10.44, 0.92, 0.442, 0.078, 0},          // kInt8AlternatingWide
    {128, 1, 8.08, 0.00, 0.172, 0.211, 0.075, 64}};  // kInt8Low

// Returns the microseconds that a tile is expected to take. Where rows without gaps begin within
// lines, all multiprocessors together load more than the L2 sends in a step.
inline double Int8TileUs(const MatMulArgs& args, const DeviceModel& device, Int8TileKind kind) {
  constexpr double kOffLines = 1.5;
  TensorTileCost cost = kInt8TileCosts[kind];
  if (args.k % kSwizzleBytes != 0) cost.full *= kOffLines;
  return TensorTileUs(args, device, cost, args.m, args.n);
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

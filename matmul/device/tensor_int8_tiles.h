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

// What the tiles cost, as TensorTileUs() takes it: fitted to times of 60 random products, measured
// on an H100 with a cold L2.
enum Int8TileKind { kInt8Wide, kInt8Square, kInt8Alternating, kInt8AlternatingWide, kInt8Low };
constexpr TensorTileCost kInt8TileCosts[] = {
    {256, 2, 9.13, 2.70, 0.558, 0.141, 0.094},      // kInt8Wide
    {128, 1, 7.26, 1.52, 0.312, 0.191, 0.075},      // kInt8Square
    {128, 2, 9.68, 1.19, 0.296, 0.119, 0.086},      // kInt8Alternating
    {192, 2, 10.09, 1.98, 0.436, 0.075, 0.0},       // kInt8AlternatingWide
    {128, 1, 8.35, 0.28, 0.191, 0.197, 0.075, 64},  // kInt8Low
};

// Returns the tile that a call takes: one of those that need the TMA for C only where `by_tma`.
inline Int8TileKind PlanInt8Tile(const MatMulArgs& args, const DeviceModel& device, bool by_tma) {
  Int8TileKind best = kInt8Wide;
  double best_us = TensorTileUs(args, device, kInt8TileCosts[best], args.m, args.n);
  for (const Int8TileKind kind : {kInt8Square, kInt8Alternating, kInt8AlternatingWide, kInt8Low}) {
    if (kind == kInt8AlternatingWide && !by_tma) continue;
    const double us = TensorTileUs(args, device, kInt8TileCosts[kind], args.m, args.n);
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

// The tiles of tensor_turned and how long a product is expected to take with each: the constants
// are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_TURNED_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_TURNED_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/base/matrix.h"
#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/device/tensor/off_lines.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

// The tiles of tensor_turned, of C transposed: their columns are rows of C. In clusters two or four
// share what is loaded of A: 257 x 5120 x 14336 is bound by what the L2 sends, and takes 70 us in
// clusters of four that share 96 rows, 98 in pairs and 107 without.
constexpr TensorTileCost kTensorTurnedCosts[] = {{64, 2, 7.34, 0.61, 0.228, 0.021, 0},
                                                 {96, 4, 7.40, 0.90, 0.255, 0.030, 0},
                                                 {144, 1, 7.42, 1.00, 0.245, 0.228, 0},
                                                 {144, 2, 6.84, 1.50, 0.309, 0.124, 0},
                                                 {160, 1, 7.20, 1.00, 0.317, 0.174, 0}};
// As kLargeTileCosts.
constexpr TensorTileCost kLargeTurnedCosts[] = {{64, 2, 7.34, 0.61, 0.228, 0.021, 0},
                                                {96, 4, 7.40, 0.90, 0.280, 0.050, 0},
                                                {144, 1, 7.05, 0.83, 0.323, 0.056, 0},
                                                {144, 2, 7.76, 0.93, 0.318, 0.058, 0},
                                                {160, 1, 7.27, 0.93, 0.339, 0.067, 0}};

// Returns whether a tile is for products with these rows: that of 64 columns for a single one of
// them, whose operand is loaded by all blocks, and those of 96 for rows that fill seven eighths of
// them: 197 x 5120 x 5120 took 39 us in three of 96 and 31 before there were such tiles.
constexpr bool HasTurnedTile(const TensorTileCost& tile, int64_t rows) {
  if (tile.cols == 96) return rows > 64 && rows * 8 >= CeilDiv(rows, int64_t{96}) * 96 * 7;
  return (tile.cols == 64) == (rows <= 64);
}

// Returns whether tensor_turned takes a call whose operands the TMA can address: A lies along k,
// and the TMA stores C, of 16 bits.
inline bool TensorTurnedTakes(const MatMulArgs& args) {
  const ConstMatrix<uint16_t> c = {static_cast<const uint16_t*>(args.c.data), args.m, args.n,
                                   args.c.ld};
  return !args.a.transposed && ElementBytes(args.c.type) == 2 && args.beta == 0 &&
         HasStoreMap(c, MatrixCount(args.batch, args.c.stride));
}

// Returns the tile that tensor_turned computes.
inline TensorPlan PlanTensorTurned(const MatMulArgs& args, const DeviceModel& device) {
  TensorPlan best;
  for (const TensorTileCost& cost : IsLargeProduct(args) ? kLargeTurnedCosts : kTensorTurnedCosts) {
    if (!HasTurnedTile(cost, args.m)) continue;
    TensorPlan plan = {cost.cols, 1, cost.cluster, true, 0};
    plan.us =
        std::max(TensorTileUs(args, device, cost, args.n, args.m), OffLinesUs(args, plan, device));
    if (plan.us < best.us) best = plan;
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TURNED_PLAN_H_

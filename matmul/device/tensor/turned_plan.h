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
constexpr TensorTileCost kTensorTurnedCosts[] = {{64, 2, 7.31, 0.528, 0.156, 0.218, 0},
                                                 {96, 4, 7.29, 0.793, 0.179, 0.172, 0},
                                                 {144, 1, 7.17, 0.669, 0.295, 0.266, 0},
                                                 {144, 2, 7.41, 0.816, 0.299, 0.197, 0},
                                                 {160, 1, 6.77, 1.08, 0.319, 0.336, 0}};
// As kLargeTileCosts.
constexpr TensorTileCost kLargeTurnedCosts[] = {{64, 2, 7.31, 0.316, 0.161, 0.121, 0},
                                                {96, 4, 7.86, 0.495, 0.199, 0.0799, 0},
                                                {144, 1, 6.72, 0.974, 0.311, 0.0764, 0},
                                                {144, 2, 7.28, 0.925, 0.324, 0.0717, 0},
                                                {160, 1, 6.56, 1.08, 0.35, 0.0725, 0}};

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
    TensorPlan plan = {cost.cols, 1, cost.cluster, true, 0};
    plan.us = CorrectedTiles(
        TensorPredicted::kTurned, args, device, plan,
        std::max(TensorTileUs(args, device, cost, args.n, args.m), OffLinesUs(args, plan, device)));
    if (plan.us < best.us) best = plan;
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TURNED_PLAN_H_

// The tiles of TensorSingle, and how long a product is expected to take with each.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_PLAN_H_

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

// A tile of TensorSingle, and what it costs in microseconds. `turned`: its rows are columns of C,
// and its columns, which need not be panels of 64, rows of C.
struct SingleTileCost {
  int rows, cols;
  bool turned;
  double fixed;
  double step;
  double full;  // More for a step where all multiprocessors load.
};
// Steps are fitted to times of 512 to 2048 squared with 256 to 4096 of k on an H100; what is fixed
// is half a microsecond less than tensor_tile's tiles have.
constexpr SingleTileCost kSingleTileCosts[] = {
    {64, 32, true, 6.4, 0.090, 0.030},    {64, 64, false, 6.5, 0.100, 0.055},
    {64, 128, true, 6.2, 0.148, 0.055},   {64, 128, false, 6.5, 0.148, 0.055},
    {128, 128, false, 6.6, 0.277, 0.038}, {128, 144, true, 7.2, 0.300, 0.060},
    {128, 192, false, 7.5, 0.421, 0.035}, {128, 256, false, 7.9, 0.555, 0.066}};

// Returns whether a tile is for the call. A turned one needs A along k: an operand that is not
// comes in panels of 64. That of 64 x 128 has its 128 along k so where B does not lie along k,
// which shared memory sends faster: 1024 x 1024 x 1024 takes 9.5 us and not 9.9.
inline bool HasSingleTile(const MatMulArgs& args, const SingleTileCost& tile) {
  if (!tile.turned) return true;
  return !args.a.transposed && (tile.cols != 128 || !args.b.transposed);
}

// Returns whether TensorSingle takes a call whose operands the TMA can address: one whose C it can
// store, too, and that is not for the kernels of few rows or columns.
inline bool TensorSingleTakes(const MatMulArgs& args) {
  const ConstMatrix<uint16_t> c = {static_cast<const uint16_t*>(args.c.data), args.m, args.n,
                                   args.c.ld};
  return ElementBytes(args.c.type) == 2 && args.beta == 0 && std::min(args.m, args.n) > kFewLines &&
         HasStoreMap(c, MatrixCount(args.batch, args.c.stride));
}

// Returns the tile of TensorSingle, whose blocks all run at once: `us` is huge where there is none.
// `transposed` says that it is turned.
inline TensorPlan PlanTensorSingle(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kStart = 5.3;  // Beside what memory takes.
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep}));
  TensorPlan best;
  for (const SingleTileCost& cost : kSingleTileCosts) {
    if (!HasSingleTile(args, cost)) continue;
    const int64_t rows = cost.turned ? args.n : args.m;
    const int64_t cols = cost.turned ? args.m : args.n;
    const int64_t tiles =
        CeilDiv(rows, int64_t{cost.rows}) * CeilDiv(cols, int64_t{cost.cols}) * args.batch;
    if (tiles > device.multiprocessors) continue;
    const double fill = static_cast<double>(tiles) / device.multiprocessors;
    TensorPlan plan = {cost.cols, 1, 1, cost.turned, 0, cost.rows};
    plan.us = std::max(kStart + MemoryUs(args, device),
                       cost.fixed + steps * (cost.step + cost.full * fill));
    plan.us = std::max(plan.us, OffLinesUs(args, plan, device));
    if (plan.us < best.us) best = plan;
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_PLAN_H_

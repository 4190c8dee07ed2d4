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
#include "matmul/device/tensor/turned_plan.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

// A tile of TensorSingle, and what it costs in microseconds. `turned`: its rows are columns of C,
// and its columns, which need not be panels of 64, rows of C.
struct SingleTileCost {
  int rows, cols;
  bool turned;
  double fixed;
  double tile;
  double step;
  double full;  // More for a step where all multiprocessors load.
  // Of a cluster (clustered.h): blocks that share the tile's columns, and its rows.
  int row_blocks = 1, col_blocks = 1;
};
// Steps are fitted to times of 512 to 2048 squared with 256 to 4096 of k on an H100; what is fixed
// is half a microsecond less than tensor_tile's tiles have.
constexpr SingleTileCost kSingleTileCosts[] = {
    {64, 32, true, 6.2, 0.702, 0.102, 0.023},     {64, 64, false, 6.22, 0.669, 0.117, 0.0347},
    {64, 128, true, 6.47, 0.632, 0.127, 0.119},   {64, 128, false, 6.43, 0.555, 0.143, 0.0798},
    {128, 128, false, 6.6, 0.737, 0.272, 0.0538}, {128, 144, true, 6.8, 0.716, 0.304, 0.0655},
    {128, 192, false, 6.7, 0.772, 0.414, 0.0748}, {128, 256, false, 6.9, 0.772, 0.552, 0.107}};
// In clusters, for operands whose rows begin within lines of the L2. Fitted to 264 to 2040 rows and
// columns with 520 to 4104 of k on an H200, where 520 x 1000 x 4104 takes 19.3 us so and alone 29.
constexpr SingleTileCost kClusteredTileCosts[] = {
    {64, 96, true, 7.18, 0.693, 0.132, 0.0323, 4, 2},
    {64, 128, true, 7.61, 0.675, 0.145, 0.0451, 2, 4},
    {128, 96, true, 7.49, 0.713, 0.187, 0.1, 2, 2},
    {128, 128, false, 7.8, 0.675, 0.271, 0.0491, 2, 4}};

// Returns whether a tile is for the call. A turned one needs A along k: an operand that is not
// comes in panels of 64. That of 64 x 128 has its 128 along k so where B does not lie along k,
// which shared memory sends faster: 1024 x 1024 x 1024 takes 9.5 us and not 9.9.
inline bool HasSingleTile(const MatMulArgs& args, const SingleTileCost& tile) {
  if (!tile.turned) return true;
  if (tile.row_blocks > 1) return !args.a.transposed;
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

// Returns the best of some tiles whose blocks all run at once: `us` is huge where there is none.
template <int kTiles>
TensorPlan PlanSingleTiles(const MatMulArgs& args, const DeviceModel& device,
                           TensorPredicted predicted, const SingleTileCost (&costs)[kTiles]) {
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep}));
  TensorPlan best;
  for (const SingleTileCost& cost : costs) {
    if (!HasSingleTile(args, cost)) continue;
    const int64_t rows = cost.turned ? args.n : args.m;
    const int64_t cols = cost.turned ? args.m : args.n;
    const int blocks = cost.row_blocks * cost.col_blocks;
    const int64_t clusters = CeilDiv(CeilDiv(rows, int64_t{cost.rows}), int64_t{cost.row_blocks}) *
                             CeilDiv(CeilDiv(cols, int64_t{cost.cols}), int64_t{cost.col_blocks}) *
                             args.batch;
    if (clusters > ClustersAtOnce(blocks, 1, device.multiprocessors) ||
        clusters * blocks > device.multiprocessors) {
      continue;
    }
    const double fill = static_cast<double>(clusters * blocks) / device.multiprocessors;
    TensorPlan plan = {cost.cols, 1, blocks, cost.turned, 0, cost.rows};
    const double us = cost.fixed + Together(MemoryUs(args, device),
                                            cost.tile + steps * (cost.step + cost.full * fill));
    // Clusters load the less of such rows.
    const double off_lines = blocks == 1 ? OffLinesUs(args, plan, device) : 0;
    plan.us = CorrectedTiles(predicted, args, device, plan, std::max(us, off_lines));
    if (plan.us < best.us) best = plan;
  }
  return best;
}

// Returns the tile of TensorSingle or of TensorClustered. `cluster` of it are the blocks of one,
// and `transposed` says that it is turned.
inline TensorPlan PlanTensorSingle(const MatMulArgs& args, const DeviceModel& device) {
  const TensorPlan single =
      PlanSingleTiles(args, device, TensorPredicted::kSingle, kSingleTileCosts);
  const TensorPlan clustered =
      PlanSingleTiles(args, device, TensorPredicted::kClustered, kClusteredTileCosts);
  return clustered.us < single.us ? clustered : single;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_PLAN_H_

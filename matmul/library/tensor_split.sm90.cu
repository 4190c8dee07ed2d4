// BF16 and FP16 for products with few tiles: `tensor_split`. matmul/device/tensor/split.h is the
// kernel; here a call is planned.
//
// A product with 1 to 64 rows or columns, as in decoding, lasts as long as the larger operand takes
// to arrive: 128 of its rows or columns are the rows of a tile, the few are its columns, and blocks
// divide k until all multiprocessors load.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/split.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {
namespace {

template <typename Tile>
LaunchStatus LaunchTile(const MatMulArgs& args, const TensorPlan& plan, const DeviceModel& device) {
  using Element = typename Tile::Element;
  constexpr CUtensorMapSwizzle kSwizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  constexpr uint32_t kRow = 64;  // Elements of 128 bytes.
  const MatMulInput& a = plan.transposed ? args.b : args.a;
  const MatMulInput& b = plan.transposed ? args.a : args.b;
  const MatrixCount of_a(args.batch, a.stride);
  const MatrixCount of_b(args.batch, b.stride);
  constexpr uint32_t kRowsOfA = Tile::kMajorA == OperandLayout::kKMajor ? Tile::kBlockM : kRow;
  constexpr uint32_t kRowsOfB = Tile::kMajorB == OperandLayout::kKMajor ? Tile::kBlockN : kRow;
  const ConstMatrix<Element> stored_a = plan.transposed ? args.B<Element>() : args.A<Element>();
  const ConstMatrix<Element> stored_b = plan.transposed ? args.A<Element>() : args.B<Element>();
  ASSIGN_OR_RETURN(const CUtensorMap map_a, TensorMapOf(stored_a, of_a, kRowsOfA, kRow, kSwizzle));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, TensorMapOf(stored_b, of_b, kRowsOfB, kRow, kSwizzle));
  SplitGemm gemm = {};
  gemm.c = OutputOf(args);
  gemm.c.transposed = plan.transposed;
  gemm.rows = static_cast<int>(plan.transposed ? args.n : args.m);
  gemm.cols = static_cast<int>(plan.transposed ? args.m : args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.split = plan.split;
  gemm.a_moves = of_a.count > 1 ? 1 : 0;
  gemm.b_moves = of_b.count > 1 ? 1 : 0;
  gemm.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  const int64_t tiles =
      CeilDiv(gemm.rows, Tile::kBlockM) * CeilDiv(gemm.cols, Tile::kBlockN) * args.batch;
  gemm.stages = SplitStages(tiles * plan.split, device, Tile::kStageBytes);
  return LaunchClusters(plan.split, TensorSplit<Tile>, Grid{tiles * plan.split},
                        Block{kSplitThreads}, Tile::SharedBytes(gemm.stages), args.stream, map_a,
                        map_b, gemm);
}

template <typename Element, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchCols(const MatMulArgs& args, const TensorPlan& plan, const DeviceModel& device) {
  switch (plan.cols) {
    case 8:
      return LaunchTile<SplitTile<Element, 8, kMajorA, kMajorB>>(args, plan, device);
    case 16:
      return LaunchTile<SplitTile<Element, 16, kMajorA, kMajorB>>(args, plan, device);
    case 32:
      return LaunchTile<SplitTile<Element, 32, kMajorA, kMajorB>>(args, plan, device);
    case 64:
      return LaunchTile<SplitTile<Element, 64, kMajorA, kMajorB>>(args, plan, device);
    default:
      return LaunchTile<SplitTile<Element, 128, kMajorA, kMajorB>>(args, plan, device);
  }
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const TensorPlan& plan, const DeviceModel& device) {
  constexpr auto kK = OperandLayout::kKMajor;
  constexpr auto kMn = OperandLayout::kMnMajor;
  const bool a_along_k = plan.transposed ? args.b.transposed : !args.a.transposed;
  const bool b_along_k = plan.transposed ? !args.a.transposed : args.b.transposed;
  if (a_along_k) {
    return b_along_k ? LaunchCols<Element, kK, kK>(args, plan, device)
                     : LaunchCols<Element, kK, kMn>(args, plan, device);
  }
  return b_along_k ? LaunchCols<Element, kMn, kK>(args, plan, device)
                   : LaunchCols<Element, kMn, kMn>(args, plan, device);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorSplit(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device)) return Fallback().run(args);
  const TensorPlan plan = PlanTensorSplit(args, device);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args, plan, device)
                                           : Run<__half>(args, plan, device);
}

}  // namespace stridewise

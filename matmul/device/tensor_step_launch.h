// Launches the kernel of tensor_kernel.h as the steps of the ladder do: for BF16 that is row-major
// and not transposed, with one tile, and with what tensor_tile chooses given by the step.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_LAUNCH_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_LAUNCH_H_

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_kernel.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

struct TensorStep {
  bool persistent = false;    // One block for each multiprocessor, and not one for each tile.
  bool store_by_tma = false;  // Through shared memory, while the next tile is multiplied.
  int band = 1;               // Rows of tiles that are computed before the next column.
};

// Queues the product. What the TMA cannot address takes `tensor_general`.
template <int kCluster>
LaunchStatus LaunchTensorStep(const MatMulArgs& args, const TensorStep& step) {
  using Element = __nv_bfloat16;
  using Tile = TensorTile<Element, Element, 256, 4, kCluster, OperandLayout::kKMajor,
                          OperandLayout::kMnMajor>;
  constexpr CUtensorMapSwizzle kSwizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  const MatrixCount one(1, 0);
  const auto a = args.A<Element>();
  const auto b = args.B<Element>();
  const ConstMatrix<Element> c = args.C<Element>();
  if (args.k == 0 || !HasTensorMap(a, one) || !HasTensorMap(b, one)) {
    return FunctionsOf("tensor_general").run(args);
  }
  TensorGemm gemm = {};
  gemm.m = static_cast<int>(args.m);
  gemm.n = static_cast<int>(args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.batch = 1;
  gemm.alpha = 1;
  gemm.c = args.c.data;
  gemm.ldc = args.c.ld;
  gemm.store_by_tma = step.store_by_tma && HasStoreMap(c, one);
  gemm.band = step.band;
  ASSIGN_OR_RETURN(const CUtensorMap map_a,
                   TensorMapOf(a, one, Tile::kBlockM, Tile::kRowElements, kSwizzle));
  ASSIGN_OR_RETURN(const CUtensorMap map_b,
                   TensorMapOf(b, one, Tile::kBlockK, Tile::kRowElements, kSwizzle));
  CUtensorMap map_c = map_a;  // Any, where it is not used.
  if (gemm.store_by_tma) {
    ASSIGN_OR_RETURN(map_c, TensorMapOf(c, one, kMmaRows, Tile::kOutElements, kSwizzle));
  }
  const int64_t tiles = CeilDiv(args.m, Tile::kBlockM * kCluster) * CeilDiv(args.n, Tile::kBlockN);
  const int64_t at_once = std::max(1, DeviceOf(args).multiprocessors / kCluster);
  const int64_t clusters = step.persistent ? std::min(tiles, at_once) : tiles;
  return LaunchClusters(kCluster, TensorProduct<Tile>, Grid{clusters * kCluster},
                        Block{kTensorThreads}, Tile::kSharedBytes, args.stream, map_a, map_b, map_c,
                        gemm);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_LAUNCH_H_

// How the kernels of tensor_kernel.h and split_kernel.h are called: what they are told of a
// product, its tensor maps, and the grid.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_LAUNCH_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_LAUNCH_H_

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_model.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tensor_finish.h"
#include "matmul/device/tensor_kernel.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

// Rows of clusters in a band of tiles, which share a column of B's tiles in the L2: 4, 6, 8 and 16
// differ by 1 %.
constexpr int kTensorBand = 8;

// The matrices of an operand as they are stored, or the copies that are multiplied instead.
template <typename Element>
struct TensorOperand {
  ConstMatrix<Element> matrix;
  MatrixCount matrices;
};

// Returns the map for swizzled boxes of an operand with this number of rows, 128 or 64 bytes.
// Floats are rounded to TF32, to the nearest, on their way to shared memory, where wgmma would cut
// them off.
template <int kRowBytes = kSwizzleBytes, typename Element>
absl::StatusOr<CUtensorMap> OperandMapOf(const TensorOperand<Element>& operand, uint32_t box_rows) {
  return TensorMapOf(
      operand.matrix, operand.matrices, box_rows, kRowBytes / sizeof(Element),
      kRowBytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B,
      std::is_same_v<Element, float> ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : TensorMapType<Element>());
}

// Returns what the kernel needs to know of the call. `a_moves` and `b_moves` say whether the
// operands differ from one product of the batch to the next. Where `c_transposed`, the product is
// that of C^T = B^T * A^T, and the tile's A is B.
template <typename Tile>
TensorGemm TensorGemmOf(const MatMulArgs& args, bool a_moves, bool b_moves,
                        bool c_transposed = false) {
  TensorGemm gemm = {};
  gemm.m = static_cast<int>(c_transposed ? args.n : args.m);
  gemm.n = static_cast<int>(c_transposed ? args.m : args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.batch = static_cast<int>(args.batch);
  gemm.a_moves = a_moves ? 1 : 0;
  gemm.b_moves = b_moves ? 1 : 0;
  gemm.alpha = static_cast<float>(args.alpha);
  gemm.beta = static_cast<float>(args.beta);
  if constexpr (std::is_same_v<typename Tile::Accumulator, int>) {
    gemm.whole_alpha = static_cast<int>(args.alpha);
    gemm.whole_beta = static_cast<int>(args.beta);
  }
  gemm.c = args.c.data;
  gemm.ldc = args.c.ld;
  gemm.stride_c = args.c.stride;
  const ConstMatrix<typename Tile::Out> c = args.C<typename Tile::Out>();
  const bool has_map = HasStoreMap(c, MatrixCount(args.batch, args.c.stride));
  gemm.store_by_tma = has_map && gemm.beta == 0;
  gemm.add_by_tma = has_map && gemm.beta != 0 && kAddsByTma<Tile>;
  gemm.c_transposed = c_transposed;
  gemm.band = kTensorBand;
  return gemm;
}

// Returns the map for boxes of C, or `unused`, any map, where the kernel does not use it.
template <typename Tile>
absl::StatusOr<CUtensorMap> StoreMapOf(const MatMulArgs& args, const TensorGemm& gemm,
                                       const CUtensorMap& unused) {
  if (!gemm.store_by_tma && !gemm.add_by_tma) return unused;
  const ConstMatrix<typename Tile::Out> c = args.C<typename Tile::Out>();
  return TensorMapOf(c, MatrixCount(args.batch, args.c.stride), Tile::kOutRows, Tile::kOutElements,
                     CU_TENSOR_MAP_SWIZZLE_128B);
}

// Returns a grid with a cluster for each tile.
template <typename Tile>
Grid GridOfTiles(const TensorGemm& gemm) {
  return {CeilDiv(gemm.m, Tile::kBlockM * Tile::kCluster) * CeilDiv(gemm.n, Tile::kBlockN) *
          gemm.batch * Tile::kCluster};
}

// Returns a grid of the blocks that the device runs at once, or fewer where there are fewer tiles.
template <typename Tile>
Grid PersistentGrid(const TensorGemm& gemm, const DeviceModel& device) {
  const int64_t clusters = std::max(1, device.multiprocessors / Tile::kCluster);
  return {std::min(GridOfTiles<Tile>(gemm).x, clusters * Tile::kCluster)};
}

// Queues the product of operands that are stored as `a` and `b`. REQUIRES: HasTensorMap() of both.
// `finish`, if any, is the TensorFinish that the kernel of tensor_finish.h is given. kDivides is
// for a `gemm` with a division.
template <typename Tile, bool kDivides = false, typename... Finish>
LaunchStatus LaunchTensorProduct(const MatMulArgs& args, const TensorGemm& gemm, const Grid& grid,
                                 const TensorOperand<typename Tile::Element>& a,
                                 const TensorOperand<typename Tile::Element>& b,
                                 const Finish&... finish) {
  ASSIGN_OR_RETURN(const CUtensorMap map_a, OperandMapOf(a, Tile::kBoxRowsA));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, OperandMapOf(b, Tile::kBoxRowsB));
  ASSIGN_OR_RETURN(const CUtensorMap map_c, StoreMapOf<Tile>(args, gemm, map_a));
  const auto launch = [&](auto kernel) {
    return LaunchDependentClusters(Tile::kCluster, kernel, grid, Block{Tile::kThreads},
                                   Tile::kSharedBytes, args.stream, map_a, map_b, map_c, gemm,
                                   finish...);
  };
  if constexpr (sizeof...(Finish) > 0) {
    return launch(TensorProductFinished<Tile>);
  } else if constexpr (kDivides) {
    return launch(TensorProduct<Tile, /*kAdds=*/false, /*kDivides=*/true>);
  } else if constexpr (kAddsByTma<Tile>) {
    return gemm.add_by_tma ? launch(TensorProduct<Tile, /*kAdds=*/true>)
                           : launch(TensorProduct<Tile>);
  } else {
    return launch(TensorProduct<Tile>);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_LAUNCH_H_

// The kernel of tensor cores for INT8 products with few tiles: the blocks of a cluster divide a
// tile's k extent, and each adds its sums to C in the L2. Whole numbers have the same sum in any
// order, so that no block has to wait for another one's sums, and none is kept anywhere.
//
// A block computes one tile and ends; it begins with its share of what C was, times beta, which is
// there long before the first sums.

#ifndef STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_H_
#define STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_H_

#include <cuda.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/int8/narrow.h"
#include "matmul/device/int8/split_plan.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor/split_block.h"
#include "matmul/device/tensor/stage_ring.h"

namespace stridewise {

// Both operands lie along k.
template <int kColumns>
struct Int8SplitTile {
  static constexpr int kBlockM = kInt8SplitRows;
  static_assert(kBlockM == kSplitBlockRows);
  static constexpr int kBlockN = kColumns;
  static constexpr int kBlockK = kInt8SplitStep;
  static constexpr int kMmaK = 32;
  static constexpr int kBytesA = kBlockM * kSwizzleBytes;
  static constexpr int kStageBytes = kBytesA + kBlockN * kSwizzleBytes;

  static constexpr int SharedBytes(int stages) { return kBytesBesideStages + stages * kStageBytes; }
};

// What the kernel needs to know of the product beside the tensor maps.
struct Int8SplitGemm {
  int rows, cols, k;  // Of the tiled product: m and n, or n and m where C is transposed.
  int split;          // Blocks of a cluster.
  int stages;
  int a_moves, b_moves;  // 0: all products of the batch use the same operand, else 1.
  int alpha, beta;
  int* c;
  int64_t of_row, of_col;  // Elements of C from a row or column of the tiled product to the next.
  int64_t stride;
};

// Calls visit(element of C) for block `rank`'s share of a tile, neighbours of C by neighbouring
// threads. Called by the consumers.
template <typename Tile, typename Visit>
__device__ inline void VisitShare(const Int8SplitGemm& gemm, int* c, int rank, int row, int col,
                                  const Visit& visit) {
  const int rows = min(gemm.rows - row, Tile::kBlockM);
  const int cols = min(gemm.cols - col, Tile::kBlockN);
  const int across = gemm.of_col == 1 ? cols : rows;
  const int items = rows * cols;
  const int end = static_cast<int>(static_cast<int64_t>(rank + 1) * items / gemm.split);
#pragma unroll 4
  for (int item = static_cast<int>(static_cast<int64_t>(rank) * items / gemm.split) +
                  static_cast<int>(threadIdx.x);
       item < end; item += kSplitBlockConsumerThreads) {
    const int along = item / across;
    const int next = item - along * across;
    visit(c + (gemm.of_col == 1 ? along * gemm.of_row + next : along * gemm.of_col + next));
  }
}

// Adds a thread's sums to C, or stores them where nobody else has any.
template <typename Tile>
__device__ inline void AddInt8Sums(const Int8SplitGemm& gemm, int* c, int row, int col, int warp,
                                   int lane, const int (&d)[Tile::kBlockN / 2]) {
  const int first_row = warp * 16 + lane / 4;
  const int first_col = lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Tile::kBlockN / 2; ++i) {
    const int r = first_row + i / 2 % 2 * 8;
    const int s = first_col + i / 4 * 8 + i % 2;
    if (row + r >= gemm.rows || col + s >= gemm.cols) continue;
    int* const at = c + r * gemm.of_row + s * gemm.of_col;
    const int value = gemm.alpha * d[i];
    if (gemm.split > 1) {
      atomicAdd(at, value);
    } else {
      *at = gemm.beta != 0 ? value + gemm.beta * *at : value;
    }
  }
}

template <typename Tile>
__global__ void __launch_bounds__(kSplitBlockThreads, 2)
    TensorInt8Split(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    const __grid_constant__ Int8SplitGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ char raw[];
  const StageRing<kInt8SplitMaxStages> ring(raw, Tile::kStageBytes);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rank = static_cast<int>(blockIdx.x) % gemm.split;
  const int tile = static_cast<int>(blockIdx.x) / gemm.split;
  const int tile_rows = (gemm.rows + Tile::kBlockM - 1) / Tile::kBlockM;
  const int tile_cols = (gemm.cols + Tile::kBlockN - 1) / Tile::kBlockN;
  const int batch = tile / (tile_rows * tile_cols);
  const int in_product = tile - batch * tile_rows * tile_cols;
  const int row = in_product % tile_rows * Tile::kBlockM;
  const int col = in_product / tile_rows * Tile::kBlockN;
  const StepRange steps = StepsOfBlock<Tile::kBlockK>(gemm.k, rank, gemm.split);
  const auto load = [&](int step, uint32_t to, Mbarrier& full) {
    const int k = step * Tile::kBlockK;
    CopyBox(a, k, row, batch * gemm.a_moves, to, full);
    CopyBox(b, k, col, batch * gemm.b_moves, to + Tile::kBytesA, full);
  };
  if (threadIdx.x == kSplitBlockConsumerThreads) {
    PrefetchMap(a);
    PrefetchMap(b);
    ring.Init(gemm.stages, kSplitBlockConsumerWarps);
    WaitForPreviousKernel();  // Which may have made copies of operands.
    ring.FillFirst(steps, gemm.stages, load);
  }
  __syncthreads();
  WaitForPreviousKernel();
  int* const c = gemm.c + batch * gemm.stride + row * gemm.of_row + col * gemm.of_col;
  if (warp == kSplitBlockConsumerWarps) {
    if (gemm.split > 1) ArriveAtCluster</*kRelease=*/true>();
    if (lane == 0) ring.FillAgain(steps, gemm.stages, load);
    __syncwarp();
    if (gemm.split > 1) WaitForCluster();
    return;
  }
  if (gemm.split > 1) {
    VisitShare<Tile>(gemm, c, rank, row, col,
                     [&](int* at) { *at = gemm.beta != 0 ? gemm.beta * *at : 0; });
    __syncwarp();
    ArriveAtCluster</*kRelease=*/true>();
  }
  using Mma = Wgmma<int8_t, Tile::kBlockN, OperandLayout::kKMajor, OperandLayout::kKMajor>;
  int d[Tile::kBlockN / 2];
  ring.Drain(steps, gemm.stages, lane, [&](int step, uint32_t at) {
    const uint64_t of_a = TileDescriptor<OperandLayout::kKMajor>(
        at + warp / 4 * kSplitBlockMmaRows * kSwizzleBytes, 0);
    const uint64_t of_b = TileDescriptor<OperandLayout::kKMajor>(at + Tile::kBytesA, 0);
    constexpr uint64_t kStep = DescriptorStep<OperandLayout::kKMajor, int8_t>();
    FenceWgmma();
#pragma unroll
    for (int i = 0; i < Tile::kBlockK / Tile::kMmaK; ++i) {
      Mma::Multiply(of_a + i * kStep, of_b + i * kStep, i > 0 || step > steps.first, d);
    }
  });
  if (gemm.split > 1) WaitForCluster();
  AddInt8Sums<Tile>(gemm, c, row, col, warp, lane, d);
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_H_

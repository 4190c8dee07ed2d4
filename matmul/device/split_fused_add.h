// Adds the sums of blocks that divide the k of a tile of split_fused_kernel.h: without a cluster
// any number of blocks can, on any multiprocessors, and the sums meet in the workspace.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_ADD_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_ADD_H_

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/split_fused_part.h"

namespace stridewise {

// Leaves the block's sums in the workspace, tile after tile and a tile's parts in order.
template <typename Tile>
__device__ inline void StorePartial(const FusedGemm& gemm, const float* sums) {
  constexpr int kQuads = Tile::kBlockN / 4;
  const int64_t part = static_cast<int>(blockIdx.x) - gemm.whole;
  auto* const to = reinterpret_cast<float4*>(gemm.partial) + part * (Tile::kBlockM * kQuads);
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kBlockM * kQuads; i += Tile::kThreads) {
    to[i] = *reinterpret_cast<const float4*>(sums + i / kQuads * Tile::kSumPitch + i % kQuads * 4);
  }
}

// Each thread adds the sums of one element: loads of many parts are on their way at once.
constexpr int kAddingThreads = 256;
template <typename Tile>
inline constexpr int kAddingBlocks = Tile::kBlockM* Tile::kBlockN / kAddingThreads;  // Of a tile.

// Adds the sums of each divided tile, and stores them.
template <typename Tile>
__global__ void __launch_bounds__(kAddingThreads)
    AddPartialSums(const __grid_constant__ FusedGemm gemm) {
  constexpr int kElements = Tile::kBlockM * Tile::kBlockN;
  const int tile = static_cast<int>(blockIdx.x) / kAddingBlocks<Tile>;
  const int element = static_cast<int>(blockIdx.x) % kAddingBlocks<Tile> * kAddingThreads +
                      static_cast<int>(threadIdx.x);
  const FusedPart part = FusedPartOf<Tile>(gemm, gemm.whole + tile, 0, 1);
  const int row = part.row + element / Tile::kBlockN;
  const int col = part.col + element % Tile::kBlockN;
  const float* const from =
      gemm.partial + static_cast<int64_t>(tile) * gemm.split * kElements + element;
  WaitForPreviousKernel();
  if (row >= gemm.m || col >= gemm.n) return;
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < gemm.split; ++i) sum += from[static_cast<int64_t>(i) * kElements];
  float* const to = gemm.c + part.batch * gemm.stride_c + row * gemm.ldc + col;
  float value = gemm.alpha * sum;
  if (gemm.beta != 0) value = fmaf(gemm.beta, *to, value);
  *to = value;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_ADD_H_

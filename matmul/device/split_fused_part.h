// What a block of split_fused_kernel.h computes of a product, where its elements lie, and how the
// sums of blocks that divide the k of a tile meet in the workspace: without a cluster any number of
// blocks can, on any multiprocessors.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_PART_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_PART_H_

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/split_fused_tile.h"
#include "matmul/device/tile_order.h"

namespace stridewise {

struct FusedGemm {
  FusedOperand a, b;
  int m, n, k;
  // Blocks that divide the k of a tile. Where there is no `partial`, those of a cluster have a
  // tile; else the first `whole` blocks have a tile each, and the others leave their sums there.
  FastDivisor split{1};
  int whole;
  float* partial;
  TileOrder order{1, 1};
  float alpha, beta;
  float* c;
  int64_t ldc, stride_c;
};

// What a block computes: a tile, and a part of its k.
struct FusedPart {
  int64_t batch;
  int row, col;
  int begin, end;
  int rank, split;  // Which of the blocks of its tile it is.
};

// A block loads nothing before it knows its part, which takes no division.
template <typename Tile>
__device__ inline FusedPart FusedPartOf(const FusedGemm& gemm, int tile, int rank, bool divided) {
  const TilePlace place = gemm.order.PlaceOf<Tile>(static_cast<uint32_t>(tile));
  const uint32_t steps = static_cast<uint32_t>(gemm.k + Tile::kBlockK - 1) / Tile::kBlockK;
  const auto first_of = [&](uint32_t part) {
    const uint32_t step = divided ? gemm.split.Quotient(part * steps) : part * steps;
    return min(gemm.k, static_cast<int>(step) * Tile::kBlockK);
  };
  return {place.index,
          static_cast<int>(place.offset.row),
          static_cast<int>(place.offset.col),
          first_of(rank),
          first_of(rank + 1),
          rank,
          divided ? static_cast<int>(gemm.split.divisor()) : 1};
}

// Returns the part of this block.
template <typename Tile>
__device__ inline FusedPart FusedPartOf(const FusedGemm& gemm) {
  const int block = static_cast<int>(blockIdx.x);
  if (block < gemm.whole) return FusedPartOf<Tile>(gemm, block, 0, false);
  const auto part = static_cast<uint32_t>(block - gemm.whole);
  const uint32_t tile = gemm.split.Quotient(part);
  return FusedPartOf<Tile>(gemm, gemm.whole + static_cast<int>(tile),
                           static_cast<int>(part - tile * gemm.split.divisor()), true);
}

// Returns where a tile's rows of A or columns of B begin.
template <OperandLayout kMajor>
__device__ inline const float* FusedStart(const FusedOperand& operand, int64_t batch, int mn,
                                          int k) {
  constexpr bool kKMajor = kMajor == OperandLayout::kKMajor;
  return operand.data + batch * operand.stride + mn * (kKMajor ? operand.ld : 1) +
         k * (kKMajor ? 1 : operand.ld);
}

// Returns the place of a thread's sum `i` in the tile.
template <typename Tile>
__device__ inline int2 FusedPlaceOf(int thread, int i) {
  const int group = thread / kWarpgroupThreads;
  const int lane = thread % 32;
  return {group / Tile::kGroupsN * kMmaRows + thread % kWarpgroupThreads / 32 * 16 + lane / 4 +
              i / 2 % 2 * 8,
          group % Tile::kGroupsN * Tile::kGroupCols + i / 4 * 8 + lane % 4 * 2 + i % 2};
}

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
  const FusedPart part = FusedPartOf<Tile>(gemm, gemm.whole + tile, 0, false);
  const int row = part.row + element / Tile::kBlockN;
  const int col = part.col + element % Tile::kBlockN;
  const int split = static_cast<int>(gemm.split.divisor());
  const float* const from = gemm.partial + static_cast<int64_t>(tile) * split * kElements + element;
  WaitForPreviousKernel();
  if (row >= gemm.m || col >= gemm.n) return;
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < split; ++i) sum += from[static_cast<int64_t>(i) * kElements];
  float* const to = gemm.c + part.batch * gemm.stride_c + row * gemm.ldc + col;
  float value = gemm.alpha * sum;
  if (gemm.beta != 0) value = fmaf(gemm.beta, *to, value);
  *to = value;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_PART_H_

// The loop of split_fused_kernel.h: while tensor cores multiply 64 of k, the next 64 are split.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_SUM_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_SUM_H_

#include <cstdint>

#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/split_fused_pair.h"
#include "matmul/device/split_fused_part.h"
#include "matmul/device/split_fused_tile.h"
#include "matmul/device/split_tile.h"

namespace stridewise {

// Returns the largest of all threads' values. Called by the whole block.
template <int kThreads>
__device__ inline uint2 MostOfBlock(uint32_t a, uint32_t b) {
  __shared__ uint2 of_warps[kThreads / 32];
  a = __reduce_max_sync(~0u, a);
  b = __reduce_max_sync(~0u, b);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = {a, b};
  __syncthreads();
  uint2 most = {};
#pragma unroll
  for (const uint2& of_warp : of_warps) most = {max(most.x, of_warp.x), max(most.y, of_warp.y)};
  return most;
}

// Multiplies the parts i and j of a stage.
template <typename Tile>
__device__ inline void MultiplyFusedParts(uint64_t a, uint64_t b, int i, int j, bool accumulate,
                                          float (&d)[Tile::kGroupCols / 2]) {
  a += i * (Tile::kPartBytesA >> 4);
  b += j * (Tile::kPartBytesB >> 4);
#pragma unroll
  for (int step = 0; step < Tile::kBlockK / Tile::kMmaK; ++step) {
    Tile::Mma::Multiply(a + step * DescriptorStep<Tile::kMajorA, SplitFp16>(),
                        b + step * DescriptorStep<Tile::kMajorB, SplitFp16>(),
                        step > 0 || accumulate, d);
  }
}

// Sums the scaled products of the block's part of k. Returns the powers of two of A and B.
//
// Of the two stages, warps fill one while tensor cores read the other. `full` says that all warps
// have stored their parts of a stage, `empty` that all have read one: a warp waits for what it
// needs, and not for all others after each 64 of k. Loads have half of a step until they are
// needed: those of A while B is split, and those of B while A is.
template <typename Tile>
__device__ inline float2 SumFused(const FusedGemm& gemm, const FusedPart& part, uint32_t stages,
                                  float (&sums)[Tile::kGroupCols / 2]) {
  FusedLines<Tile::kMajorA, Tile::kLinesA, Tile::kThreads> a(gemm.a, part.batch, part.row,
                                                             part.begin, part.end);
  FusedLines<Tile::kMajorB, Tile::kLinesB, Tile::kThreads> b(gemm.b, part.batch, part.col,
                                                             part.begin, part.end);
  __shared__ Mbarrier full, empty;
  if (threadIdx.x == 0) {
    full.Init(Tile::kThreads / 32);
    empty.Init(Tile::kThreads / 32);
    Mbarrier::InitDone();
  }
  const bool first_lane = threadIdx.x % 32 == 0;
  a.Load();
  b.Load();
  const uint2 most = MostOfBlock<Tile::kThreads>(a.MostBits(), b.MostBits());
  const float power_a = FusedPowerFor(most.x);
  const float power_b = FusedPowerFor(most.y);
  constexpr int kOffsetB = 2 * Tile::kPartBytesA;
  a.Scale(power_a);
  a.Store(stages);
  a.Load();
  b.Scale(power_b);
  b.Store(stages + kOffsetB);
  FenceForTma();  // wgmma reads by the same way as the TMA.
  __syncwarp();
  if (first_lane) full.Arrive();

  // The same in all lanes, which the compiler sees here: descriptors are made once for a warp.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpgroupThreads, 0);
  const uint32_t rows_of_group = group / Tile::kGroupsN * kMmaRows * kSwizzleBytes;
  const uint32_t cols_of_group = group % Tile::kGroupsN * Tile::kGroupCols * kSwizzleBytes;
#pragma unroll
  for (float& sum : sums) sum = 0;
  uint32_t stage = stages;
  uint32_t phase = 0;
  float d[Tile::kGroupCols / 2];
#pragma unroll 1
  for (int k = part.begin; k < part.end; k += Tile::kBlockK) {
    const uint64_t of_a = TileDescriptor<Tile::kMajorA>(stage + rows_of_group, Tile::kPanelBytes);
    const uint64_t of_b =
        TileDescriptor<Tile::kMajorB>(stage + kOffsetB + cols_of_group, Tile::kPanelBytes);
    const uint32_t next = stages + (stage == stages ? Tile::kStageBytes : 0);
    full.Wait(phase);
    FenceWgmma();
    MultiplyFusedParts<Tile>(of_a, of_b, 0, 1, false, d);
    MultiplyFusedParts<Tile>(of_a, of_b, 1, 0, true, d);
    CommitWgmma();
    // Behind the last 64 of k zeros are split, which nobody reads. A loop that waits also keeps the
    // compiler from splitting before it multiplies.
    empty.Wait(phase ^ 1);
    a.Scale(power_a);
    b.Load();
    a.Store(next);
    WaitForWgmma<0>();
#pragma unroll
    for (float& sum : d) sum *= 1 / kFusedLowFactor;
    FenceWgmma();
    MultiplyFusedParts<Tile>(of_a, of_b, 0, 0, true, d);
    CommitWgmma();
    empty.Wait(phase ^ 1);  // Again, for the compiler.
    b.Scale(power_b);
    a.Load();
    b.Store(next + kOffsetB);
    FenceForTma();
    __syncwarp();
    if (first_lane) full.Arrive();
    WaitForWgmma<0>();
    if (first_lane) empty.Arrive();
    AddTo(sums, d);
    phase ^= 1;
    stage = next;
  }
  __syncthreads();  // Nobody reads the stages any more.
  return {power_a, power_b};
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_SUM_H_

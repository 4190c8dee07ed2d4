// What split_fused_kernel.h does with sums that may not be as exact as FP32's: it counts the
// elements that may lack bits, and computes from the floats what is left.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_RECHECK_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_RECHECK_H_

#include <cstdint>

#include "matmul/device/split_fused_pair.h"
#include "matmul/device/split_fused_part.h"
#include "matmul/device/split_fused_tile.h"
#include "matmul/device/split_in_fp32.h"

namespace stridewise {

// Counts the elements below kFusedLeast of each of `mn` rows or columns, k of each, that begin at
// `from`. `counts` are zero. Called by the whole block.
template <bool kKMajor, int kThreads>
__device__ inline void CountSmall(const float* from, int64_t ld, int mn, int k, float power,
                                  int* counts) {
  constexpr int kWarps = kThreads / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto is_small = [=](float x) { return x != 0 && fabsf(x * power) < kFusedLeast ? 1 : 0; };
  if constexpr (kKMajor) {
#pragma unroll 1
    for (int row = warp; row < mn; row += kWarps) {
      int count = 0;
#pragma unroll 4
      for (int i = lane; i < k; i += 32) count += is_small(from[row * ld + i]);
      if (count > 0) atomicAdd(&counts[row], count);
    }
  } else {
#pragma unroll 1
    for (int row = lane; row < mn; row += 32) {
      int count = 0;
#pragma unroll 4
      for (int i = warp; i < k; i += kWarps) count += is_small(from[i * ld + row]);
      if (count > 0) atomicAdd(&counts[row], count);
    }
  }
}

// Leaves of a thread's bits for sums that may not be exact enough those that are not.
template <typename Tile>
__device__ inline uint64_t LookCloser(const FusedGemm& gemm, const FusedPart& part, float2 powers,
                                      uint64_t bad, int* counts,
                                      const float (&sums)[Tile::kGroupCols / 2]) {
  constexpr int kThreads = Tile::kThreads;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < Tile::kBlockM + Tile::kBlockN; i += kThreads) counts[i] = 0;
  __syncthreads();
  CountSmall<Tile::kMajorA == OperandLayout::kKMajor, kThreads>(
      FusedStart<Tile::kMajorA>(gemm.a, part.batch, part.row, part.begin), gemm.a.ld,
      min(Tile::kBlockM, gemm.m - part.row), part.end - part.begin, powers.x, counts);
  CountSmall<Tile::kMajorB == OperandLayout::kKMajor, kThreads>(
      FusedStart<Tile::kMajorB>(gemm.b, part.batch, part.col, part.begin), gemm.b.ld,
      min(Tile::kBlockN, gemm.n - part.col), part.end - part.begin, powers.y,
      counts + Tile::kBlockM);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Tile::kGroupCols / 2; ++i) {
    const int2 place = FusedPlaceOf<Tile>(thread, i);
    if (FusedSuffices(sums[i], counts[place.x] + counts[Tile::kBlockM + place.y])) {
      bad &= ~(uint64_t{1} << i);
    }
  }
  return bad;
}

// Computes one element's part of k from the floats, by a warp.
template <typename Tile>
__device__ inline float DotInFp32(const FusedGemm& gemm, const FusedPart& part, int row, int col) {
  constexpr bool kMajorA = Tile::kMajorA == OperandLayout::kKMajor;
  constexpr bool kMajorB = Tile::kMajorB == OperandLayout::kKMajor;
  const int64_t step_a = kMajorA ? 1 : gemm.a.ld;
  const int64_t step_b = kMajorB ? 1 : gemm.b.ld;
  const float* const a = FusedStart<Tile::kMajorA>(gemm.a, part.batch, part.row + row, part.begin);
  const float* const b = FusedStart<Tile::kMajorB>(gemm.b, part.batch, part.col + col, part.begin);
  float sum = 0;
#pragma unroll 4
  for (int k = static_cast<int>(threadIdx.x) % 32; k < part.end - part.begin; k += 32) {
    sum = fmaf(a[k * step_a], b[k * step_b], sum);
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(~0u, sum, distance);
  }
  return sum;
}

// Computes a warpgroup's sums from the floats.
template <typename Tile>
__device__ inline void SumInFp32(const FusedGemm& gemm, const FusedPart& part, char* shared,
                                 float (&sums)[Tile::kGroupCols / 2]) {
  using OfGroup = typename Tile::OfGroup;
  constexpr bool kMajorA = Tile::kMajorA == OperandLayout::kKMajor;
  constexpr bool kMajorB = Tile::kMajorB == OperandLayout::kKMajor;
  Fp32Gemm of = {};
  of.m = gemm.m;
  of.n = gemm.n;
  of.k = part.end - part.begin;
  of.a_in_fp32 = {FusedStart<Tile::kMajorA>(gemm.a, part.batch, 0, part.begin),
                  kMajorA ? gemm.a.ld : 1, kMajorA ? 1 : gemm.a.ld, 0};
  of.b_in_fp32 = {FusedStart<Tile::kMajorB>(gemm.b, part.batch, 0, part.begin),
                  kMajorB ? gemm.b.ld : 1, kMajorB ? 1 : gemm.b.ld, 0};
  const int group = static_cast<int>(threadIdx.x) / kWarpgroupThreads;
  MultiplyInFp32<OfGroup>(
      of, reinterpret_cast<float*>(shared + group * OfGroup::kOutBuffers * OfGroup::kOutBytes),
      group, static_cast<int>(threadIdx.x) % kWarpgroupThreads,
      part.row + group / Tile::kGroupsN * kMmaRows,
      part.col + group % Tile::kGroupsN * Tile::kGroupCols, 0, sums);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_RECHECK_H_

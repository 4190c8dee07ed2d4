// FP32 products by tensor cores in one kernel, without a workspace: operands are split on their way
// from global to shared memory, through registers (split_fused_tile.h).
//
// Nobody knows the largest element of a row before the row has been read. Each block scales its
// rows, and its columns, by one power of two, for the largest element of its first 64 of k, and
// looks at its sums afterwards: one that is infinite, NaN, or so small that elements without all
// their bits might matter, is computed again from the floats.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_KERNEL_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_KERNEL_H_

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/split_fused_tile.h"
#include "matmul/device/split_in_fp32.h"

namespace stridewise {

struct FusedGemm {
  FusedOperand a, b;
  int m, n, k;
  int split;  // Blocks of a cluster, which divide k.
  int band;   // Rows of tiles that are computed before the next column of them.
  float alpha, beta;
  float* c;
  int64_t ldc, stride_c;
};

// What a block computes: a tile, and a part of its k.
struct FusedPart {
  int64_t batch;
  int row, col;
  int begin, end;
};

template <typename Tile>
__device__ inline FusedPart FusedPartOf(const FusedGemm& gemm, int rank) {
  const int rows = (gemm.m + Tile::kBlockM - 1) / Tile::kBlockM;
  const int cols = (gemm.n + Tile::kBlockN - 1) / Tile::kBlockN;
  const int tile = static_cast<int>(blockIdx.x) / gemm.split;
  const int batch = tile / (rows * cols);
  const int in_product = tile - batch * rows * cols;
  const int band = in_product / (gemm.band * cols);
  const int height = min(gemm.band, rows - band * gemm.band);
  const int in_band = in_product - band * gemm.band * cols;
  const int steps = (gemm.k + Tile::kBlockK - 1) / Tile::kBlockK;
  const auto first_of = [&](int part) {
    return min(gemm.k, static_cast<int>(int64_t{part} * steps / gemm.split) * Tile::kBlockK);
  };
  return {batch, (band * gemm.band + in_band % height) * Tile::kBlockM,
          in_band / height * Tile::kBlockN, first_of(rank), first_of(rank + 1)};
}

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
template <typename Tile>
__device__ inline float2 SumFused(const FusedGemm& gemm, const FusedPart& part, uint32_t stages,
                                  float (&sums)[Tile::kGroupCols / 2]) {
  FusedLines<Tile::kMajorA, Tile::kLinesA, Tile::kThreads> a(gemm.a, part.batch, part.row,
                                                             part.begin, part.end);
  FusedLines<Tile::kMajorB, Tile::kLinesB, Tile::kThreads> b(gemm.b, part.batch, part.col,
                                                             part.begin, part.end);
  a.Load();
  b.Load();
  const uint2 most = MostOfBlock<Tile::kThreads>(a.MostBits(), b.MostBits());
  const float power_a = FusedPowerFor(most.x);
  const float power_b = FusedPowerFor(most.y);
  constexpr int kOffsetB = 2 * Tile::kPartBytesA;
  a.Store(power_a, stages);
  b.Store(power_b, stages + kOffsetB);
  a.Load();
  b.Load();
  FenceForTma();  // wgmma reads by the same way as the TMA.
  __syncthreads();

  // The same in all lanes, which the compiler sees here: descriptors are made once for a warp.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpgroupThreads, 0);
  const uint32_t rows_of_group = group / Tile::kGroupsN * kMmaRows * kSwizzleBytes;
  const uint32_t cols_of_group = group % Tile::kGroupsN * Tile::kGroupCols * kSwizzleBytes;
#pragma unroll
  for (float& sum : sums) sum = 0;
  uint32_t stage = stages;
  float d[Tile::kGroupCols / 2];
#pragma unroll 1
  for (int k = part.begin; k < part.end; k += Tile::kBlockK) {
    const uint64_t of_a = TileDescriptor<Tile::kMajorA>(stage + rows_of_group, Tile::kPanelBytes);
    const uint64_t of_b =
        TileDescriptor<Tile::kMajorB>(stage + kOffsetB + cols_of_group, Tile::kPanelBytes);
    const uint32_t next = stages + (stage == stages ? Tile::kStageBytes : 0);
    // Behind the last 64 of k zeros are split, which nobody reads.
    FenceWgmma();
    MultiplyFusedParts<Tile>(of_a, of_b, 0, 1, false, d);
    MultiplyFusedParts<Tile>(of_a, of_b, 1, 0, true, d);
    CommitWgmma();
    a.Store(power_a, next);
    a.Load();
    WaitForWgmma<0>();
#pragma unroll
    for (float& sum : d) sum *= 1 / kFusedLowFactor;
    FenceWgmma();
    MultiplyFusedParts<Tile>(of_a, of_b, 0, 0, true, d);
    CommitWgmma();
    b.Store(power_b, next + kOffsetB);
    b.Load();
    WaitForWgmma<0>();
    AddTo(sums, d);
    FenceForTma();
    __syncthreads();
    stage = next;
  }
  return {power_a, power_b};
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

// Returns where a tile's rows of A or columns of B begin.
template <OperandLayout kMajor>
__device__ inline const float* FusedStart(const FusedOperand& operand, int64_t batch, int mn,
                                          int k) {
  constexpr bool kKMajor = kMajor == OperandLayout::kKMajor;
  return operand.data + batch * operand.stride + mn * (kKMajor ? operand.ld : 1) +
         k * (kKMajor ? 1 : operand.ld);
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
  SplitGemm of = {};
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

// Adds the cluster's sums and stores the block's rows of C.
template <typename Tile>
__device__ inline void StoreFused(const FusedGemm& gemm, const FusedPart& part, const float* sums,
                                  int rank) {
  constexpr int kWarps = Tile::kThreads / 32;
  constexpr int kEach = Tile::kBlockN / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rows = min(Tile::kBlockM, gemm.m - part.row);
  const int end = min(rows, (rank + 1) * Tile::kBlockM / gemm.split);
  float* const c = gemm.c + part.batch * gemm.stride_c + part.row * gemm.ldc + part.col;
  const int cols = gemm.n - part.col;
#pragma unroll 2
  for (int r = rank * Tile::kBlockM / gemm.split + static_cast<int>(threadIdx.x) / 32; r < end;
       r += kWarps) {
    float values[kEach] = {};
    for (int block = 0; block < gemm.split; ++block) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const float* const from = sums + r * Tile::kSumPitch + i * 32 + lane;
        values[i] += gemm.split > 1 ? LoadFromBlock(from, block) : *from;
      }
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int col = i * 32 + lane;
      if (col >= cols) continue;
      float* const to = c + r * gemm.ldc + col;
      float value = gemm.alpha * values[i];
      if (gemm.beta != 0) value = fmaf(gemm.beta, *to, value);
      *to = value;
    }
  }
}

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    SplitFusedProduct(const __grid_constant__ FusedGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kSums = Tile::kGroupCols / 2;
  extern __shared__ char raw[];
  char* const shared = raw + (1024 - SharedAddress(raw) % 1024) % 1024;
  const int rank = static_cast<int>(blockIdx.x) % gemm.split;
  const FusedPart part = FusedPartOf<Tile>(gemm, rank);
  const int thread = static_cast<int>(threadIdx.x);
  float sums[kSums];
  const float2 powers = SumFused<Tile>(gemm, part, SharedAddress(shared), sums);

  uint64_t bad = 0;
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const int2 place = FusedPlaceOf<Tile>(thread, i);
    if (!FusedSuffices(sums[i], 2 * (part.end - part.begin)) && part.row + place.x < gemm.m &&
        part.col + place.y < gemm.n) {
      bad |= uint64_t{1} << i;
    }
  }
  constexpr int kFewThreads = Tile::kThreads / 16;
  int bad_threads = part.end > part.begin ? __syncthreads_count(bad != 0) : 0;
  if (bad_threads > kFewThreads) {
    bad = LookCloser<Tile>(gemm, part, powers, bad, reinterpret_cast<int*>(shared), sums);
    bad_threads = __syncthreads_count(bad != 0);
  }
  if (bad_threads > kFewThreads) {
    SumInFp32<Tile>(gemm, part, shared, sums);
    bad = 0;
    __syncthreads();
  } else {
    const float inverse_a = 1 / powers.x;
    const float inverse_b = 1 / powers.y;
#pragma unroll
    for (float& sum : sums) sum = sum * inverse_a * inverse_b;
  }
  auto* const kept = reinterpret_cast<float*>(shared);
#pragma unroll
  for (int i = 0; i < kSums; i += 2) {
    const int2 place = FusedPlaceOf<Tile>(thread, i);
    *reinterpret_cast<float2*>(kept + place.x * Tile::kSumPitch + place.y) = {sums[i], sums[i + 1]};
  }
  if (bad_threads > 0 && bad_threads <= kFewThreads) {
    __syncwarp();
#pragma unroll 1
    for (uint32_t lanes = __ballot_sync(~0u, bad != 0); lanes != 0; lanes &= lanes - 1) {
      const int lane = __ffs(static_cast<int>(lanes)) - 1;
#pragma unroll 1
      for (uint64_t left = __shfl_sync(~0u, bad, lane); left != 0; left &= left - 1) {
        const int2 place =
            FusedPlaceOf<Tile>(thread / 32 * 32 + lane, __ffsll(static_cast<long long>(left)) - 1);
        const float sum = DotInFp32<Tile>(gemm, part, place.x, place.y);
        if (thread % 32 == lane) kept[place.x * Tile::kSumPitch + place.y] = sum;
      }
    }
  }
  if (gemm.split > 1) {
    SyncCluster();
  } else {
    __syncthreads();
  }
  StoreFused<Tile>(gemm, part, kept, rank);
  if (gemm.split > 1) SyncCluster();  // No block leaves sums that another one reads.
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_KERNEL_H_

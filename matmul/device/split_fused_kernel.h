// FP32 products by tensor cores in one kernel, without a workspace: operands are split on their way
// from global to shared memory, through registers (split_fused_tile.h).
//
// Nobody knows the largest element of a row before the row has been read. Each block scales its
// rows, and its columns, by one power of two, for the largest element of its first 64 of k, and
// looks at its sums afterwards: one that is infinite, NaN, or so small that elements without all
// their bits might matter, is computed again from the floats.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_KERNEL_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_KERNEL_H_

#include <cfloat>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/split_fused_pair.h"
#include "matmul/device/split_fused_part.h"
#include "matmul/device/split_fused_recheck.h"
#include "matmul/device/split_fused_sum.h"
#include "matmul/device/split_fused_tile.h"

namespace stridewise {

// Stores rows of C that lie inside from one column of the tile to the last, alpha times the sums. A
// tile takes less than half of the instructions of StoreFused().
template <typename Tile>
__device__ inline void StoreWholeRows(const FusedGemm& gemm, const float* sums, int rows,
                                      float* c) {
  constexpr int kWarps = Tile::kThreads / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float* from = sums + warp * Tile::kSumPitch + lane;
  float* to = c + warp * gemm.ldc + lane;
  const int64_t step = kWarps * gemm.ldc;
#pragma unroll 4
  for (int r = warp; r < rows; r += kWarps) {
#pragma unroll
    for (int i = 0; i < Tile::kBlockN / 32; ++i) to[i * 32] = gemm.alpha * from[i * 32];
    from += kWarps * Tile::kSumPitch;
    to += step;
  }
}

// Adds the cluster's sums and stores the block's rows of C.
template <typename Tile>
__device__ inline void StoreFused(const FusedGemm& gemm, const FusedPart& part, const float* sums) {
  constexpr int kWarps = Tile::kThreads / 32;
  constexpr int kEach = Tile::kBlockN / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rows = min(Tile::kBlockM, gemm.m - part.row);
  float* const c = gemm.c + part.batch * gemm.stride_c + part.row * gemm.ldc + part.col;
  const int cols = gemm.n - part.col;
  if (part.split == 1 && gemm.beta == 0 && cols >= Tile::kBlockN) {
    StoreWholeRows<Tile>(gemm, sums, rows, c);
    return;
  }
  const auto first_of = [&](uint32_t rank) {
    return static_cast<int>(part.split > 1 ? gemm.split.Quotient(rank * Tile::kBlockM)
                                           : rank * Tile::kBlockM);
  };
  const int end = min(rows, first_of(part.rank + 1));
#pragma unroll 2
  for (int r = first_of(part.rank) + static_cast<int>(threadIdx.x) / 32; r < end; r += kWarps) {
    float values[kEach] = {};
    for (int block = 0; block < part.split; ++block) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const float* const from = sums + r * Tile::kSumPitch + i * 32 + lane;
        values[i] += part.split > 1 ? LoadFromBlock(from, block) : *from;
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

// Undoes the scaling. Nearly always one multiplication is enough: both powers' inverse is a float.
template <int kSums>
__device__ inline void UnscaleFused(float2 powers, float (&sums)[kSums]) {
  const float inverse_a = InverseOfPower(powers.x);
  const float inverse_b = InverseOfPower(powers.y);
  const float inverse = inverse_a * inverse_b;
  if (inverse >= FLT_MIN && inverse <= FLT_MAX) {
#pragma unroll
    for (float& sum : sums) sum *= inverse;
  } else {
#pragma unroll
    for (float& sum : sums) sum = sum * inverse_a * inverse_b;
  }
}

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    SplitFusedProduct(const __grid_constant__ FusedGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kSums = Tile::kGroupCols / 2;
  extern __shared__ char raw[];
  char* const shared = raw + (1024 - SharedAddress(raw) % 1024) % 1024;
  const FusedPart part = FusedPartOf<Tile>(gemm);
  const int thread = static_cast<int>(threadIdx.x);
  float sums[kSums];
  const float2 powers = SumFused<Tile>(gemm, part, SharedAddress(shared), sums);

  // Nearly always all sums suffice, which takes two instructions of each to see.
  const int most_small = 2 * (part.end - part.begin);
  bool all_suffice = true;
#pragma unroll
  for (float sum : sums) all_suffice = all_suffice && FusedSuffices(sum, most_small);
  uint64_t bad = 0;
  if (!all_suffice) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      const int2 place = FusedPlaceOf<Tile>(thread, i);
      if (!FusedSuffices(sums[i], most_small) && part.row + place.x < gemm.m &&
          part.col + place.y < gemm.n) {
        bad |= uint64_t{1} << i;
      }
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
    UnscaleFused(powers, sums);
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
  if (part.split == 1) {
    __syncthreads();
    StoreFused<Tile>(gemm, part, kept);
  } else if (gemm.partial != nullptr) {
    __syncthreads();
    LetNextKernelBegin();
    StorePartial<Tile>(gemm, kept);
  } else {
    SyncCluster();
    StoreFused<Tile>(gemm, part, kept);
    SyncCluster();  // No block leaves sums that another one reads.
  }
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_KERNEL_H_

// The tile of C that a block computes from pairs of FP16 matrices (split_operand.h) with wgmma:
// hi * hi + hi * lo + lo * hi. What the tile has in common with tensor_tile.h is taken from there.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_

#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/split_operand.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// kSeparateSums: hi * hi has accumulators of its own, which are added to the FP32 sums every
// kStepsToPromote steps while the other two products run. Without, all three use the same, which
// leaves registers for 192 columns.
template <int kColumns, int kPipelineStages, int kClusterBlocks, bool kSeparateSums,
          OperandLayout kMajorOfA, OperandLayout kMajorOfB>
struct SplitTile {
  using Element = __half;
  using Out = float;
  static constexpr OperandLayout kMajorA = kMajorOfA;
  static constexpr OperandLayout kMajorB = kMajorOfB;
  static constexpr int kBlockM = kConsumers * kMmaRows;
  static constexpr int kBlockN = kColumns;
  static constexpr int kBlockK = kSwizzleBytes / static_cast<int>(sizeof(Element));
  static constexpr int kMmaK = 16;
  static constexpr int kStages = kPipelineStages;
  static constexpr int kCluster = kClusterBlocks;
  static constexpr bool kSeparate = kSeparateSums;
  // Sums of wgmma are cut off toward zero: after 128 of k they go on in FP32, rounded to nearest.
  static constexpr int kStepsToPromote = kSeparate ? 2 : 1;

  // Of hi; lo follows it.
  static constexpr int kHalfBytesA = kBlockM * kSwizzleBytes;
  static constexpr int kHalfBytesB = kBlockN * kSwizzleBytes;
  static constexpr int kBytesA = 2 * kHalfBytesA;
  static constexpr int kBytesB = 2 * kHalfBytesB;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  static constexpr int kPanelBytes = kBlockK * kSwizzleBytes;

  static constexpr int kOutElements = kSwizzleBytes / static_cast<int>(sizeof(Out));
  static constexpr int kOutBytes = kMmaRows * kSwizzleBytes;
  static constexpr int kOutBuffers = 2;
  static constexpr int kOutOffset = kStages * kStageBytes;
  static constexpr int kBarrierOffset = kOutOffset + kConsumers * kOutBuffers * kOutBytes;
  static constexpr int kSharedBytes =
      kBarrierOffset + 2 * kStages * static_cast<int>(sizeof(Mbarrier)) + 1024;
};

// An operand in FP32, for the sums that its pairs are not good enough for.
struct Fp32Operand {
  const float* data;
  int64_t mn_stride, k_stride, batch_stride;
};

struct SplitGemm : TensorGemm {
  Fp32Operand a_in_fp32, b_in_fp32;
  const SplitScale* scales_of_a;  // Matrix after matrix, without gaps.
  const SplitScale* scales_of_b;
};

// The tensor maps of a pair.
struct SplitMaps {
  CUtensorMap hi, lo;
};

// Starts the copies of one stage. Of B each block of the cluster loads its part for all of them.
template <typename Tile>
__device__ inline void LoadSplitStage(const SplitMaps& a, const SplitMaps& b, const SplitGemm& gemm,
                                      const TensorShared<Tile>& shared, int stage, int row, int col,
                                      int k, int batch, uint32_t rank) {
  constexpr int kPanel = kSwizzleBytes / static_cast<int>(sizeof(__half));
  constexpr uint16_t kAll = (1 << Tile::kCluster) - 1;
  Mbarrier& full = shared.Full(stage);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const CUtensorMap& map_a = half == 0 ? a.hi : a.lo;
    const CUtensorMap& map_b = half == 0 ? b.hi : b.lo;
    const uint32_t to_a = shared.A(stage) + half * Tile::kHalfBytesA;
    const uint32_t to_b = shared.B(stage) + half * Tile::kHalfBytesB;
    const int za = batch * gemm.a_moves;
    const int zb = batch * gemm.b_moves;
    if constexpr (Tile::kMajorA == OperandLayout::kKMajor) {
      CopyBox(map_a, k, row, za, to_a, full);
    } else {
#pragma unroll
      for (int i = 0; i < Tile::kBlockM / kPanel; ++i) {
        CopyBox(map_a, row + i * kPanel, k, za, to_a + i * Tile::kPanelBytes, full);
      }
    }
    const auto copy = [&](int x, int y, uint32_t to) {
      if constexpr (Tile::kCluster == 1) {
        CopyBox(map_b, x, y, zb, to, full);
      } else {
        CopyBoxTo(kAll, map_b, x, y, zb, to, full);
      }
    };
    if constexpr (Tile::kMajorB == OperandLayout::kKMajor) {
      const int first = static_cast<int>(rank) * (Tile::kBlockN / Tile::kCluster);
      copy(k, col + first, to_b + first * kSwizzleBytes);
    } else {
      // A part of the k of each panel: the panels of 192 columns are an odd number.
      const int first = static_cast<int>(rank) * (Tile::kBlockK / Tile::kCluster);
#pragma unroll
      for (int i = 0; i < Tile::kBlockN / kPanel; ++i) {
        copy(col + i * kPanel, k + first, to_b + i * Tile::kPanelBytes + first * kSwizzleBytes);
      }
    }
  }
}

// The descriptors of a consumer's operands in one stage.
struct SplitDescriptors {
  uint64_t a_hi, a_lo, b_hi, b_lo;
};

template <typename Tile>
__device__ inline SplitDescriptors DescriptorsOf(const TensorShared<Tile>& shared, int stage,
                                                 int consumer) {
  const uint32_t a = shared.A(stage) + consumer * kMmaRows * kSwizzleBytes;
  const uint32_t b = shared.B(stage);
  return {TileDescriptor<Tile::kMajorA>(a, Tile::kPanelBytes),
          TileDescriptor<Tile::kMajorA>(a + Tile::kHalfBytesA, Tile::kPanelBytes),
          TileDescriptor<Tile::kMajorB>(b, Tile::kPanelBytes),
          TileDescriptor<Tile::kMajorB>(b + Tile::kHalfBytesB, Tile::kPanelBytes)};
}

// Multiplies one stage of two of the four matrices.
template <typename Tile>
__device__ inline void MultiplyHalves(uint64_t a, uint64_t b, bool accumulate,
                                      float (&d)[Tile::kBlockN / 2]) {
  using Mma = Wgmma<__half, Tile::kBlockN, Tile::kMajorA, Tile::kMajorB>;
#pragma unroll
  for (int i = 0; i < Tile::kBlockK / Tile::kMmaK; ++i) {
    Mma::Multiply(a + i * DescriptorStep<Tile::kMajorA, __half>(),
                  b + i * DescriptorStep<Tile::kMajorB, __half>(), i > 0 || accumulate, d);
  }
}

template <int kCount>
__device__ inline void AddTo(float (&sums)[kCount], const float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) sums[i] += d[i];
}

// What a consumer needs to know of its rows and columns; in shared memory.
template <typename Tile>
struct SplitTileScales {
  float of_cols[Tile::kBlockN];
  int least_of_rows[4], least_of_cols[4], poor[4];  // Of each warp.
};

// A thread's part of the scales: two rows, and up to two columns.
struct ThreadScales {
  SplitScale rows[2];
  SplitScale cols[2];
};

// Loads them. Rows and columns outside C do no harm.
template <typename Tile>
__device__ inline ThreadScales LoadScales(const SplitGemm& gemm, int thread, int row, int col,
                                          int batch) {
  constexpr SplitScale kOutside = {1, 1 << 28};
  const SplitScale* const rows =
      gemm.scales_of_a + static_cast<int64_t>(batch) * gemm.a_moves * gemm.m;
  const SplitScale* const cols =
      gemm.scales_of_b + static_cast<int64_t>(batch) * gemm.b_moves * gemm.n;
  const int first = row + thread / 32 * 16 + thread % 32 / 4;
  ThreadScales scales;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    scales.rows[i] = first + 8 * i < gemm.m ? rows[first + 8 * i] : kOutside;
    const int c = thread + i * kWarpgroupThreads;
    scales.cols[i] = c < Tile::kBlockN && col + c < gemm.n ? cols[col + c] : kOutside;
  }
  return scales;
}

// Leaves the columns' scales in shared memory, and returns whether the pairs are good enough for
// the consumer's rows and columns. Called by the whole warpgroup.
template <typename Tile>
__device__ inline bool ShareScales(const ThreadScales& scales, int consumer, int thread,
                                   SplitTileScales<Tile>* shared) {
  const auto& rows = scales.rows;
  const auto& cols = scales.cols;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int c = thread + i * kWarpgroupThreads;
    if (c < Tile::kBlockN) shared->of_cols[c] = cols[i].inverse;
  }
  const int warp = thread / 32;
  const int least_of_rows = __reduce_min_sync(~0u, min(rows[0].range >> 1, rows[1].range >> 1));
  const int least_of_cols = __reduce_min_sync(~0u, min(cols[0].range >> 1, cols[1].range >> 1));
  const int poor =
      __any_sync(~0u, (rows[0].range | rows[1].range | cols[0].range | cols[1].range) & 1);
  if (thread % 32 == 0) {
    shared->least_of_rows[warp] = least_of_rows;
    shared->least_of_cols[warp] = least_of_cols;
    shared->poor[warp] = poor;
  }
  SyncWarpgroup(1 + consumer);
  const auto least = [](const int(&of)[4]) { return min(min(of[0], of[1]), min(of[2], of[3])); };
  const bool any_poor = shared->poor[0] || shared->poor[1] || shared->poor[2] || shared->poor[3];
  return !any_poor || least(shared->least_of_rows) + least(shared->least_of_cols) >= 0;
}

// Undoes the scaling.
template <typename Tile>
__device__ inline void Unscale(const float (&rows)[2], const float* cols, int thread,
                               float (&d)[Tile::kBlockN / 2]) {
#pragma unroll
  for (int j = 0; j < Tile::kBlockN / 8; ++j) {
    const float2 scale = *reinterpret_cast<const float2*>(&cols[8 * j + thread % 4 * 2]);
    d[4 * j] *= rows[0];
    d[4 * j + 1] *= rows[0];
    d[4 * j + 2] *= rows[1];
    d[4 * j + 3] *= rows[1];
    d[4 * j] *= scale.x;
    d[4 * j + 1] *= scale.y;
    d[4 * j + 2] *= scale.x;
    d[4 * j + 3] *= scale.y;
  }
}

// Computes a consumer's part of the tile from the operands as they are, on the FP32 units, into the
// registers where wgmma would leave it. `staging` is the consumer's shared memory for C. A step of
// k is loaded while the one before it is multiplied. Called by the whole warpgroup.
template <typename Tile>
__device__ inline void MultiplyInFp32(const SplitGemm& gemm, float* staging, int consumer,
                                      int thread, int row, int col, int batch,
                                      float (&d)[Tile::kBlockN / 2]) {
  constexpr int kStep = 8;
  constexpr int kLdA = kMmaRows + 1;
  constexpr int kLdB = Tile::kBlockN + 2;
  constexpr int kEachA = kStep * kMmaRows / kWarpgroupThreads;
  constexpr int kEachB = kStep * Tile::kBlockN / kWarpgroupThreads;
  static_assert(kStep * (kLdA + kLdB) * 4 <= Tile::kOutBuffers * Tile::kOutBytes, "too small");
  constexpr bool kKMajorA = Tile::kMajorA == OperandLayout::kKMajor;
  constexpr bool kKMajorB = Tile::kMajorB == OperandLayout::kKMajor;
  float* const a_tile = staging;
  float* const b_tile = staging + kStep * kLdA;
  const Fp32Operand& a = gemm.a_in_fp32;
  const Fp32Operand& b = gemm.b_in_fp32;
  const float* const from_a = a.data + batch * a.batch_stride + row * a.mn_stride;
  const float* const from_b = b.data + batch * b.batch_stride + col * b.mn_stride;
  float next_a[kEachA], next_b[kEachB];
  const auto load = [&](int first_k) {
#pragma unroll
    for (int i = 0; i < kEachA; ++i) {
      const int e = thread + i * kWarpgroupThreads;
      const int k = first_k + (kKMajorA ? e % kStep : e / kMmaRows);
      const int mn = kKMajorA ? e / kStep : e % kMmaRows;
      next_a[i] = k < gemm.k && row + mn < gemm.m ? from_a[mn * a.mn_stride + k * a.k_stride] : 0;
    }
#pragma unroll
    for (int i = 0; i < kEachB; ++i) {
      const int e = thread + i * kWarpgroupThreads;
      const int k = first_k + (kKMajorB ? e % kStep : e / Tile::kBlockN);
      const int mn = kKMajorB ? e / kStep : e % Tile::kBlockN;
      next_b[i] = k < gemm.k && col + mn < gemm.n ? from_b[mn * b.mn_stride + k * b.k_stride] : 0;
    }
  };
#pragma unroll
  for (float& sum : d) sum = 0;
  if (thread == 0) WaitUntilStoresHaveRead<0>();
  load(0);
#pragma unroll 1
  for (int first_k = 0; first_k < gemm.k; first_k += kStep) {
    SyncWarpgroup(1 + consumer);  // All have read the step before.
#pragma unroll
    for (int i = 0; i < kEachA; ++i) {
      const int e = thread + i * kWarpgroupThreads;
      a_tile[kKMajorA ? e % kStep * kLdA + e / kStep : e / kMmaRows * kLdA + e % kMmaRows] =
          next_a[i];
    }
#pragma unroll
    for (int i = 0; i < kEachB; ++i) {
      const int e = thread + i * kWarpgroupThreads;
      b_tile[kKMajorB ? e % kStep * kLdB + e / kStep
                      : e / Tile::kBlockN * kLdB + e % Tile::kBlockN] = next_b[i];
    }
    SyncWarpgroup(1 + consumer);
    load(first_k + kStep);
    const int r = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll 1
    for (int k = 0; k < kStep; ++k) {
      const float a0 = a_tile[k * kLdA + r];
      const float a1 = a_tile[k * kLdA + r + 8];
#pragma unroll
      for (int j = 0; j < Tile::kBlockN / 8; ++j) {
        const float2 pair =
            *reinterpret_cast<const float2*>(&b_tile[k * kLdB + 8 * j + thread % 4 * 2]);
        d[4 * j] = fmaf(a0, pair.x, d[4 * j]);
        d[4 * j + 1] = fmaf(a0, pair.y, d[4 * j + 1]);
        d[4 * j + 2] = fmaf(a1, pair.x, d[4 * j + 2]);
        d[4 * j + 3] = fmaf(a1, pair.y, d[4 * j + 3]);
      }
    }
  }
  SyncWarpgroup(1 + consumer);  // C may be staged here.
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_

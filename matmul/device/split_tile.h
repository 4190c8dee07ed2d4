// The tile of C that a block computes from pairs of FP16 matrices (split_pair.h) with wgmma:
// hi * hi + hi * lo + lo * hi. What the tile has in common with tensor_tile.h is taken from there.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_

#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/split_pair.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Sums of wgmma are cut off toward zero: after each stage, 64 of k, they are added to sums in FP32,
// which are rounded to nearest. kSeparateSums: hi * hi has accumulators of its own, which are added
// while the other two products run; these are so much smaller that they go on to the end. Without,
// all three use the same, which leaves registers for 192 columns.
template <int kColumns, int kPipelineStages, int kClusterBlocks, bool kSeparateSums,
          OperandLayout kMajorOfA, OperandLayout kMajorOfB>
struct SplitTile {
  using Element = __half;
  using Out = float;
  using Accumulator = float;
  static constexpr bool kAInRegisters = false;
  static constexpr OperandLayout kMajorA = kMajorOfA;
  static constexpr OperandLayout kMajorB = kMajorOfB;
  static constexpr int kBlockM = kConsumers * kMmaRows;
  static constexpr int kBlockN = kColumns;
  static constexpr int kBlockK = kSwizzleBytes / static_cast<int>(sizeof(Element));
  static constexpr int kMmaK = 16;
  static constexpr int kStages = kPipelineStages;
  static constexpr int kCluster = kClusterBlocks;
  static constexpr bool kSeparate = kSeparateSums;

  // Of hi; lo follows it.
  static constexpr int kHalfBytesA = kBlockM * kSwizzleBytes;
  static constexpr int kHalfBytesB = kBlockN * kSwizzleBytes;
  static constexpr int kBytesA = 2 * kHalfBytesA;
  static constexpr int kBytesB = 2 * kHalfBytesB;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  static constexpr int kPanelBytes = kBlockK * kSwizzleBytes;

  // Rows of the boxes that the TMA loads of operands as they are stored. Of B each block of a
  // cluster loads a part.
  static constexpr int kBoxRowsA = kMajorA == OperandLayout::kKMajor ? kBlockM : kBlockK;
  static constexpr int kBoxRowsB =
      (kMajorB == OperandLayout::kKMajor ? kBlockN : kBlockK) / kCluster;

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

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_

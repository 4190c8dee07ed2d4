// The tile of C that a block computes from the matrices of a scheme's parts (split_scheme.h) with
// wgmma. What the tile has in common with tensor_tile.h is taken from there.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_

#include <cuda.h>

#include <cstdint>

#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Sums of wgmma are cut off toward zero: after each kPromotedK they are added to sums in FP32,
// which are rounded to nearest. kSeparateSums: the product of the largest parts has accumulators of
// its own, which are added while the other products run; these are so much smaller that they go on
// to the end. Without, all use the same, which leaves registers for 192 columns.
template <typename SchemeType, int kColumns, int kPipelineStages, int kClusterBlocks,
          bool kSeparateSums, OperandLayout kMajorOfA, OperandLayout kMajorOfB>
struct SplitTile {
  using Scheme = SchemeType;
  using Element = typename Scheme::Element;
  using Out = float;
  using Accumulator = float;
  static constexpr bool kAInRegisters = false;
  // Of the operands in FP32, and of their parts.
  static constexpr OperandLayout kFp32MajorA = kMajorOfA;
  static constexpr OperandLayout kFp32MajorB = kMajorOfB;
  static constexpr bool kPartsKMajor = Scheme::kForm.k_major;
  static constexpr OperandLayout kMajorA = kPartsKMajor ? OperandLayout::kKMajor : kMajorOfA;
  static constexpr OperandLayout kMajorB = kPartsKMajor ? OperandLayout::kKMajor : kMajorOfB;
  // Of a part, in shared memory. Half as much of INT8: stages are used up twice as fast, and four
  // small ones are refilled in time where two large ones were not (8192: 5.85 to 4.22 ms).
  static constexpr int kRowBytes = sizeof(Element) == 1 ? 64 : kSwizzleBytes;
  static constexpr int kBlockM = kConsumers * kMmaRows;
  static constexpr int kBlockN = kColumns;
  static constexpr int kBlockK = kRowBytes / static_cast<int>(sizeof(Element));
  static constexpr int kMmaK = 32 / static_cast<int>(sizeof(Element));
  static constexpr int kSteps = kBlockK / kMmaK;
  // The k of a sum of wgmma: whole stages. Twice as many are twice what they cut off.
  static constexpr int kPromotedK = kBlockK;
  static_assert(kPromotedK % kBlockK == 0);
  static constexpr int kStages = kPipelineStages;
  static constexpr int kCluster = kClusterBlocks;
  static constexpr bool kSeparate = kSeparateSums;
  // Also a k below the scheme's: see SumFinely().
  static constexpr bool kSumsShortK = kSeparate && Scheme::kForm.least_k == kFp16PairForm.least_k;

  // The parts of a stage follow each other. Parts of different types have stages of their own.
  static constexpr int kParts = Scheme::kForm.parts;
  static constexpr int kPartsOfStage = Scheme::kForm.mixed ? 1 : kParts;
  static constexpr int kPartBytesA = kBlockM * kRowBytes;
  static constexpr int kPartBytesB = kBlockN * kRowBytes;
  static constexpr int kBytesA = kPartsOfStage * kPartBytesA;
  static constexpr int kBytesB = kPartsOfStage * kPartBytesB;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  static constexpr int kPanelBytes = kBlockK * kSwizzleBytes;

  // Rows of the boxes that the TMA loads of operands as they are stored. Of B each block of a
  // cluster loads a part.
  static constexpr int kBoxRowsA = kMajorA == OperandLayout::kKMajor ? kBlockM : kBlockK;
  static constexpr int kBoxRowsB =
      (kMajorB == OperandLayout::kKMajor ? kBlockN : kBlockK) / kCluster;

  static constexpr int kOutElements = kSwizzleBytes / static_cast<int>(sizeof(Out));
  static constexpr int kOutRows = kMmaRows;
  static constexpr int kOutBytes = kOutRows * kSwizzleBytes;
  static constexpr int kOutBuffers = 2;
  static constexpr int kOutOffset = kStages * kStageBytes;
  static constexpr int kBarrierOffset = kOutOffset + kConsumers * kOutBuffers * kOutBytes;
  static constexpr int kSharedBytes =
      kBarrierOffset + 2 * kStages * static_cast<int>(sizeof(Mbarrier)) + 1024;
};

// An operand in FP32, for the sums that its parts are not good enough for.
struct Fp32Operand {
  const float* data;
  int64_t mn_stride, k_stride, batch_stride;
};

struct SplitGemm : TensorGemm {
  Fp32Operand a_in_fp32, b_in_fp32;
  const SplitScale* scales_of_a;  // Matrix after matrix, without gaps.
  const SplitScale* scales_of_b;
};

// The tensor maps of an operand's parts.
template <typename Scheme>
struct SplitMaps {
  CUtensorMap part[Scheme::kForm.parts];
};

// Starts the copies of one stage. Of B each block of the cluster loads its part for all of them.
template <typename Tile>
__device__ inline void LoadSplitStage(const SplitMaps<typename Tile::Scheme>& a,
                                      const SplitMaps<typename Tile::Scheme>& b,
                                      const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                      int stage, int row, int col, int k, int batch,
                                      uint32_t rank) {
  constexpr int kPanel = kSwizzleBytes / static_cast<int>(sizeof(typename Tile::Element));
  constexpr uint16_t kAll = (1 << Tile::kCluster) - 1;
  Mbarrier& full = shared.Full(stage);
#pragma unroll
  for (int part = 0; part < Tile::kParts; ++part) {
    const CUtensorMap& map_a = a.part[part];
    const CUtensorMap& map_b = b.part[part];
    const uint32_t to_a = shared.A(stage) + part * Tile::kPartBytesA;
    const uint32_t to_b = shared.B(stage) + part * Tile::kPartBytesB;
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
      copy(k, col + first, to_b + first * Tile::kRowBytes);
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

// The descriptors of a consumer's largest parts in one stage.
struct SplitDescriptors {
  uint64_t a, b;
};

template <typename Tile>
__device__ inline SplitDescriptors DescriptorsOf(const TensorShared<Tile>& shared, int stage,
                                                 int consumer) {
  const uint32_t a = shared.A(stage) + consumer * kMmaRows * Tile::kRowBytes;
  return {TileDescriptor<Tile::kMajorA, Tile::kRowBytes>(a, Tile::kPanelBytes),
          TileDescriptor<Tile::kMajorB, Tile::kRowBytes>(shared.B(stage), Tile::kPanelBytes)};
}

// Multiplies what an instruction takes of a stage, of the part i of A and the part j of B.
template <typename Tile>
__device__ inline void MultiplyStep(const SplitDescriptors& of, int i, int j, int step,
                                    bool accumulate,
                                    typename Tile::Scheme::Sum (&d)[Tile::kBlockN / 2]) {
  using Element = typename Tile::Element;
  using Mma = Wgmma<Element, Tile::kBlockN, Tile::kMajorA, Tile::kMajorB>;
  const uint64_t a = of.a + i * (Tile::kPartBytesA >> 4);
  const uint64_t b = of.b + j * (Tile::kPartBytesB >> 4);
  Mma::Multiply(a + step * DescriptorStep<Tile::kMajorA, Element>(),
                b + step * DescriptorStep<Tile::kMajorB, Element>(), accumulate, d);
}

// Multiplies all of a stage.
template <typename Tile>
__device__ inline void MultiplyParts(const SplitDescriptors& of, int i, int j, bool accumulate,
                                     typename Tile::Scheme::Sum (&d)[Tile::kBlockN / 2]) {
#pragma unroll
  for (int step = 0; step < Tile::kSteps; ++step) {
    MultiplyStep<Tile>(of, i, j, step, step > 0 || accumulate, d);
  }
}

// Multiplies all but the largest parts with each other.
template <typename Tile>
__device__ inline void MultiplySmallParts(const SplitDescriptors& of, bool accumulate,
                                          float (&d)[Tile::kBlockN / 2]) {
  ForEachSmallProduct<typename Tile::Scheme>([&](int i, int j) {
    MultiplyParts<Tile>(of, i, j, accumulate, d);
    accumulate = true;
  });
}

// Multiplies one stage of all parts, the products of each order into sums of their own.
template <typename Tile>
__device__ inline void MultiplyByOrder(const SplitDescriptors& of,
                                       typename Tile::Scheme::Sum (&d)[3][Tile::kBlockN / 2]) {
  using Element = typename Tile::Element;
  using Mma = Wgmma<Element, Tile::kBlockN, Tile::kMajorA, Tile::kMajorB>;
  static_assert(Tile::kParts == 3 && Tile::Scheme::kMostOrder == 2, "six products");
#pragma unroll
  for (int step = 0; step < Tile::kBlockK / Tile::kMmaK; ++step) {
    const uint64_t a = of.a + step * DescriptorStep<Tile::kMajorA, Element>();
    const uint64_t b = of.b + step * DescriptorStep<Tile::kMajorB, Element>();
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
      for (int j = 0; i + j < 3; ++j) {
        Mma::Multiply(a + i * (Tile::kPartBytesA >> 4), b + j * (Tile::kPartBytesB >> 4), true,
                      d[i + j]);
      }
    }
  }
}

template <int kCount>
__device__ inline void AddTo(float (&sums)[kCount], const float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) sums[i] += d[i];
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_TILE_H_

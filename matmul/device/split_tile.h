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

// What a consumer needs to know of its rows and columns; in shared memory.
template <typename Tile>
struct TileScales {
  SplitScale rows[kMmaRows];
  SplitScale cols[Tile::kBlockN];
  int least_of_rows[4], least_of_cols[4], poor[4];  // Of each warp.
};

// Starts a copy of four bytes to shared memory, of which FinishCopies() waits for the thread's own.
__device__ inline void CopyWord(const uint32_t* from, uint32_t* to) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SharedAddress(to)), "l"(from)
               : "memory");
}
__device__ inline void FinishCopies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Starts the copy of a tile's scales. Called by the whole warpgroup, as FinishScales() is.
template <typename Tile>
__device__ inline void StartScales(const SplitGemm& gemm, int thread, int row, int col, int batch,
                                   TileScales<Tile>* scales) {
  const SplitScale* const rows =
      gemm.scales_of_a + static_cast<int64_t>(batch) * gemm.a_moves * gemm.m + row;
  const SplitScale* const cols =
      gemm.scales_of_b + static_cast<int64_t>(batch) * gemm.b_moves * gemm.n + col;
  if (thread < kMmaRows && row + thread < gemm.m) CopyWord(rows + thread, &scales->rows[thread]);
#pragma unroll
  for (int c = thread; c < Tile::kBlockN; c += kWarpgroupThreads) {
    if (col + c < gemm.n) CopyWord(cols + c, &scales->cols[c]);
  }
}

// Waits for the scales, and returns whether the pairs are good enough for the rows and columns.
template <typename Tile>
__device__ inline bool FinishScales(const SplitGemm& gemm, int consumer, int thread, int row,
                                    int col, TileScales<Tile>* scales) {
  constexpr int kMost = 1 << 24;
  int least_of_rows = kMost, least_of_cols = kMost, poor = 0;
  const auto look_at = [&](SplitScale scale, int* least) {
    *least = min(*least, RangeOf(scale) >> 1);
    poor |= scale & 1;
  };
  FinishCopies();  // A thread looks at those that it has copied.
  if (thread < kMmaRows && row + thread < gemm.m) look_at(scales->rows[thread], &least_of_rows);
#pragma unroll
  for (int c = thread; c < Tile::kBlockN; c += kWarpgroupThreads) {
    if (col + c < gemm.n) look_at(scales->cols[c], &least_of_cols);
  }
  const int warp = thread / 32;
  scales->least_of_rows[warp] = __reduce_min_sync(~0u, least_of_rows);
  scales->least_of_cols[warp] = __reduce_min_sync(~0u, least_of_cols);
  scales->poor[warp] = __any_sync(~0u, poor);
  SyncWarpgroup(1 + consumer);
  least_of_rows = least_of_cols = kMost;
  poor = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    least_of_rows = min(least_of_rows, scales->least_of_rows[i]);
    least_of_cols = min(least_of_cols, scales->least_of_cols[i]);
    poor |= scales->poor[i];
  }
  return poor == 0 || least_of_rows + least_of_cols >= 0;
}

// Undoes the scaling.
template <typename Tile>
__device__ inline void Unscale(const TileScales<Tile>& scales, int thread,
                               float (&d)[Tile::kBlockN / 2]) {
  const int first = thread / 32 * 16 + thread % 32 / 4;
  const float rows[2] = {InverseOf(scales.rows[first]), InverseOf(scales.rows[first + 8])};
#pragma unroll
  for (int j = 0; j < Tile::kBlockN / 8; ++j) {
    const uint2 pair = *reinterpret_cast<const uint2*>(&scales.cols[8 * j + thread % 4 * 2]);
    const float cols[2] = {InverseOf(pair.x), InverseOf(pair.y)};
#pragma unroll
    for (int i = 0; i < 4; ++i) d[4 * j + i] = d[4 * j + i] * rows[i / 2] * cols[i % 2];
  }
}

// Loads kStep of k of 64-row panels of an operand into registers, and leaves them in shared memory
// as [k][mn]. Of an element that a thread has, `i` tells which.
template <int kMn, OperandLayout kMajor>
class Fp32Stage {
 public:
  static constexpr int kStep = 8;
  // Odd for the stores along k of a K-major operand, and even for the loads of pairs.
  static constexpr int kLd = kMn + 2;

  __device__ Fp32Stage(const Fp32Operand& operand, int batch, int first, int count, int k,
                       int thread)
      : mn_(kKMajor ? thread / kStep : thread % kPanel),
        k_(kKMajor ? thread % kStep : thread / kPanel),
        left_(count - first - mn_),
        left_k_(k - k_),
        ld_(kKMajor ? operand.mn_stride : operand.k_stride),
        from_(operand.data + batch * operand.batch_stride + (first + mn_) * operand.mn_stride +
              k_ * operand.k_stride) {}

  // Loads the next kStep of k.
  __device__ void Load() {
    const float* from = from_;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if constexpr (kKMajor) {
        values_[i] = left_k_ > 0 && i * kRowsAtOnce < left_ ? *from : 0;
        from += kRowsAtOnce * ld_;
      } else {
        // Panel after panel of the same k.
        const int panel = i % kPanels;
        const int k = i / kPanels * kKAtOnce;
        values_[i] = k < left_k_ && panel * kPanel < left_ ? from[panel * kPanel] : 0;
        if (panel == kPanels - 1) from += kKAtOnce * ld_;
      }
    }
    left_k_ -= kStep;
    from_ += kKMajor ? kStep : kStep * ld_;
  }

  __device__ void Store(float* to) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if constexpr (kKMajor) {
        to[k_ * kLd + mn_ + i * kRowsAtOnce] = values_[i];
      } else {
        to[(k_ + i / kPanels * kKAtOnce) * kLd + mn_ + i % kPanels * kPanel] = values_[i];
      }
    }
  }

 private:
  static constexpr bool kKMajor = kMajor == OperandLayout::kKMajor;
  static constexpr int kPanel = 64;
  static constexpr int kPanels = kMn / kPanel;
  static constexpr int kEach = kStep * kMn / kWarpgroupThreads;
  static constexpr int kRowsAtOnce = kWarpgroupThreads / kStep;
  static constexpr int kKAtOnce = kWarpgroupThreads / kPanel;

  int mn_, k_;
  int left_, left_k_;  // Rows or columns, and k, from the thread's first element on.
  int64_t ld_;
  const float* from_;
  float values_[kEach];
};

// Computes a consumer's part of the tile from the operands as they are, on the FP32 units, into the
// registers where wgmma would leave it. `staging` is the consumer's shared memory for C. A step of
// k is loaded while the one before it is multiplied. Called by the whole warpgroup.
template <typename Tile>
__device__ inline void MultiplyInFp32(const SplitGemm& gemm, float* staging, int consumer,
                                      int thread, int row, int col, int batch,
                                      float (&d)[Tile::kBlockN / 2]) {
  using StageA = Fp32Stage<kMmaRows, Tile::kMajorA>;
  using StageB = Fp32Stage<Tile::kBlockN, Tile::kMajorB>;
  constexpr int kStep = StageA::kStep;
  static_assert(kStep * (StageA::kLd + StageB::kLd) * 4 <= Tile::kOutBuffers * Tile::kOutBytes,
                "too small");
  StageA a(gemm.a_in_fp32, batch * gemm.a_moves, row, gemm.m, gemm.k, thread);
  StageB b(gemm.b_in_fp32, batch * gemm.b_moves, col, gemm.n, gemm.k, thread);
  float* const a_tile = staging;
  float* const b_tile = staging + kStep * StageA::kLd;
  const float* const a_of_thread = a_tile + thread / 32 * 16 + thread % 32 / 4;
  const float* const b_of_thread = b_tile + thread % 4 * 2;
#pragma unroll
  for (float& sum : d) sum = 0;
  if (thread == 0) WaitUntilStoresHaveRead<0>();
  a.Load();
  b.Load();
#pragma unroll 1
  for (int first_k = 0; first_k < gemm.k; first_k += kStep) {
    SyncWarpgroup(1 + consumer);  // All have read the step before.
    a.Store(a_tile);
    b.Store(b_tile);
    SyncWarpgroup(1 + consumer);
    a.Load();
    b.Load();
#pragma unroll 2
    for (int k = 0; k < kStep; ++k) {
      const float a0 = a_of_thread[k * StageA::kLd];
      const float a1 = a_of_thread[k * StageA::kLd + 8];
#pragma unroll
      for (int j = 0; j < Tile::kBlockN / 8; ++j) {
        const float2 pair = *reinterpret_cast<const float2*>(&b_of_thread[k * StageB::kLd + 8 * j]);
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

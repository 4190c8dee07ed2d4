// A consumer's part of a tile on the FP32 units, where parts are not good enough for its numbers.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_IN_FP32_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_IN_FP32_H_

#include <cstdint>

#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/split_tile.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

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
__device__ inline void MultiplyInFp32(const Fp32Gemm& gemm, float* staging, int consumer,
                                      int thread, int row, int col, int batch,
                                      float (&d)[Tile::kBlockN / 2]) {
  using StageA = Fp32Stage<kMmaRows, Tile::kFp32MajorA>;
  using StageB = Fp32Stage<Tile::kBlockN, Tile::kFp32MajorB>;
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

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_IN_FP32_H_

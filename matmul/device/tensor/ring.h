// The kernel of tensor cores for few rows or columns whose operands have any alignment: vectors of
// both operands arrive in a ring of stages in shared memory, as memory has them, while mma.sync
// multiplies those that are there.
//
// Memory answers after a microsecond. What tensor_direct has under way are a warp's registers, and
// a step waits for memory; here several stages are.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor/finished.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/ring_copy.h"
#include "matmul/device/tensor/ring_plan.h"
#include "matmul/device/tensor/sums.h"

namespace stridewise {

// Warps divide a stage's k: each has 16 of it, and sums of the whole tile.
constexpr int kRingWarps = kRingThreads / 32;
static_assert(kRingK == kRingWarps * kMmaDepth);

// kRingRows rows of the many by kFewRows of the few, either of which may lie along k.
template <typename ElementType, int kFewRows, bool kManyLieAlongK, bool kFewLieAlongK>
struct RingTile {
  using Element = ElementType;
  static constexpr int kFew = kFewRows;
  static constexpr bool kManyAlongK = kManyLieAlongK;
  static constexpr bool kFewAlongK = kFewLieAlongK;

  static constexpr int kManyBytes = RingPart<kRingRows>::kBytes;
  static constexpr int kStageBytes = kManyBytes + RingPart<kFew>::kBytes;
  static constexpr int kPitch = kRingRows + 1;  // Of sums, a row of the few after the other.
  static constexpr int kSums = kFew * kPitch;   // Of a warp.
  static constexpr int kSumsBytes = kRingWarps * kSums * static_cast<int>(sizeof(float));
};

struct RingGemm {
  GeneralOperand many, few;
  int k;
  int steps, steps_of_part;  // Of kRingK: of all of k, and of a block.
  int split;                 // Blocks of a cluster, which divide k.
  int out_bytes;             // Of an element of C: 4, or 2 for the type of the operands.
  TensorOutput c;            // `transposed`: the many rows are columns of C.
};

template <typename Tile>
using RingSums = float[kRingRows / kMmaM][Tile::kFew / kMmaN][4];

// Adds to `d` the products of 16 of k of the stage, from the `eights`th eight on.
template <typename Tile, typename ManyLane, typename FewLane>
__device__ inline void MultiplyRing(const ManyLane& many, const char* of_many, const FewLane& few,
                                    const char* of_few, int eights, RingSums<Tile>& d) {
  uint32_t b[Tile::kFew / kMmaN][2];
#pragma unroll
  for (int j = 0; j < Tile::kFew / kMmaN; ++j) {
    b[j][0] = few.Pair(of_few, j, eights);
    b[j][1] = few.Pair(of_few, j, eights + 1);
  }
#pragma unroll
  for (int i = 0; i < kRingRows / kMmaM; ++i) {
    const uint32_t a[4] = {many.Pair(of_many, 2 * i, eights), many.Pair(of_many, 2 * i + 1, eights),
                           many.Pair(of_many, 2 * i, eights + 1),
                           many.Pair(of_many, 2 * i + 1, eights + 1)};
#pragma unroll
    for (int j = 0; j < Tile::kFew / kMmaN; ++j) {
      MultiplyAdd(a, b[j], d[i][j], typename Tile::Element());
    }
  }
}

// Adds to `d` the warp's part of steps first to last - 1 of the tile that begins at (row, col).
template <typename Tile>
__device__ inline void SumInRing(const RingGemm& gemm, int64_t batch, int64_t row, int64_t col,
                                 int first, int last, char* stages, RingSums<Tile>& d) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int k = first * kRingK;
  RingCopy<kRingRows> copy_many(gemm.many, batch, row, k, gemm.k);
  RingCopy<Tile::kFew> copy_few(gemm.few, batch, col, k, gemm.k);
  const RingLane<kRingRows, Tile::kManyAlongK> many(gemm.many, batch, row, k);
  const RingLane<Tile::kFew, Tile::kFewAlongK> few(gemm.few, batch, col, k);
  int filled = first;  // Stages whose copies have begun.
  int fill = 0;        // Where the next of them goes.
  const auto start = [&] {
    if (filled < last) {
      char* const stage = stages + fill * Tile::kStageBytes;
      copy_many.Start(stage);
      copy_few.Start(stage + Tile::kManyBytes);
    }
    __pipeline_commit();
    ++filled;
    fill = fill + 1 == kRingStages ? 0 : fill + 1;
  };
#pragma unroll 1
  for (int i = 0; i < kRingStages - 1; ++i) start();
  int at = 0;
#pragma unroll 1
  for (int step = first; step < last; ++step) {
    __pipeline_wait_prior(kRingStages - 2);
    __syncthreads();  // All threads' copies are there, and the stage before has been read.
    start();
    const char* const of_many = stages + at * Tile::kStageBytes;
    const char* const of_few = of_many + Tile::kManyBytes;
    if (step * kRingK + warp * kMmaDepth < gemm.k) {
      MultiplyRing<Tile>(many, of_many, few, of_few, 2 * warp, d);
    }
    at = at + 1 == kRingStages ? 0 : at + 1;
  }
  __pipeline_wait_prior(0);
}

// Stores block `rank`'s rows of the tile that begins at (row, col) of the product of the many and
// the few, neighbours of C by neighbouring lanes.
template <typename Tile>
__device__ inline void StoreRingSums(const float* sums, const RingGemm& gemm, int rank,
                                     int64_t batch, int64_t row, int64_t col) {
  const TensorOutput& c = gemm.c;
  const int own_rows = kRingRows / gemm.split;
  const int first = rank * own_rows;
  const auto rows = static_cast<int>(min(gemm.many.mn - row - first, int64_t{own_rows}));
  const auto cols = static_cast<int>(min(gemm.few.mn - col, int64_t{Tile::kFew}));
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < own_rows * Tile::kFew; i += kRingThreads) {
    const int r = c.transposed ? i % own_rows : i / Tile::kFew;
    const int s = c.transposed ? i / own_rows : i % Tile::kFew;
    if (r >= rows || s >= cols) continue;
    const float* const at = sums + s * Tile::kPitch + first + r;
    float total = *at;
    if (gemm.split > 1) {
      total = 0;
#pragma unroll 4
      for (int block = 0; block < gemm.split; ++block) total += LoadSum(SumsOfBlock(at, block));
    }
    const int64_t of_many = row + first + r;
    const int64_t of_few = col + s;
    StoreFinished<typename Tile::Element>(c, gemm.out_bytes, batch, c.transposed ? of_few : of_many,
                                          c.transposed ? of_many : of_few, total);
  }
}

// The blocks of a cluster divide k; there is a cluster in x for each tile of the many, in y for
// each of the few, and in z for each product of a batch.
template <typename Tile>
__global__ void __launch_bounds__(kRingThreads, RingResident(Tile::kFew))
    TensorRing(const __grid_constant__ RingGemm gemm) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ uint4 shared[];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rank = static_cast<int>(blockIdx.x) % gemm.split;
  const int64_t row = int64_t{blockIdx.x / gemm.split} * kRingRows;
  const int64_t col = int64_t{blockIdx.y} * Tile::kFew;
  const int first = rank * gemm.steps_of_part;
  const int last = min(first + gemm.steps_of_part, gemm.steps);
  RingSums<Tile> d = {};
  if (first < last) {
    SumInRing<Tile>(gemm, blockIdx.z, row, col, first, last, reinterpret_cast<char*>(shared), d);
  }
  __syncthreads();  // The stages have been read.
  auto* const sums = reinterpret_cast<float*>(shared);
  float* const own_sums = sums + warp * Tile::kSums;
#pragma unroll
  for (int m = 0; m < kRingRows / kMmaM; ++m) {
#pragma unroll
    for (int j = 0; j < Tile::kFew / kMmaN; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        own_sums[(j * kMmaN + lane % 4 * 2 + i % 2) * Tile::kPitch + m * kMmaM + lane / 4 +
                 i / 2 * 8] = d[m][j][i];
      }
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kFew * kRingRows; i += kRingThreads) {
    float* const at = sums + i / kRingRows * Tile::kPitch + i % kRingRows;
    float total = *at;
#pragma unroll
    for (int part = 1; part < kRingWarps; ++part) total += at[part * Tile::kSums];
    *at = total;
  }
  if (gemm.split > 1) {
    SyncCluster();
  } else {
    __syncthreads();
  }
  StoreRingSums<Tile>(sums, gemm, rank, blockIdx.z, row, col);
  if (gemm.split > 1) MeetCluster();  // No block ends while another one reads its sums.
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_H_

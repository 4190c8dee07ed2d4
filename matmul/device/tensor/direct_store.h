// What a block of direct.h computes, and how its warps' sums become elements of C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_STORE_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_STORE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/tensor/direct_plan.h"
#include "matmul/device/tensor/direct_rows.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor/finished.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/sums.h"

namespace stridewise {

constexpr int kDirectThreads = kDirectWarps * 32;

// kFew rows of the one operand by 64 for each warp of the other, which lies along k or not.
template <typename ElementType, bool kManyAlongK, int kFewRows>
struct DirectTile {
  using Element = ElementType;
  static constexpr bool kAlongK = kManyAlongK;
  static constexpr int kFew = kFewRows;
  static constexpr int kResident = DirectResident(kFew);

  using Sums = TileSums<kDirectRows, kFew>;
  static constexpr int kSumsOfWarp = Sums::kBytes / static_cast<int>(sizeof(float));
  static constexpr int kSharedBytes = kDirectWarps * (Sums::kBytes + kFew * kDirectK * 2);

  static_assert(kFew % 8 == 0 && Sums::kBytes % 16 == 0);
};

struct DirectGemm {
  GeneralOperand many, few;
  int k;
  int steps, steps_of_part;  // Of kDirectK: of all of k, and of a warp.
  int split, log_split;      // Blocks of a cluster.
  int warps_of_k;  // Warps that divide a block's k: 1, 2 or 4. The others have rows of their own.
  int log_warps_of_k;
  int out_bytes;   // Of an element of C: 4, or 2 for the type of the operands.
  TensorOutput c;  // `transposed`: the many rows are columns of C.
};

// Adds the sums of the warps that have the same rows to those of the first of them.
template <typename Tile>
__device__ inline void AddWarps(float* sums, int log_warps_of_k) {
  constexpr int kVector = 4;
  constexpr int kAcross = kDirectRows / kVector;
  constexpr int kVectors = Tile::kFew * kAcross;
  if (log_warps_of_k == 0) return;
  __syncthreads();
  const int vectors = (kVectors * kDirectWarps) >> log_warps_of_k;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += kDirectThreads) {
    const int in_group = i % kVectors;
    float* const first = sums + ((i / kVectors) << log_warps_of_k) * Tile::kSumsOfWarp +
                         in_group / kAcross * Tile::Sums::kPitch + in_group % kAcross * kVector;
    float4 total = *reinterpret_cast<const float4*>(first);
#pragma unroll 1
    for (int warp = 1; warp < 1 << log_warps_of_k; ++warp) {
      const auto part = *reinterpret_cast<const float4*>(first + warp * Tile::kSumsOfWarp);
      total.x += part.x;
      total.y += part.y;
      total.z += part.z;
      total.w += part.w;
    }
    *reinterpret_cast<float4*>(first) = total;
  }
}

// Stores block `rank`'s part of the tile that begins at (row, col) of the product of many rows by
// few columns, neighbours of C by neighbouring lanes.
template <typename Tile>
__device__ inline void StoreDirectSums(const float* sums, const DirectGemm& gemm, int rank,
                                       int64_t row, int64_t col, int64_t batch) {
  using Element = typename Tile::Element;
  constexpr int kElements = kDirectRows * Tile::kFew;
  const TensorOutput& c = gemm.c;
  const int of_block = kElements >> gemm.log_split;
#pragma unroll 1
  for (int group = 0; group < kDirectWarps >> gemm.log_warps_of_k; ++group) {
    const float* const of_group = sums + (group << gemm.log_warps_of_k) * Tile::kSumsOfWarp;
    const int64_t first_row = row + group * kDirectRows;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < of_block; i += kDirectThreads) {
      const int element = rank * of_block + i;
      const int r = c.transposed ? element % kDirectRows : element / Tile::kFew;
      const int s = c.transposed ? element / kDirectRows : element % Tile::kFew;
      const int64_t c_row = c.transposed ? col + s : first_row + r;
      const int64_t c_col = c.transposed ? first_row + r : col + s;
      if (c_row >= c.rows || c_col >= c.cols) continue;
      const float* const at =
          of_group + s * Tile::Sums::kPitch + DirectRows<Tile::kAlongK>::SlotOf(r);
      float total = *at;
      if (gemm.split > 1) {
        total = 0;
#pragma unroll 4
        for (int block = 0; block < gemm.split; ++block) total += LoadSum(SumsOfBlock(at, block));
      }
      StoreFinished<Element>(c, gemm.out_bytes, batch, c_row, c_col, total);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_STORE_H_

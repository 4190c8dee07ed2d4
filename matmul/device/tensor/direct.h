// The kernel of tensor cores for few rows or columns, with operands of any alignment: the operand
// with many rows goes from memory straight to the registers of mma.sync, in chunks of 16 bytes.
//
// An instruction may multiply any 16 of k, if both operands have the same ones in the same places.
// Of 32 of k the four lanes of a group so hold eight neighbours each, where mma would have pairs;
// and where the operand is stored along its rows instead, a chunk is eight neighbouring rows of one
// k, and two chunks are exchanged to pairs along k. Only the few rows, and sums, pass through
// shared memory.
//
// Small products wait for instructions, which come from a cold L2 as operands do: nothing here is
// there twice, and what is not at the end of a matrix has code of its own.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/tensor/chunk.h"
#include "matmul/device/tensor/direct_rows.h"
#include "matmul/device/tensor/direct_store.h"
#include "matmul/device/tensor/general_operand.h"

namespace stridewise {

// Brings the step at `k` of kFew rows to shared memory: lines of 32 of k, 0 where there are none.
// Called by the whole warp.
template <int kFew>
__device__ inline void StageFewRows(const GeneralOperand& from, const uint16_t* matrix, int64_t row,
                                    int k, int depth, uint16_t* staged) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const uintptr_t end = EndOf(from, matrix, depth);
  const int own_k = k + (from.k_major ? lane % 4 * 8 : lane);
  constexpr int kTogether = kFew < 16 ? 1 : 2;  // Chunks whose loads are under way together.
#pragma unroll 1
  for (int first = 0; first < kFew; first += 8 * kTogether) {
    Chunk chunks[kTogether];
    const uint16_t* at[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int64_t own_row = row + first + 8 * i + (from.k_major ? lane / 4 : 0);
      at[i] =
          matrix + (from.k_major ? own_row * from.ld + own_k : int64_t{own_k} * from.ld + own_row);
      const int64_t rows_left = from.mn - own_row;
      const int64_t k_left = depth - own_k;
      chunks[i].Load(at[i],
                     rows_left <= 0 || k_left <= 0 ? 0
                     : from.k_major                ? k_left
                                                   : rows_left,
                     end);
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      chunks[i].LoadTail(at[i]);
      const uint4 all = chunks[i].Elements();
      uint16_t* const to = staged + (first + 8 * i) * kDirectK;
      if (from.k_major) {
        *reinterpret_cast<uint4*>(to + lane / 4 * kDirectK + lane % 4 * 8) = all;
        continue;
      }
      const uint32_t w[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        to[j * kDirectK + lane] = static_cast<uint16_t>(w[j / 2] >> j % 2 * 16);
      }
    }
  }
}

// Adds to `d` the products of the warp's rows and the tile's columns, for steps first to last - 1.
template <typename Tile>
__device__ inline void SumDirectly(const DirectGemm& gemm, int64_t batch, int64_t row, int64_t col,
                                   int first, int last, uint16_t* staged,
                                   float (&d)[kDirectRows / kMmaM][Tile::kFew / kMmaN][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const uint16_t* const few = gemm.few.data + batch * gemm.few.stride;
  DirectRows<Tile::kAlongK> many(gemm.many, batch, row, first * kDirectK, gemm.k);
#pragma unroll 1
  for (int step = first; step < last; ++step) {
    many.Load();
    StageFewRows<Tile::kFew>(gemm.few, few, col, step * kDirectK, gemm.k, staged);
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t of_many[4][4];
      many.Fragments(half, of_many);
#pragma unroll
      for (int j = 0; j < Tile::kFew / kMmaN; ++j) {
        const auto of_few = *reinterpret_cast<const uint4*>(
            staged + (j * kMmaN + lane / 4) * kDirectK + lane % 4 * 8);
        const uint32_t pairs[2][2] = {{of_few.x, of_few.y}, {of_few.z, of_few.w}};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          MultiplyAdd(of_many[i], pairs[Tile::kAlongK ? i % 2 : half],
                      d[Tile::kAlongK ? 2 * half + i / 2 : i][j], typename Tile::Element());
        }
      }
    }
    many.Advance();
    __syncwarp();  // The few rows have been read.
  }
}

// The blocks of a cluster divide k; there is a cluster in x for each block of the many rows, in y
// for each tile of the few, and in z for each product of a batch.
template <typename Tile>
__global__ void __launch_bounds__(kDirectThreads, Tile::kResident)
    TensorDirect(const __grid_constant__ DirectGemm gemm) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ uint4 shared[];
  auto* const all_sums = reinterpret_cast<float*>(shared);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const typename Tile::Sums sums = {all_sums + warp * Tile::kSumsOfWarp};
  auto* const staged = reinterpret_cast<uint16_t*>(all_sums + kDirectWarps * Tile::kSumsOfWarp) +
                       warp * Tile::kFew * kDirectK;
  const int rank = static_cast<int>(blockIdx.x) & (gemm.split - 1);
  const int part = rank * gemm.warps_of_k + (warp & (gemm.warps_of_k - 1));
  const int64_t row =
      int64_t{blockIdx.x >> gemm.log_split} * (kDirectRows * kDirectWarps) >> gemm.log_warps_of_k;
  const int64_t own_row = row + (warp >> gemm.log_warps_of_k) * kDirectRows;
  const int64_t col = int64_t{blockIdx.y} * Tile::kFew;
  const int first = part * gemm.steps_of_part;
  const int last = min(first + gemm.steps_of_part, gemm.steps);
  float d[kDirectRows / kMmaM][Tile::kFew / kMmaN][4] = {};
  if (first < last && own_row < gemm.many.mn) {
    SumDirectly<Tile>(gemm, blockIdx.z, own_row, col, first, last, staged, d);
  }
#pragma unroll
  for (int i = 0; i < kDirectRows / kMmaM; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kFew / kMmaN; ++j) {
      sums.Keep(i * kMmaM + lane / 4, j * kMmaN + lane % 4 * 2, d[i][j]);
    }
  }
  AddWarps<Tile>(all_sums, gemm.log_warps_of_k);
  if (gemm.split > 1) {
    SyncCluster();
  } else {
    __syncthreads();
  }
  StoreDirectSums<Tile>(all_sums, gemm, rank, row, col, blockIdx.z);
  if (gemm.split > 1) MeetCluster();  // No block ends while another one reads its sums.
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_H_

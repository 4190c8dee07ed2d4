// The end of a tile whose k extent the blocks of a cluster divide: each block keeps its sums in its
// own shared memory, and then adds those of all of them for a part of the tile, which it stores.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SUMS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SUMS_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor/epilogue.h"

namespace stridewise {

// Sums lie column by column. The fragments of an accumulator, eight rows by four pairs of columns
// for a warp, then lie in different banks, and four neighbours are a vector.
template <int kRows, int kCols>
struct TileSums {
  static constexpr int kPitch = kRows + 4;
  static constexpr int kBytes = kCols * kPitch * static_cast<int>(sizeof(float));

  float* data;

  __device__ float* At(int row, int col) const { return data + col * kPitch + row; }

  // Keeps an accumulator of mma or wgmma: for each eight columns, two neighbours along a row of the
  // tile and the two that lie eight rows below.
  template <int kValues>
  __device__ void Keep(int row, int col, const float (&d)[kValues]) const {
#pragma unroll
    for (int i = 0; i < kValues; ++i) *At(row + i / 2 % 2 * 8, col + i / 4 * 8 + i % 2) = d[i];
  }
};

// Loads four neighbours, or one, at an offset of AddressInBlock(); from the block's own memory
// where there are no clusters.
__device__ inline void LoadFourSums(uint32_t address, float (&to)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address)
               : "memory");
#else
  LoadSharedVector(address, to);
#endif
}
__device__ inline float LoadSum(uint32_t address) {
  float sum;
#if __CUDA_ARCH__ >= 900
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(sum) : "r"(address) : "memory");
#else
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(sum) : "r"(address) : "memory");
#endif
  return sum;
}
__device__ inline uint32_t SumsOfBlock(const float* sums, [[maybe_unused]] int rank) {
#if __CUDA_ARCH__ >= 900
  return AddressInBlock(sums, rank);
#else
  return SharedAddress(sums);
#endif
}

// Adds the parts that each of the blocks holds of kTogether times four sums, which load(address of
// a block's sums, i, to) reads, in the order of k.
template <int kTogether, typename Load>
__device__ inline void AddSumsOfBlocks(const float* sums, int blocks, const Load& load,
                                       float (&four)[kTogether][4]) {
  // Blocks whose loads are under way together: another block's memory answers after hundreds of
  // clocks, and one block after the other would be waited for.
  constexpr int kBlocksTogether = 4;
#pragma unroll 1
  for (int block = 0; block < blocks; block += kBlocksTogether) {
    float part[kBlocksTogether][kTogether][4];
#pragma unroll
    for (int b = 0; b < kBlocksTogether; ++b) {
      if (block + b >= blocks) break;
      const uint32_t from = SumsOfBlock(sums, block + b);
#pragma unroll
      for (int i = 0; i < kTogether; ++i) load(from, i, part[b][i]);
    }
#pragma unroll
    for (int b = 0; b < kBlocksTogether; ++b) {
      if (block + b >= blocks) break;
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) four[i][j] += part[b][i][j];
      }
    }
  }
}

// Adds and stores block `rank`'s part of the tile that begins at (row, col) of C. A tile may be
// that of C transposed, so that its rows are columns of C: `c.transposed`. Where kOwn, the sums are
// those of the calling block alone. They are not loaded by their address in the cluster then: that
// takes longer, and racecheck takes a cluster's barriers for the only ones that order such loads.
template <typename Out, int kThreads, bool kOwn = false, int kRows, int kCols>
__device__ inline void StoreTileSums(const TileSums<kRows, kCols>& sums, int rank, int blocks,
                                     const TensorOutput& c, int64_t row, int64_t col,
                                     int64_t batch) {
  constexpr int kVector = 4;
  constexpr int kItems = kRows * kCols / kVector;
  constexpr int kPitch = TileSums<kRows, kCols>::kPitch;
  constexpr int kFloat = static_cast<int>(sizeof(float));
  // Items of a thread whose loads are under way together.
  constexpr int kTogether = kItems <= kThreads ? 1 : 2;
  // Not transposed, a warp stores eight rows of 16 columns, or more rows where there are fewer.
  constexpr int kVectorsAcross = kCols < 4 * kVector ? kCols / kVector : 4;
  constexpr int kRowsOfWarp = 32 / kVectorsAcross;
  const int end = (rank + 1) * kItems / blocks;
#pragma unroll 1
  for (int first = rank * kItems / blocks + static_cast<int>(threadIdx.x); first < end;
       first += kThreads * kTogether) {
    float four[kTogether][kVector] = {};
    int r[kTogether], s[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int item = first + i * kThreads;
      const int group = item / 32;
      const int lane = item % 32;
      r[i] = c.transposed ? item % (kRows / kVector) * kVector
                          : group % (kRows / kRowsOfWarp) * kRowsOfWarp + lane / kVectorsAcross;
      s[i] =
          c.transposed
              ? item / (kRows / kVector)
              : (group / (kRows / kRowsOfWarp) * kVectorsAcross + lane % kVectorsAcross) * kVector;
      if (item >= end) r[i] = s[i] = 0;  // Loaded, and not stored.
    }
    if constexpr (kOwn) {
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if (c.transposed) {
          LoadSharedVector(SharedAddress(sums.At(r[i], s[i])), four[i]);
        } else {
#pragma unroll
          for (int j = 0; j < kVector; ++j) four[i][j] = *sums.At(r[i], s[i] + j);
        }
      }
    } else {
      const auto load = [&](uint32_t from, int i, float(&to)[kVector]) {
        const uint32_t at = from + (s[i] * kPitch + r[i]) * kFloat;
        if (c.transposed) {
          LoadFourSums(at, to);
        } else {
#pragma unroll
          for (int j = 0; j < kVector; ++j) to[j] = LoadSum(at + j * kPitch * kFloat);
        }
      };
      AddSumsOfBlocks(sums.data, blocks, load, four);
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (first + i * kThreads >= end) break;
      StoreFour<Out>(c, four[i], c.transposed ? col + s[i] : row + r[i],
                     c.transposed ? row + r[i] : col + s[i], batch);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SUMS_H_

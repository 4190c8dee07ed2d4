// The end of a tile of TensorDecode, or of a wide one of TensorSplit, whose k extent the blocks of
// a cluster divide: each keeps its sums in its own shared memory, and then adds those of all of
// them, in the order of k, for a part of the tile, which it stores.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_SUMS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_SUMS_H_

#include <cstdint>

#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor/sums.h"

namespace stridewise {

// Sums lie as C does, so that four neighbours of C are a vector: row by row, or column by column
// where the few, the tile's rows, are columns of C. The fragments of an accumulator then lie in
// different banks.
template <int kFew, int kMany>
struct DecodeSums {
  static constexpr int kPitch = kMany + 8;           // Of a row.
  static constexpr int kPitchTransposed = kFew + 4;  // Of a column.
  static constexpr int kFloats =
      kFew * kPitch > kMany* kPitchTransposed ? kFew* kPitch : kMany* kPitchTransposed;
  static constexpr int kBytes = kFloats * static_cast<int>(sizeof(float));

  float* data;

  // Keep an accumulator of wgmma, see wgmma_sm90.h.
  template <int kValues>
  __device__ void Keep(int row, int col, const float (&d)[kValues]) const {
#pragma unroll
    for (int i = 0; i < kValues; i += 2) {
      float* const at = data + (row + i / 2 % 2 * 8) * kPitch + col + i / 4 * 8;
      *reinterpret_cast<float2*>(at) = make_float2(d[i], d[i + 1]);
    }
  }
  template <int kValues>
  __device__ void KeepTransposed(int row, int col, const float (&d)[kValues]) const {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      data[(col + i / 4 * 8 + i % 2) * kPitchTransposed + row + i / 2 % 2 * 8] = d[i];
    }
  }
};

// Adds and stores block `rank`'s part of a tile whose first row and column are `first_few` and
// `first`; `few` of its rows lie in C.
template <typename Out, int kThreads, int kTogether = 2, int kFew, int kMany>
__device__ inline void StoreDecodeSums(const DecodeSums<kFew, kMany>& sums, int rank, int blocks,
                                       const TensorOutput& c, int few, int64_t first_few,
                                       int64_t first, int64_t batch) {
  using Sums = DecodeSums<kFew, kMany>;
  constexpr int kVector = 4;
  constexpr int kVectorBytesOfSums = kVector * static_cast<int>(sizeof(float));
  // Neighbouring threads have neighbouring vectors of a row of C.
  const int across = c.transposed ? (few + kVector - 1) / kVector : kMany / kVector;
  const int items = c.transposed ? kMany * across : few * across;
  const int pitch = c.transposed ? Sums::kPitchTransposed : Sums::kPitch;
  const int end = (rank + 1) * items / blocks;
#pragma unroll 1
  for (int item = rank * items / blocks + static_cast<int>(threadIdx.x); item < end;
       item += kThreads * kTogether) {
    // kTogether vectors of a thread, whose loads are under way together.
    float four[kTogether][kVector] = {};
    int row[kTogether], vector[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int of_thread = item + i * kThreads < end ? item + i * kThreads : item;
      row[i] = of_thread / across;
      vector[i] = of_thread - row[i] * across;
    }
    const auto load = [&](uint32_t from, int i, float(&to)[kVector]) {
      LoadFourSums(
          from + row[i] * pitch * static_cast<int>(sizeof(float)) + vector[i] * kVectorBytesOfSums,
          to);
    };
    AddSumsOfBlocks(sums.data, blocks, load, four);
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (item + i * kThreads >= end) break;
      const int64_t col = vector[i] * kVector;
      StoreFour<Out>(c, four[i], c.transposed ? first + row[i] : first_few + row[i],
                     c.transposed ? first_few + col : first + col, batch);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_SUMS_H_

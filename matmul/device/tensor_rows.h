// How a consumer of tensor_kernel.h stores C that the TMA cannot address: as whole rows, through
// shared memory.
//
// wgmma leaves two neighbours of each of 16 rows in a lane. Stored from there, they are pieces of a
// few bytes in as many sectors. Instead a warp stages its rows in shared memory and then writes one
// after the other, 128 bytes with each instruction. 16-bit elements are written as pairs at
// multiples of four bytes, and one alone at an end of a row that has no partner.
//
// The rows are written in a loop of few instructions: those of an unrolled one have to arrive from
// a cold L2, too, and would take longer than the stores.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_ROWS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_ROWS_H_

#include <cstdint>

#include "matmul/device/tensor_store.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// The 16 rows of a warp in shared memory, or a part of their columns. The 16-byte pieces of a row
// are exchanged within 128 bytes, so that a store of fragments meets all banks.
template <typename Out>
class StagedRows {
 public:
  static constexpr int kRows = 16;
  static constexpr int kRowBytes = 256;
  static constexpr int kBytes = kRows * kRowBytes;
  static constexpr int kColumns = kRowBytes / static_cast<int>(sizeof(Out));

  __device__ explicit StagedRows(char* shared) : shared_(shared) {}

  // Returns the place of an element. Neighbours of one piece are neighbours here.
  __device__ Out* At(int row, int col) const {
    const int byte = col * static_cast<int>(sizeof(Out));
    return reinterpret_cast<Out*>(shared_ + row * kRowBytes + (byte ^ row % kSwizzleRows * 16));
  }

  // Stores the first `cols` columns of the first `rows` rows at `to`, `ld` elements apart, where
  // kCols were staged. Called by the whole warp.
  template <int kCols>
  __device__ void Store(int rows, int cols, Out* to, int64_t ld) const {
    constexpr int kLanes = 32;
    constexpr int kOfWord = 4 / static_cast<int>(sizeof(Out));
    constexpr int kWords = kCols / kOfWord / kLanes;  // Of a lane.
    constexpr int kTogether = 4;                      // Rows whose loads are under way together.
    struct alignas(4) Word {
      Out of[kOfWord];
    };
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
#pragma unroll 1
    for (int first = 0; first < rows; first += kTogether) {
      Word words[kTogether][kWords];
      int odd[kTogether];  // 1: the first element is the second one of its four bytes.
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const auto address = reinterpret_cast<uintptr_t>(to + i * ld);
        odd[i] = static_cast<int>(address / sizeof(Out) % kOfWord);
#pragma unroll
        for (int word = 0; word < kWords; ++word) {
#pragma unroll
          for (int j = 0; j < kOfWord; ++j) {
            const int col = (word * kLanes + lane) * kOfWord + odd[i] + j;
            words[i][word].of[j] = *At(first + i, col % kCols);  // Nothing is staged behind them.
          }
        }
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int end = first + i < rows ? cols : 0;
        Out* const row = to + i * ld;
#pragma unroll
        for (int word = 0; word < kWords; ++word) {
          const int col = (word * kLanes + lane) * kOfWord + odd[i];
          if (col + kOfWord <= end) {
            *reinterpret_cast<Word*>(row + col) = words[i][word];
          } else if (col < end) {
            row[col] = words[i][word].of[0];
          }
        }
        if (lane < odd[i] && end > 0) *row = *At(first + i, 0);
      }
      to += kTogether * ld;
    }
  }

 private:
  char* shared_;
};

// Stores a consumer's 64 rows. Called by whole warps. REQUIRES: beta is 0, and no store by the TMA
// reads the consumer's part of the shared memory.
template <typename Tile>
__device__ inline void StoreRows(const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                 int consumer, int thread, int row, int col, int batch,
                                 const typename Tile::Accumulator (&d)[Tile::kBlockN / 2]) {
  using Out = typename Tile::Out;
  using Rows = StagedRows<Out>;
  constexpr int kCols = Rows::kColumns < Tile::kBlockN ? Rows::kColumns : Tile::kBlockN;
  static_assert(!Tile::kAInRegisters, "whose rows lie otherwise");
  static_assert(4 * Rows::kBytes <= Tile::kOutBuffers * Tile::kOutBytes);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const Rows staged(shared.Out(consumer, 0) + warp * Rows::kBytes);
  const int first_row = row + warp * Rows::kRows;
  const int rows = min(Rows::kRows, gemm.m - first_row);
  Out* const c = static_cast<Out*>(gemm.c) + batch * gemm.stride_c + first_row * gemm.ldc + col;
  const auto alpha = AlphaOf<Tile>(gemm);
#pragma unroll
  for (int from = 0; from < Tile::kBlockN; from += kCols) {
    __syncwarp();  // The columns before have been read.
#pragma unroll
    for (int i = from / 2; i < (from + kCols) / 2 && i < Tile::kBlockN / 2; i += 2) {
      StorePair(alpha * d[i], alpha * d[i + 1],
                staged.At(lane / 4 + i / 2 % 2 * kSwizzleRows, i / 4 * 8 + lane % 4 * 2 - from));
    }
    __syncwarp();
    const int cols = min(min(kCols, Tile::kBlockN - from), gemm.n - col - from);
    staged.template Store<kCols>(rows, cols, c + from, gemm.ldc);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_ROWS_H_

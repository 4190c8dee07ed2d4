// The 64 rows of a warp of direct.h, loaded from an operand of any alignment as fragments of
// mma.sync.
//
// With g = lane / 4 and t = lane % 4, a lane holds of a step, 32 of k, eight neighbours along k
// from 8t, of rows with its g. Four words are these neighbours: an instruction takes two of each
// row, and which k these are is the same for both operands.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_ROWS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_ROWS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/tensor/chunk.h"
#include "matmul/device/tensor/direct_plan.h"
#include "matmul/device/tensor/general_operand.h"

namespace stridewise {

// Returns the address behind the last element of an operand's matrix.
__device__ inline uintptr_t EndOf(const GeneralOperand& from, const uint16_t* matrix, int k) {
  return reinterpret_cast<uintptr_t>(
      matrix + (from.k_major ? (from.mn - 1) * from.ld + k : int64_t{k - 1} * from.ld + from.mn));
}

// Chunk i of a lane, eight elements, is row g + 8i where the operand lies along k; else k 8t + i of
// rows 8g to 8g + 7.
//
// The last vector of 16 bytes of the matrix is not read as such where it goes on behind the matrix:
// its elements are loaded one by one beforehand, and stand in for it.
template <bool kAlongK>
class DirectRows {
 public:
  // Begins at row `row` and at `k` of `depth`.
  __device__ DirectRows(const GeneralOperand& from, int64_t batch, int64_t row, int k, int depth) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const uint16_t* const matrix = from.data + batch * from.stride;
    const int64_t own_row = row + (kAlongK ? lane / 4 : lane / 4 * 8);
    const int own_k = k + lane % 4 * 8;
    rows_left_ = static_cast<int>(min(from.mn - own_row, int64_t{kDirectRows}));
    k_left_ = depth - own_k;
    at_ = reinterpret_cast<uintptr_t>(
        matrix + (kAlongK ? own_row * from.ld + own_k : int64_t{own_k} * from.ld + own_row));
    chunk_bytes_ = from.ld * (kAlongK ? 8 : 1) * kElementBytes;
    const uintptr_t end = EndOf(from, matrix, depth);
    last_ = end - end % 16;
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const auto* const pair = reinterpret_cast<const uint16_t*>(last_) + 2 * i;
      words[i] = reinterpret_cast<uintptr_t>(pair) < end ? pair[0] : 0u;
      if (reinterpret_cast<uintptr_t>(pair + 1) < end) {
        words[i] |= static_cast<uint32_t>(pair[1]) << 16;
      }
    }
    tail_ = make_uint4(words[0], words[1], words[2], words[3]);
  }

  // Loads the step. What lies outside the matrix is 0 along k, and anything along its rows.
  __device__ void Load() {
    // Behind the last line there may be no memory: eight further elements of k are eight lines, of
    // an element at least.
    if (k_left_ + static_cast<int>(threadIdx.x) % 4 * 8 < kDirectK + 8) {
      LoadAtEnd();
      return;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const uintptr_t from = at_ + i * chunk_bytes_;
      const int shift = static_cast<int>(from % 16);
      if (kAlongK ? 8 * i < rows_left_ : rows_left_ > 0) {
        low_[i] = LoadVector(from - shift);
        if (shift != 0) high_[i] = LoadVector(from - shift + 16);
      }
    }
  }

  // Returns the fragments of four instructions: along k, of 32 rows and 32 of k, else of 64 rows
  // and half of the k.
  __device__ void Fragments(int half, uint32_t (&to)[4][4]) const {
    uint32_t w[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int chunk = 4 * half + i;
      const int shift = static_cast<int>((at_ + chunk * chunk_bytes_) % 16);
      const uint4 all = ShiftVectors(low_[chunk], high_[chunk], shift);
      w[i][0] = all.x;
      w[i][1] = all.y;
      w[i][2] = all.z;
      w[i][3] = all.w;
    }
    if constexpr (kAlongK) {
      if (k_left_ < kChunk) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const uint32_t kept = k_left_ <= 2 * j ? 0 : k_left_ == 2 * j + 1 ? 0xffff : ~0u;
#pragma unroll
          for (int i = 0; i < 4; ++i) w[i][j] &= kept;
        }
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = i / 2 * 2;
        const int word = i % 2 * 2;
        to[i][0] = w[row][word];
        to[i][1] = w[row + 1][word];
        to[i][2] = w[row][word + 1];
        to[i][3] = w[row + 1][word + 1];
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
          to[i][2 * pair] = __byte_perm(w[2 * pair][i], w[2 * pair + 1][i], 0x5410);
          to[i][2 * pair + 1] = __byte_perm(w[2 * pair][i], w[2 * pair + 1][i], 0x7632);
        }
      }
    }
  }

  // Goes on to the next step.
  __device__ void Advance() {
    at_ += kAlongK ? kDirectK * kElementBytes : kDirectK * chunk_bytes_;
    k_left_ -= kDirectK;
  }

  // Returns where the sums of a row lie among the 64 that mma leaves.
  __device__ static int SlotOf(int row) { return kAlongK ? row : row % 8 * 8 + row / 8; }

 private:
  static constexpr int64_t kElementBytes = 2;

  __device__ static uint4 LoadVector(uintptr_t from) {
    return __ldg(reinterpret_cast<const uint4*>(from));
  }

  // Does what Load() does where k or the matrix may end.
  __device__ void LoadAtEnd() {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const uintptr_t from = at_ + i * chunk_bytes_;
      const int shift = static_cast<int>(from % 16);
      const int left =
          kAlongK ? (8 * i < rows_left_ ? k_left_ : 0) : (i < k_left_ ? rows_left_ : 0);
      const uintptr_t vector = from - shift;
      const bool second = shift + 2 * min(left, kChunk) > 16;
      low_[i] = LoadVectorIf(left > 0 && vector != last_, vector);
      high_[i] = LoadVectorIf(second && vector + 16 != last_, vector + 16);
      if (left > 0 && vector == last_) low_[i] = tail_;
      if (second && vector + 16 == last_) high_[i] = tail_;
    }
  }

  int rows_left_;  // From the lane's first row to the end, or 64.
  int k_left_;     // From the lane's first k to the end.
  uintptr_t at_;   // The lane's first element.
  int64_t chunk_bytes_;
  uintptr_t last_;  // The last vector, or the one behind the matrix where it ends with a vector.
  uint4 tail_;
  uint4 low_[8], high_[8];
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_ROWS_H_

// Vectors gathered from a tile of raw rows in shared memory, for tile_ragged.cu, and how a warp
// that does so keeps out of its own banks.
//
// A warp takes four columns of the tile, and eight vectors of each, one behind the other.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_GATHER_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_GATHER_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/vectors.h"

namespace stridewise {

inline constexpr int kLanes = 8;  // Of a warp, along an out row: 128 bytes.
inline constexpr int kColumnsOfWarp = 4;

// The 16 bytes of elements (0, 0) to (n - 1, 0) from `first`. Vectors of a warp that start 16 bytes
// apart lie in the same bank when the pitch is even, and those of its columns when pitch and
// leading dimension conspire; `turn` is the word that a thread begins with, so that they do not
// meet. Only elements of 1 and 2 bytes gain from it, which are
// loaded one by one.
template <typename T>
__device__ inline Vector Gather(const unsigned char* first, int pitch, int turn) {
  uint32_t word[4];
  if constexpr (sizeof(T) == 16) {
    return *reinterpret_cast<const Vector*>(first);
  } else if constexpr (sizeof(T) == 8) {
    const uint2 low = *reinterpret_cast<const uint2*>(first);
    const uint2 high = *reinterpret_cast<const uint2*>(first + pitch);
    return make_uint4(low.x, low.y, high.x, high.y);
  } else if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      word[w] = *reinterpret_cast<const uint32_t*>(first + w * pitch);
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
  } else {
    constexpr int kInWord = 4 / static_cast<int>(sizeof(T));
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const unsigned char* rows = first + kInWord * ((w + turn) & 3) * pitch;
      uint32_t element[4] = {};
#pragma unroll
      for (int k = 0; k < kInWord; ++k) {
        element[k] = *reinterpret_cast<const T*>(rows + k * pitch);
      }
      if constexpr (kInWord == 2) {
        word[w] = __byte_perm(element[0], element[1], 0x5410);
      } else {
        word[w] = __byte_perm(__byte_perm(element[0], element[1], 0x0040),
                              __byte_perm(element[2], element[3], 0x0040), 0x5410);
      }
    }
    // word[w] is word (w + turn) % 4 of the vector: turned back by one, then by two.
    const bool one = (turn & 1) != 0;
    const bool two = (turn & 2) != 0;
    const uint32_t a = one ? word[3] : word[0];
    const uint32_t b = one ? word[0] : word[1];
    const uint32_t c = one ? word[1] : word[2];
    const uint32_t d = one ? word[2] : word[3];
    return make_uint4(two ? c : a, two ? d : b, two ? a : c, two ? b : d);
  }
}

// How a warp of small elements avoids bank conflicts (see Gather()). With p elements from row to
// row in shared memory, p odd, the eight vectors of an out row start in eight different banks, and
// a column is size * (1 - ld_out * p) bytes from where its neighbour starts, modulo 16: columns
// that fall together take turns, those that fall into one word are taken 2 or 4 apart. With p even
// it is the vectors that take turns.
struct Banks {
  int turn = 0;
  int spread = 0;  // The distance of a warp's columns is 2^spread.
};
template <typename T>
__device__ inline Banks AvoidBanks(int pitch, int64_t ld_out, int lane, int column) {
  Banks banks;
  if constexpr (sizeof(T) < 4) {
    const int p = pitch / static_cast<int>(sizeof(T));
    const int apart = static_cast<int>(sizeof(T)) * (1 - static_cast<int>(ld_out & 15) * p) & 15;
    banks.spread = (apart & 1) != 0 ? 2 : (apart & 2) != 0 ? 1 : 0;
    const int even = __ffs(p) - 1;  // Factors of 2; with three of them all vectors meet.
    const int vectors_turn = even < 3 ? lane >> (3 - even) : lane;
    banks.turn = even > 0 ? vectors_turn : (apart & 7) == 0 ? column : 0;
  }
  return banks;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_GATHER_H_

// Gathers vectors of a piece of `out` whose columns follow each other without gaps, from a tile in
// shared memory that has all rows: behind its last row a vector goes on with the next column.
// Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_WRAPPED_GATHER_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_WRAPPED_GATHER_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/gather.h"
#include "transpose/device/vectors.h"

namespace stridewise {

// Returns the vector whose first element is at `first`, rows `pitch` bytes apart. Its elements from
// number `wrap` on are in the next column, whose rows lie `jump` bytes from where the rows behind
// the last would be. kRotates: the word that is loaded first is number order.rotation.
template <typename T, bool kRotates>
__device__ inline Vector GatherWrapped(const unsigned char* first, int pitch, int wrap, int jump,
                                       const BankOrder& order) {
  static_assert(sizeof(T) <= 4, "a word has elements");
  constexpr int kInWord = 4 / static_cast<int>(sizeof(T));
  const SharedAddress before = SharedAddressOf(first);
  const SharedAddress behind = before + jump;
  uint32_t word[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const int skipped = kInWord * (kRotates ? (w + order.rotation) & 3 : w);
    uint32_t element[4] = {};
#pragma unroll
    for (int k = 0; k < kInWord; ++k) {
      const SharedAddress column = skipped + k < wrap ? before : behind;
      element[k] = LoadShared<T>(column + (skipped + k) * pitch);
    }
    if constexpr (sizeof(T) == 4) {
      word[w] = element[0];
    } else {
      word[w] = WordOf<T>(element);
    }
  }
  if constexpr (kRotates) {
    return RotatedBack(word, (order.rotation & 1) != 0, (order.rotation & 2) != 0);
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_WRAPPED_GATHER_H_

// Gathers the vectors of out rows from a tile of raw rows in shared memory, for tile_ragged.cu and
// others, with few bank conflicts.
//
// A warp gathers from four columns of the tile, eight consecutive vectors of each.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_GATHER_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_GATHER_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/matrix.h"
#include "transpose/device/vectors.h"

namespace stridewise {

inline constexpr int kLanes = 8;          // Lanes of a warp along an out row: 128 bytes.
inline constexpr int kColumnsOfWarp = 4;  // Out rows that a warp takes at a time.

// Loads an element from shared memory. The address is a number: nvcc then adds the uniform part of
// it, such as a multiple of the pitch, in the load itself.
#ifdef STRIDEWISE_HOST_EXECUTOR
using SharedAddress = const unsigned char*;
__device__ inline SharedAddress SharedAddressOf(const unsigned char* data) { return data; }
template <typename T>
__device__ inline uint32_t LoadShared(SharedAddress address) {
  return *reinterpret_cast<const T*>(address);
}
#else
using SharedAddress = uint32_t;
__device__ inline SharedAddress SharedAddressOf(const unsigned char* data) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(data));
}
template <typename T>
__device__ inline uint32_t LoadShared(SharedAddress address) {
  uint32_t value;
  if constexpr (sizeof(T) == 1) {
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(address));
  } else if constexpr (sizeof(T) == 2) {
    asm volatile("{ .reg .u16 h; ld.shared.u16 h, [%1]; cvt.u32.u16 %0, h; }"
                 : "=r"(value)
                 : "r"(address));
  } else {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address));
  }
  return value;
}
#endif

// Where a thread finds the words of its vectors, in bytes from their first element. `rotation`, 0
// to 3, is the word that it loads first: lanes whose vectors start in the same bank can be given
// different ones (see BankOrder). Elements of 4 bytes and more ignore it.
template <typename T>
struct GatherOffsets {
  static constexpr int kInWord = sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1;

  __device__ GatherOffsets(int row_pitch, int rotation) : pitch(row_pitch) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      word[w] = kInWord * (sizeof(T) < 4 ? (w + rotation) & 3 : w) * pitch;
    }
    one = (rotation & 1) != 0;
    two = (rotation & 2) != 0;
  }

  int pitch;
  int word[4];
  bool one;  // Whether words are to be rotated by one, and by two, after they are loaded.
  bool two;
};

// Returns the word of these elements of 1 or 2 bytes.
template <typename T>
__device__ inline uint32_t WordOf(const uint32_t* element) {
  if constexpr (sizeof(T) == 2) {
    return __byte_perm(element[0], element[1], 0x5410);
  } else {
    return __byte_perm(__byte_perm(element[0], element[1], 0x0040),
                       __byte_perm(element[2], element[3], 0x0040), 0x5410);
  }
}

// Returns the vector of which word[w] is word (w + rotation) % 4: rotated back by one, then by two.
__device__ inline Vector RotatedBack(const uint32_t (&word)[4], bool one, bool two) {
  const uint32_t a = one ? word[3] : word[0];
  const uint32_t b = one ? word[0] : word[1];
  const uint32_t c = one ? word[1] : word[2];
  const uint32_t d = one ? word[2] : word[3];
  return make_uint4(two ? c : a, two ? d : b, two ? a : c, two ? b : d);
}

// Returns the 16 bytes of elements (0, 0) to (n - 1, 0) of a tile whose element (0, 0) is at
// `first`.
template <typename T>
__device__ inline Vector Gather(const unsigned char* first, const GatherOffsets<T>& offsets) {
  const int pitch = offsets.pitch;
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
      word[w] = LoadShared<T>(SharedAddressOf(first) + w * pitch);
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
  } else {
    constexpr int kInWord = GatherOffsets<T>::kInWord;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const SharedAddress rows = SharedAddressOf(first) + offsets.word[w];
      uint32_t element[4] = {};
#pragma unroll
      for (int k = 0; k < kInWord; ++k) {
        element[k] = LoadShared<T>(rows + k * pitch);
      }
      word[w] = WordOf<T>(element);
    }
    return RotatedBack(word, offsets.one, offsets.two);
  }
}

// Returns the same 16 bytes, with words in their order. REQUIRES: sizeof(T) < 4.
template <typename T>
__device__ inline Vector GatherInOrder(const unsigned char* first, int pitch) {
  constexpr int kInWord = GatherOffsets<T>::kInWord;
  uint32_t word[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const SharedAddress rows = SharedAddressOf(first) + w * kInWord * pitch;
    uint32_t element[4] = {};
#pragma unroll
    for (int k = 0; k < kInWord; ++k) element[k] = LoadShared<T>(rows + k * pitch);
    word[w] = WordOf<T>(element);
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

// Returns the vector of elements that are `place` bytes from `column`.
template <typename T>
__device__ inline Vector GatherAt(const unsigned char* column,
                                  const int (&place)[kVectorElements<T>]) {
  constexpr int kElements = kVectorElements<T>;
  if constexpr (sizeof(T) == 16) {
    return *reinterpret_cast<const Vector*>(column + place[0]);
  } else if constexpr (sizeof(T) == 8) {
    const uint2 low = *reinterpret_cast<const uint2*>(column + place[0]);
    const uint2 high = *reinterpret_cast<const uint2*>(column + place[1]);
    return make_uint4(low.x, low.y, high.x, high.y);
  } else {
    const SharedAddress from = SharedAddressOf(column);
    uint32_t element[kElements];
#pragma unroll
    for (int k = 0; k < kElements; ++k) element[k] = LoadShared<T>(from + place[k]);
    if constexpr (sizeof(T) == 4) {
      return make_uint4(element[0], element[1], element[2], element[3]);
    } else {
      constexpr int kInWord = 4 / static_cast<int>(sizeof(T));
      return make_uint4(WordOf<T>(element), WordOf<T>(element + kInWord),
                        WordOf<T>(element + 2 * kInWord), WordOf<T>(element + 3 * kInWord));
    }
  }
}

// The elements of a vector, each anywhere in a row of shared memory, the same in all rows.
// `rotation` as in GatherOffsets.
template <typename T>
class RotatedElements {
 public:
  // positions.Get() finds where elements from `element` on are, in bytes.
  template <typename Positions>
  __device__ RotatedElements(const Positions& positions, int element, int rotation)
      : one_((rotation & 1) != 0), two_((rotation & 2) != 0) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int first = element + (sizeof(T) < 4 ? (w + rotation) & (kWords - 1) : w) * kInWord;
      positions.template Get<kInWord>(first, offset_ + w * kInWord);
    }
  }

  // Returns the vector of the elements in this row.
  __device__ Vector Of(const unsigned char* row) const {
    if constexpr (sizeof(T) == 16) {
      return *reinterpret_cast<const Vector*>(row + offset_[0]);
    } else if constexpr (sizeof(T) == 8) {
      const uint2 low = *reinterpret_cast<const uint2*>(row + offset_[0]);
      const uint2 high = *reinterpret_cast<const uint2*>(row + offset_[1]);
      return make_uint4(low.x, low.y, high.x, high.y);
    } else {
      const SharedAddress from = SharedAddressOf(row);
      uint32_t element[kElements];
#pragma unroll
      for (int k = 0; k < kElements; ++k) element[k] = LoadShared<T>(from + offset_[k]);
      if constexpr (sizeof(T) == 4) {
        return make_uint4(element[0], element[1], element[2], element[3]);
      } else {
        uint32_t word[4];
#pragma unroll
        for (int w = 0; w < 4; ++w) word[w] = WordOf<T>(element + w * kInWord);
        return RotatedBack(word, one_, two_);
      }
    }
  }

 private:
  static constexpr int kElements = kVectorElements<T>;
  static constexpr int kInWord = GatherOffsets<T>::kInWord;
  static constexpr int kWords = kElements / kInWord;
  int offset_[kElements];
  bool one_;
  bool two_;
};

// The order in which a warp loads elements of 1 and 2 bytes, which are loaded one by one. Let p be
// the number of elements from row to row in shared memory. If p is odd, the eight vectors of an out
// row start in eight different banks, and each column starts size * (1 - ld_out * p) bytes, modulo
// 16, after its neighbour: columns that start in the same bank get different rotations, and columns
// that start in the same word are replaced by columns that are 2 or 4 apart. If p is even, vectors
// of one out row start in the same bank, and get different rotations. With one factor of 2 those of
// its second half are rotated by two words, which are 2 * p banks, 4 modulo 8: the four columns of
// the first half have nothing there. One word would leave half of the accesses in conflict.
struct BankOrder {
  bool rotates = false;  // Whether any lane of any warp has a rotation.
  int rotation = 0;
  int log2_stride = 0;  // Logarithm of the distance between the columns of a warp.
};
template <typename T>
STRIDEWISE_HOST_DEVICE inline int ColumnsApart(int pitch, int64_t ld_out) {
  constexpr int kSize = sizeof(T);
  return kSize * (1 - static_cast<int>(ld_out & 15) * (pitch / kSize)) & 15;
}
STRIDEWISE_HOST_DEVICE inline int Log2Stride(int apart) {
  return (apart & 1) != 0 ? 2 : (apart & 2) != 0 ? 1 : 0;
}
template <typename T>
__device__ inline BankOrder AvoidBankConflicts(int pitch, int64_t ld_out, int lane, int column) {
  BankOrder order;
  if constexpr (sizeof(T) < 4) {
    const int p = pitch / static_cast<int>(sizeof(T));
    const int apart = ColumnsApart<T>(pitch, ld_out);
    order.log2_stride = Log2Stride(apart);
    const int even = __ffs(p) - 1;  // Factors of 2; with three, all vectors start in one bank.
    const int rotation_of_vector = even == 1 ? lane >> 2 << 1 : even == 2 ? lane >> 1 : lane;
    order.rotates = even > 0 || (apart & 7) == 0;
    order.rotation = even > 0 ? rotation_of_vector : (apart & 7) == 0 ? column : 0;
  }
  return order;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_GATHER_H_

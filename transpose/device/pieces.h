// Parts of a vector at the ends of a row that begins and ends anywhere: at most one piece of 8, 4,
// 2 and 1 bytes each. A thread gathers each piece at a fixed place of a vector in registers, the
// largest first, so that a piece costs one store and nothing else. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_PIECES_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_PIECES_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/vectors.h"

namespace stridewise {

// The elements of a vector that a row has, the first and one past the last.
struct InVector {
  int begin;
  int end;
};

// Stores the lowest kBytes of these words. Of a pointer made of a number the compiler does not know
// that it is global, which costs the store a look at where it points.
template <int kBytes>
__device__ inline void StorePiece(intptr_t to, uint32_t low, uint32_t high = 0) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  if constexpr (kBytes == 8) {
    *reinterpret_cast<uint2*>(to) = make_uint2(low, high);
  } else if constexpr (kBytes == 4) {
    *reinterpret_cast<uint32_t*>(to) = low;
  } else if constexpr (kBytes == 2) {
    *reinterpret_cast<uint16_t*>(to) = static_cast<uint16_t>(low);
  } else {
    *reinterpret_cast<uint8_t*>(to) = static_cast<uint8_t>(low);
  }
#else
  if constexpr (kBytes == 8) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(low), "r"(high));
  } else if constexpr (kBytes == 4) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(low));
  } else if constexpr (kBytes == 2) {
    asm volatile("{ .reg .u16 h; cvt.u16.u32 h, %1; st.global.u16 [%0], h; }" ::"l"(to), "r"(low));
  } else {
    asm volatile("st.global.u8 [%0], %1;" ::"l"(to), "r"(low));
  }
#endif
}

// How the elements at one end of a row, fewer than a vector, are copied and stored.
template <typename T>
class Pieces {
 public:
  static constexpr int kElements = kVectorElements<T>;

  // REQUIRES: the elements are not all of the vector, and begin or end with its.
  __device__ explicit Pieces(const InVector& has) : last_(has.end - 1) {
    constexpr int kSize = sizeof(T);
    const int begin = has.begin * kSize;
    const int end = has.end * kSize;
    if (begin == 0) {
      Set({0, end & 8, end & 12, end & 14}, end);
    } else {  // From the smallest piece on.
      const int from_2 = (begin + 1) & -2;
      const int from_4 = (begin + 3) & -4;
      Set({begin <= 8 ? 8 : begin, from_4, from_2, begin},
          (begin <= 8 ? 8 : 0) | (from_4 & 4) | (from_2 & 2) | (begin & 1));
    }
  }

  // Returns the element of the vector that is gathered at place `k` of it.
  __device__ int ElementOf(int k) const {
    constexpr int kSize = sizeof(T);
    const int byte = k * kSize;
    const int element = (byte < 8    ? at_[0] + byte
                         : byte < 12 ? at_[1] + byte - 8
                         : byte < 14 ? at_[2] + byte - 12
                                     : at_[3] + byte - 14) /
                        kSize;
    return element < last_ ? element : last_;
  }

  // Copies the pieces from one vector to another.
  __device__ void Copy(unsigned char* to, const unsigned char* from) const {
    if ((sizes_ & 8) != 0) CopyPiece<uint2>(to + at_[0], from + at_[0]);
    if constexpr (sizeof(T) <= 4) {
      if ((sizes_ & 4) != 0) CopyPiece<uint32_t>(to + at_[1], from + at_[1]);
    }
    if constexpr (sizeof(T) <= 2) {
      if ((sizes_ & 2) != 0) CopyPiece<uint16_t>(to + at_[2], from + at_[2]);
    }
    if constexpr (sizeof(T) == 1) {
      if ((sizes_ & 1) != 0) CopyPiece<uint8_t>(to + at_[3], from + at_[3]);
    }
  }

  // Stores the pieces, whose elements are at their places in `vector`.
  __device__ void Store(intptr_t to, const Vector& vector) const {
    if ((sizes_ & 8) != 0) StorePiece<8>(to + at_[0], vector.x, vector.y);
    if constexpr (sizeof(T) <= 4) {
      if ((sizes_ & 4) != 0) StorePiece<4>(to + at_[1], vector.z);
    }
    if constexpr (sizeof(T) <= 2) {
      if ((sizes_ & 2) != 0) StorePiece<2>(to + at_[2], vector.w);
    }
    if constexpr (sizeof(T) == 1) {
      if ((sizes_ & 1) != 0) StorePiece<1>(to + at_[3], vector.w >> 16);
    }
  }

 private:
  template <typename Piece>
  __device__ static void CopyPiece(unsigned char* to, const unsigned char* from) {
    *reinterpret_cast<Piece*>(to) = *reinterpret_cast<const Piece*>(from);
  }

  struct Places {
    int of_8, of_4, of_2, of_1;
  };
  __device__ void Set(const Places& places, int sizes) {
    at_[0] = places.of_8;
    at_[1] = places.of_4;
    at_[2] = places.of_2;
    at_[3] = places.of_1;
    sizes_ = sizes;
  }

  int at_[4];  // Where the pieces of 8, 4, 2 and 1 bytes are in the vector, in bytes.
  int sizes_;  // The sum of those that exist.
  int last_;   // Element: places of pieces that do not exist are gathered before it, too.
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_PIECES_H_

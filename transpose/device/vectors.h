// Vectors of 16 bytes: single accesses, elements, and the exchange of rows and columns in
// registers.
//
// All indices are meant to be constants after unrolling; nothing here then touches memory.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_VECTORS_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_VECTORS_H_

#include <cuda_runtime.h>

#include <cstdint>

namespace stridewise {

// The widest access there is: 16 bytes a thread, 512 a warp.
using Vector = uint4;
inline constexpr int kVectorBytes = 16;

// What memory is accessed in.
inline constexpr int kSectorBytes = 32;

template <typename T>
inline constexpr int kVectorElements = kVectorBytes / static_cast<int>(sizeof(T));

// Stores 16 bytes in one access, which an assignment does not guarantee: where the four words come
// from four loads, nvcc may turn it into four stores, and a transpose becomes half as fast. The
// compiler may move later loads before the store, so that the next vector's loads are in flight:
// a thread must not read again what it stores here.
__device__ inline void StoreVector(void* to, const Vector& vector) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  *static_cast<Vector*>(to) = vector;
#else
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(vector.x), "r"(vector.y),
               "r"(vector.z), "r"(vector.w));
#endif
}

// Returns element k of the vector.
template <typename T>
__device__ inline T ElementOf(const Vector& vector, int k) {
  const uint32_t word[4] = {vector.x, vector.y, vector.z, vector.w};
  if constexpr (sizeof(T) == 16) {
    const uint64_t low = word[0] | static_cast<uint64_t>(word[1]) << 32;
    const uint64_t high = word[2] | static_cast<uint64_t>(word[3]) << 32;
    return low | static_cast<T>(high) << 64;
  } else if constexpr (sizeof(T) == 8) {
    return word[2 * k] | static_cast<T>(word[2 * k + 1]) << 32;
  } else {
    constexpr int kInWord = 4 / static_cast<int>(sizeof(T));
    return static_cast<T>(word[k / kInWord] >> (32 / kInWord * (k % kInWord)));
  }
}

// Returns the vector of these elements.
template <typename T>
__device__ inline Vector VectorOf(const T (&elements)[kVectorElements<T>]) {
  uint32_t word[4] = {0, 0, 0, 0};
  if constexpr (sizeof(T) == 1) {  // By byte permutes, as below.
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      word[w] = __byte_perm(__byte_perm(elements[4 * w], elements[4 * w + 1], 0x0040),
                            __byte_perm(elements[4 * w + 2], elements[4 * w + 3], 0x0040), 0x5410);
    }
  } else if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      word[w] = __byte_perm(elements[2 * w], elements[2 * w + 1], 0x5410);
    }
  } else {
    constexpr int kWords = static_cast<int>(sizeof(T)) / 4;
#pragma unroll
    for (int k = 0; k < kVectorElements<T>; ++k) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        word[k * kWords + w] = static_cast<uint32_t>(elements[k] >> (kWords == 1 ? 0 : 32 * w));
      }
    }
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

// Returns a vector with the first `count` bytes of `first` and the others of `second`.
__device__ inline Vector Joined(const Vector& first, const Vector& second, int count) {
  const auto word = [count](uint32_t a, uint32_t b, int at) {
    const int bytes = count - at;
    const uint32_t mask = bytes <= 0 ? 0 : bytes >= 4 ? 0xffffffffu : (1u << 8 * bytes) - 1;
    return (a & mask) | (b & ~mask);
  };
  return make_uint4(word(first.x, second.x, 0), word(first.y, second.y, 4),
                    word(first.z, second.z, 8), word(first.w, second.w, 12));
}

// Exchanges rows and columns of a stack of vectors: Columns<T, kRows>::Take(rows, columns) sets
// columns[k] to element k of each of the rows, in order. Elements below 4 bytes are picked by byte
// permutes: eight instructions exchange 4 x 4 bytes, several times fewer than shifts and masks.
template <typename T, int kRows>
struct Columns;

template <>
struct Columns<uint8_t, 4> {
  using Piece = uint32_t;
  __device__ static void Take(const Vector (&rows)[4], Piece (&columns)[16]) {
    const uint32_t a[4] = {rows[0].x, rows[0].y, rows[0].z, rows[0].w};
    const uint32_t b[4] = {rows[1].x, rows[1].y, rows[1].z, rows[1].w};
    const uint32_t c[4] = {rows[2].x, rows[2].y, rows[2].z, rows[2].w};
    const uint32_t d[4] = {rows[3].x, rows[3].y, rows[3].z, rows[3].w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const uint32_t ab_low = __byte_perm(a[w], b[w], 0x5140);  // a0 b0 a1 b1
      const uint32_t ab_high = __byte_perm(a[w], b[w], 0x7362);
      const uint32_t cd_low = __byte_perm(c[w], d[w], 0x5140);
      const uint32_t cd_high = __byte_perm(c[w], d[w], 0x7362);
      columns[4 * w] = __byte_perm(ab_low, cd_low, 0x5410);
      columns[4 * w + 1] = __byte_perm(ab_low, cd_low, 0x7632);
      columns[4 * w + 2] = __byte_perm(ab_high, cd_high, 0x5410);
      columns[4 * w + 3] = __byte_perm(ab_high, cd_high, 0x7632);
    }
  }
};

template <>
struct Columns<uint16_t, 2> {
  using Piece = uint32_t;
  __device__ static void Take(const Vector (&rows)[2], Piece (&columns)[8]) {
    const uint32_t a[4] = {rows[0].x, rows[0].y, rows[0].z, rows[0].w};
    const uint32_t b[4] = {rows[1].x, rows[1].y, rows[1].z, rows[1].w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      columns[2 * w] = __byte_perm(a[w], b[w], 0x5410);
      columns[2 * w + 1] = __byte_perm(a[w], b[w], 0x7632);
    }
  }
};

template <>
struct Columns<uint32_t, 4> {
  using Piece = uint4;
  __device__ static void Take(const Vector (&rows)[4], Piece (&columns)[4]) {
    columns[0] = make_uint4(rows[0].x, rows[1].x, rows[2].x, rows[3].x);
    columns[1] = make_uint4(rows[0].y, rows[1].y, rows[2].y, rows[3].y);
    columns[2] = make_uint4(rows[0].z, rows[1].z, rows[2].z, rows[3].z);
    columns[3] = make_uint4(rows[0].w, rows[1].w, rows[2].w, rows[3].w);
  }
};

// A stack of one is cut into its elements.
template <>
struct Columns<uint32_t, 1> {
  using Piece = uint32_t;
  __device__ static void Take(const Vector (&rows)[1], Piece (&columns)[4]) {
    columns[0] = rows[0].x;
    columns[1] = rows[0].y;
    columns[2] = rows[0].z;
    columns[3] = rows[0].w;
  }
};

template <>
struct Columns<uint64_t, 1> {
  using Piece = uint2;
  __device__ static void Take(const Vector (&rows)[1], Piece (&columns)[2]) {
    columns[0] = make_uint2(rows[0].x, rows[0].y);
    columns[1] = make_uint2(rows[0].z, rows[0].w);
  }
};

template <>
struct Columns<unsigned __int128, 1> {
  using Piece = uint4;
  __device__ static void Take(const Vector (&rows)[1], Piece (&columns)[1]) {
    columns[0] = rows[0];
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_VECTORS_H_

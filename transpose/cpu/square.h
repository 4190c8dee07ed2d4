// Transposes of squares in vector registers: 16 bytes by the same number of rows.
//
// Vectors are those of the compiler, 16 bytes long, which every processor has: a transpose waits
// for memory, and wider vectors would not shorten that.

#ifndef STRIDEWISE_TRANSPOSE_CPU_SQUARE_H_
#define STRIDEWISE_TRANSPOSE_CPU_SQUARE_H_

#include <cstdint>
#include <cstring>
#include <utility>

#include "transpose/cpu/matrix_transpose.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace stridewise {

using Vector16 = uint8_t __attribute__((vector_size(16)));

// Elements of T in a vector; the side of a square.
template <typename T>
inline constexpr int64_t kSquare = 16 / sizeof(T);

// Elements of T in a cache line.
template <typename T>
inline constexpr int64_t kLine = kLineBytes / sizeof(T);

inline Vector16 LoadVector(const void* from) {
  Vector16 vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

// Stores past the caches where kStreams, which needs an address that is a multiple of 16.
template <bool kStreams>
void StoreVector(Vector16 vector, void* to) {
#if defined(__SSE2__)
  if constexpr (kStreams) {
    _mm_stream_si128(static_cast<__m128i*>(to), reinterpret_cast<const __m128i&>(vector));
    return;
  }
#endif
  std::memcpy(to, &vector, sizeof(vector));
}

// Makes the streaming stores of this thread visible to others.
inline void EndStreaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

namespace internal {

// Returns byte i of: the elements of the lower (kUpper: upper) halves of two vectors, in turn.
template <int kBytes, bool kUpper>
constexpr int InterleavedByte(int i) {
  const int element = i / kBytes;
  return (element % 2) * 16 + (kUpper ? 8 : 0) + element / 2 * kBytes + i % kBytes;
}

template <int kBytes, bool kUpper, int... kByte>
Vector16 Interleave(Vector16 a, Vector16 b, std::integer_sequence<int, kByte...> /*bytes*/) {
  return __builtin_shufflevector(a, b, InterleavedByte<kBytes, kUpper>(kByte)...);
}

}  // namespace internal

// Transposes a square whose rows are v[0], v[1] and so on: log2 of its side rounds, in each of
// which row i and row i + half are interleaved.
template <typename T>
void TransposeVectors(Vector16 (&v)[kSquare<T>]) {
  constexpr int kSide = kSquare<T>;
  using Bytes = std::make_integer_sequence<int, 16>;
#pragma GCC unroll 4
  for (int round = 1; round < kSide; round *= 2) {
    Vector16 next[kSide];
#pragma GCC unroll 8
    for (int i = 0; i < kSide / 2; ++i) {
      next[2 * i] = internal::Interleave<sizeof(T), false>(v[i], v[i + kSide / 2], Bytes());
      next[2 * i + 1] = internal::Interleave<sizeof(T), true>(v[i], v[i + kSide / 2], Bytes());
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) v[i] = next[i];
  }
}

// Loads a square's rows, `ld` elements apart.
template <typename T>
void LoadSquare(const T* from, int64_t ld, Vector16 (&v)[kSquare<T>]) {
#pragma GCC unroll 16
  for (int i = 0; i < kSquare<T>; ++i) v[i] = LoadVector(from + i * ld);
}

template <typename T>
void StoreSquare(const Vector16 (&v)[kSquare<T>], T* to, int64_t ld) {
#pragma GCC unroll 16
  for (int i = 0; i < kSquare<T>; ++i) StoreVector<false>(v[i], to + i * ld);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_SQUARE_H_

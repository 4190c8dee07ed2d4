// Makes seeded inputs: U[-1, 1), the same values on host and device for any leading dimension.
//
// A value depends only on the seed and on the element's index r * cols + c (a hashed counter), so
// that any part can be computed anywhere. Values are multiples of 2^-23: exact in float and in
// double, so that a float and a double problem with one seed are the same problem. Narrower types
// get them rounded. Of integers the values are U{-127, ..., 127}.

#ifndef STRIDEWISE_COMMON_VERIFY_FILL_H_
#define STRIDEWISE_COMMON_VERIFY_FILL_H_

#include <cstdint>
#include <type_traits>

#include "common/base/matrix.h"

namespace stridewise {

// Is SplitMix64's output function (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014).
STRIDEWISE_HOST_DEVICE inline uint64_t Mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Returns the value of the element with this index: U[-1, 1).
template <typename T>
STRIDEWISE_HOST_DEVICE inline T UniformAt(uint64_t seed, int64_t index) {
  const uint64_t bits = Mix64(Mix64(seed) ^ static_cast<uint64_t>(index)) >> 40;  // 24 bits.
  const int32_t number = static_cast<int32_t>(bits) - (1 << 23);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int32_t>(bits % 255) - 127);
  } else if constexpr (sizeof(T) < sizeof(float)) {
    return static_cast<T>(static_cast<float>(number) / (1 << 23));
  } else {
    return static_cast<T>(number) / static_cast<T>(1 << 23);
  }
}

// Fills the elements of `matrix`, not the padding between its rows.
template <typename T>
void FillUniform(Matrix<T> matrix, uint64_t seed) {
  for (int64_t r = 0; r < matrix.rows; ++r) {
    for (int64_t c = 0; c < matrix.cols; ++c) {
      matrix(r, c) = UniformAt<T>(seed, r * matrix.cols + c);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_VERIFY_FILL_H_

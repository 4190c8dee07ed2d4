// Compares two matrices bit for bit, as a transpose requires: NaN payloads count, -0 is not +0.

#ifndef STRIDEWISE_COMMON_VERIFY_BIT_MATCH_H_
#define STRIDEWISE_COMMON_VERIFY_BIT_MATCH_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/base/matrix.h"

namespace stridewise {

struct BitMismatch {
  int64_t row = 0;
  int64_t col = 0;
  // The element as one hexadecimal number, the most significant digit first: "0x3f800000" is 1.0f.
  std::string got;
  std::string want;
};

struct BitMatch {
  int64_t mismatches = 0;
  std::vector<BitMismatch> first;  // In row-major order, at most max_listed of them.

  bool ok() const { return mismatches == 0; }

  // Returns one line for a log: the number of mismatches and those in `first`.
  std::string Describe() const;
};

// Does what MatchBits() does on untyped rows, with columns and leading dimensions in bytes.
BitMatch MatchBytes(ConstMatrix<unsigned char> got, ConstMatrix<unsigned char> want,
                    int64_t element_bytes, int64_t max_listed);

// Compares two matrices of the same shape and lists the first `max_listed` mismatches. Padding
// between the rows is not compared. O(rows * cols), at the speed of memcmp while the bits are
// equal.
template <typename T>
BitMatch MatchBits(ConstMatrix<T> got, ConstMatrix<T> want, int64_t max_listed) {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 ||
                sizeof(T) == 16);
  constexpr int64_t kBytes = sizeof(T);
  const auto bytes = [](ConstMatrix<T> m) -> ConstMatrix<unsigned char> {
    return {reinterpret_cast<const unsigned char*>(m.data), m.rows, m.cols * kBytes, m.ld * kBytes};
  };
  return MatchBytes(bytes(got), bytes(want), kBytes, max_listed);
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_VERIFY_BIT_MATCH_H_

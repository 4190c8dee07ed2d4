// What became of matrices that were moved: whether each element is where it belongs, all of them or
// edges, samples and the sum of all.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_MOVED_MATRICES_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_MOVED_MATRICES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/verify/bit_match.h"
#include "common/verify/fill.h"
#include "transpose/registry.h"

namespace stridewise::moved {

inline constexpr int64_t kMaxListed = 3;  // Mismatches in a message.
inline constexpr int64_t kBlock = 64;     // A block of 64 x 64 elements stays in the cache.
inline constexpr uint64_t kSampledElements = 65536;
inline constexpr uint64_t kSampleSeed = 0x7a3d5;  // Not that of the input.

// Appends what `part`, whose corner lies at (row, col) of the whole, found.
inline void Append(const BitMatch& part, int64_t row, int64_t col, BitMatch* whole) {
  whole->mismatches += part.mismatches;
  for (BitMismatch mismatch : part.first) {
    mismatch.row += row;
    mismatch.col += col;
    whole->first.push_back(std::move(mismatch));
  }
}

// The matrices that were moved and what became of them, each side without gaps. Batches of a copy
// are one matrix.
template <typename T>
struct MovedMatrices {
  bool transposed = false;
  int64_t batch = 1;
  ConstMatrix<T> first_in, first_out;

  ConstMatrix<T> In(int64_t matrix) const { return Nth(first_in, matrix); }
  ConstMatrix<T> Out(int64_t matrix) const { return Nth(first_out, matrix); }
  int64_t elements() const { return batch * first_in.rows * first_in.cols; }

  static ConstMatrix<T> Nth(ConstMatrix<T> first, int64_t matrix) {
    first.data += matrix * first.rows * first.cols;
    return first;
  }
};

// Compares rows x cols elements of `out` from (row, col) on with those of `in` that belong there.
template <typename T>
void MatchBlock(ConstMatrix<T> in, ConstMatrix<T> out, int64_t row, int64_t col, int64_t rows,
                int64_t cols, T* want, BitMatch* match) {
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) want[r * cols + c] = in(col + c, row + r);
  }
  const int64_t left = kMaxListed - static_cast<int64_t>(match->first.size());
  Append(MatchBits<T>({&out(row, col), rows, cols, out.ld}, {want, rows, cols, cols}, left), row,
         col, match);
}

// Whether rows [row, row + rows) and columns [col, col + cols) of `out` are the transpose of `in`.
template <typename T>
BitMatch MatchTransposed(ConstMatrix<T> in, ConstMatrix<T> out, int64_t row, int64_t col,
                         int64_t rows, int64_t cols) {
  BitMatch match;
  std::vector<T> want(static_cast<size_t>(std::min(kBlock, rows) * std::min(kBlock, cols)));
  for (int64_t r = 0; r < rows; r += kBlock) {
    for (int64_t c = 0; c < cols; c += kBlock) {
      MatchBlock(in, out, row + r, col + c, std::min(kBlock, rows - r), std::min(kBlock, cols - c),
                 want.data(), &match);
    }
  }
  return match;
}

// Whether rows x cols elements of a matrix from (row, col) on are those that belong there.
template <typename T>
BitMatch MatchPart(const MovedMatrices<T>& moved, int64_t matrix, int64_t row, int64_t col,
                   int64_t rows, int64_t cols) {
  const ConstMatrix<T> in = moved.In(matrix);
  const ConstMatrix<T> out = moved.Out(matrix);
  if (moved.transposed) return MatchTransposed(in, out, row, col, rows, cols);
  BitMatch match;
  Append(MatchBits<T>({&out(row, col), rows, cols, out.ld}, {&in(row, col), rows, cols, in.ld},
                      kMaxListed),
         row, col, &match);
  return match;
}

template <typename T>
absl::Status MatchStatus(const MovedMatrices<T>& moved, int64_t matrix, const BitMatch& match) {
  if (match.ok()) return absl::OkStatus();
  const std::string which = moved.batch > 1 ? absl::StrCat("matrix ", matrix, ": ") : "";
  return absl::DataLossError(which + match.Describe());
}

template <typename T>
absl::Status CheckPart(const MovedMatrices<T>& moved, int64_t matrix, int64_t row, int64_t col,
                       int64_t rows, int64_t cols) {
  return MatchStatus(moved, matrix, MatchPart(moved, matrix, row, col, rows, cols));
}

inline uint64_t Number(Bits128 element) {
  return static_cast<uint64_t>(element) + Mix64(static_cast<uint64_t>(element >> 64));
}

template <typename T>
uint64_t Sum(const T* data, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += Number(data[i]);
  return sum;
}

template <typename T>
absl::Status VerifyMovedFully(const MovedMatrices<T>& moved) {
  for (int64_t matrix = 0; matrix < moved.batch; ++matrix) {
    RETURN_IF_ERROR(CheckPart(moved, matrix, 0, 0, moved.first_out.rows, moved.first_out.cols));
  }
  return absl::OkStatus();
}

// Once one is wrong, the samples of its matrix only.
template <typename T>
absl::Status VerifySamples(const MovedMatrices<T>& moved) {
  const auto rows = static_cast<uint64_t>(moved.first_out.rows);
  const auto cols = static_cast<uint64_t>(moved.first_out.cols);
  BitMatch match;
  int64_t wrong = 0;
  for (uint64_t i = 0; i < kSampledElements; ++i) {
    const uint64_t random = Mix64(kSampleSeed ^ Mix64(i));
    const auto matrix = static_cast<int64_t>(Mix64(random) % static_cast<uint64_t>(moved.batch));
    if (!match.ok() && matrix != wrong) continue;
    BitMatch one = MatchPart(moved, matrix, static_cast<int64_t>((random >> 32) % rows),
                             static_cast<int64_t>((random & 0xffffffffu) % cols), 1, 1);
    if (one.ok()) continue;
    wrong = matrix;
    if (match.first.size() == kMaxListed) one.first.clear();
    Append(one, 0, 0, &match);
  }
  return MatchStatus(moved, wrong, match);
}

template <typename T>
absl::Status VerifyMovedFast(const MovedMatrices<T>& moved) {
  const int64_t rows = moved.first_out.rows;
  const int64_t cols = moved.first_out.cols;
  for (const int64_t matrix : {int64_t{0}, moved.batch - 1}) {
    for (const int64_t row : {int64_t{0}, rows - 1}) {
      RETURN_IF_ERROR(CheckPart(moved, matrix, row, 0, 1, cols));
    }
    for (const int64_t col : {int64_t{0}, cols - 1}) {
      RETURN_IF_ERROR(CheckPart(moved, matrix, 0, col, rows, 1));
    }
  }
  RETURN_IF_ERROR(VerifySamples(moved));
  if (Sum(moved.first_in.data, moved.elements()) == Sum(moved.first_out.data, moved.elements())) {
    return absl::OkStatus();
  }
  return absl::DataLossError("the sum of all elements is not that of the input's");
}

}  // namespace stridewise::moved

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_MOVED_MATRICES_H_

// Transposes of many small matrices without gaps, one after the other, for one instruction set.
//
// Where others follow, a matrix may be read and written beyond its end, in whole vectors: what is
// written there is written again. So nothing is copied byte by byte at ends of rows, which takes
// ten times as long as the transpose of a matrix of 60 bytes.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_SMALL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_SMALL_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_SMALL_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_SMALL_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/thin-inl.h"
#include "transpose/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

// Behind a matrix there have to be so many bytes that are read, and others that are written later:
// 64 rows of 64 bytes, where a matrix has fewer.
constexpr int64_t kBehindSmall = 4096;

template <int kBytes, int kThin = 2>
void TransposeSmallThin(const uint8_t* in, int64_t rows, int64_t cols, uint8_t* out) {
  if constexpr (kThin < 16 / kBytes) {
    using Of = Thin<kBytes, kThin>;
    if (rows == kThin) {
      for (int64_t col = 0; col < cols; col += Of::kLine) {
        InterleaveLine<kBytes, kThin>(in + col * kBytes, cols * kBytes, out + col * Of::kRow,
                                      cols - col);
      }
    } else if (cols == kThin) {
      DeinterleaveLine<kBytes, kThin>(in, out, rows * kBytes, rows);
    } else {
      TransposeSmallThin<kBytes, kThin + 1>(in, rows, cols, out);
    }
  }
}

// Returns whether TransposeSmall() takes matrices.
template <int kBytes>
HWY_INLINE bool IsSmall(int64_t rows, int64_t cols) {
  constexpr int64_t kSide = 16 / kBytes;
  constexpr int64_t kLine = kLineBytes / kBytes;
  if (rows == 1 || cols == 1) return false;
  if (rows < kSide) return true;
  // A second vector of a column would come after the first one of the next column.
  if (cols < kSide) return rows <= kBlocks * kSide;
  return rows < kLine && cols < kLine;
}

// REQUIRES: IsSmall(), neither side has gaps, and kBehindSmall.
template <int kBytes>
HWY_INLINE void TransposeSmall(const uint8_t* in, int64_t rows, int64_t cols, uint8_t* out) {
  constexpr int64_t kSide = 16 / kBytes;
  if (rows < kSide || cols < kSide) return TransposeSmallThin<kBytes>(in, rows, cols, out);
  for (int64_t at = 0; at < rows; at += kSide) {
    const int64_t row = std::min(at, rows - kSide);
    TransposeStrip<kBytes>(in + row * cols * kBytes, cols * kBytes, out + row * kBytes,
                           rows * kBytes, cols);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_SMALL_INL_H_

// Copies of operands in the order in which the micro-kernel reads them.
//
// A panel holds up to `width` rows of A (or columns of B): element (i, p) of the operand, p being
// along k, lies at p * width + i. Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_PACKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_PACKING_INL_H_
#undef STRIDEWISE_MATMUL_CPU_PACKING_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_PACKING_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "matmul/cpu/host_product.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Copies `k` runs of `count` elements, `from_step` apart, to runs that are `width` apart.
template <typename T>
HWY_ATTR void PackRuns(const T* HWY_RESTRICT from, int64_t from_step, int64_t count, int64_t k,
                       T* HWY_RESTRICT to, int64_t width) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const int64_t whole = count - count % kLanes;
  const auto mask = hn::FirstN(d, static_cast<size_t>(count - whole));
  for (int64_t p = 0; p < k; ++p, from += from_step, to += width) {
    for (int64_t i = 0; i < whole; i += kLanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    if (whole < count) {
      hn::BlendedStore(hn::MaskedLoad(mask, d, from + whole), mask, d, to + whole);
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

template <typename T>
inline constexpr int64_t kSquare = 1;

template <typename T>
void TransposeSquare(const T* from, int64_t /*step*/, T* to, int64_t /*width*/) {
  *to = *from;
}

#else

template <typename T>
inline constexpr int64_t kSquare = 16 / sizeof(T);

// Loads blocks of 16 bytes, `step` elements apart, to one vector.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const hn::TFromD<D>* HWY_RESTRICT from, int64_t step) {
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) <= 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const int64_t blocks = hn::MaxLanes(half) * sizeof(hn::TFromD<D>) / 16;
    return hn::Combine(d, LoadBlocks(half, from + blocks * step, step),
                       LoadBlocks(half, from, step));
  }
}

// Transposes as many rows as a vector has elements, 16 bytes of each, in registers: squares of four
// by four floats, or two by two doubles, in each block of 16 bytes.
template <class D, typename T = hn::TFromD<D> >
HWY_INLINE void TransposeStrip(D d, const T* HWY_RESTRICT from, int64_t step, T* HWY_RESTRICT to,
                               int64_t width) {
  const int64_t next = kSquare<T> * step;
  const auto r0 = LoadBlocks(d, from, next);
  const auto r1 = LoadBlocks(d, from + step, next);
  if constexpr (sizeof(T) == 8) {
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + width);
  } else {
    const hn::Repartition<double, D> pair;
    const auto r2 = LoadBlocks(d, from + 2 * step, next);
    const auto r3 = LoadBlocks(d, from + 3 * step, next);
    const auto low01 = hn::BitCast(pair, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(pair, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(pair, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(pair, hn::InterleaveUpper(d, r2, r3));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, low01, low23)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, low01, low23)), d, to + width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, high01, high23)), d, to + 2 * width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, high01, high23)), d, to + 3 * width);
  }
}

// Transposes a block of 16 bytes by 16 bytes: four rows of four floats, two of two doubles.
template <typename T>
HWY_INLINE void TransposeSquare(const T* from, int64_t step, T* to, int64_t width) {
  TransposeStrip(hn::Full128<T>(), from, step, to, width);
}

#endif

// Packs `rows` runs of `k` elements, `from_step` apart, as columns of a panel.
template <typename T>
HWY_ATTR void PackTransposed(const T* HWY_RESTRICT from, int64_t from_step, int64_t rows, int64_t k,
                             T* HWY_RESTRICT to, int64_t width) {
  const int64_t whole = std::min(rows, k) < kSquare<T> ? 0 : k;
  int64_t first = 0;
#if HWY_TARGET != HWY_SCALAR
  // A vector's rows from end to end: a line of each is used up while the L1 cache holds it, and
  // the processor fetches what follows.
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  for (; first + kLanes <= rows; first += kLanes) {
    for (int64_t next = 0; next < whole; next += kSquare<T>) {
      const int64_t p = std::min(next, k - kSquare<T>);
      TransposeStrip(d, from + first * from_step + p, from_step, to + p * width + first, width);
    }
  }
#endif
  // The last squares overlap those before them where rows or columns are no multiple.
  for (int64_t column = 0; column < whole && first < rows; column += kSquare<T>) {
    const int64_t p = std::min(column, k - kSquare<T>);
    for (int64_t next = first; next < rows; next += kSquare<T>) {
      const int64_t i = std::min(next, rows - kSquare<T>);
      TransposeSquare(from + i * from_step + p, from_step, to + p * width + i, width);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t p = whole; p < k; ++p) to[p * width + i] = from[i * from_step + p];
  }
}

// Packs `rows` rows of a matrix (for B: of its transpose) from its column 0 on.
template <typename T>
HWY_ATTR void PackPanel(const Strided<T>& from, int64_t rows, int64_t k, T* to, int64_t width) {
  if (from.col_step == 1) {
    PackTransposed(from.data, from.row_step, rows, k, to, width);
  } else {
    PackRuns(from.data, from.col_step, rows, k, to, width);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_PACKING_INL_H_

// The two matrices of a transpose or copy as a kernel sees them, and the choice of their types.
//
// Offsets are counted in 32 bits where they fit. This saves a third of the instructions of a kernel
// that moves one element a thread (copy_row: 29 instead of 44), and such kernels do little else.
// Larger matrices get 64 bits from the same source.

#ifndef STRIDEWISE_TRANSPOSE_VIEWS_H_
#define STRIDEWISE_TRANSPOSE_VIEWS_H_

#include <cstdint>
#include <limits>

#include "common/base/matrix.h"
#include "transpose/args.h"

namespace stridewise {

// Is Matrix<T> of common/base/matrix.h with extents and offsets of type I.
template <typename T, typename I>
struct View {
  using Element = T;
  using Index = I;

  T* data;
  Index rows;
  Index cols;
  Index ld;

  STRIDEWISE_HOST_DEVICE T& operator()(Index r, Index c) const { return data[r * ld + c]; }
};

// Returns whether 32 bits hold all offsets, and all extents plus the overhang of a block or tile.
inline bool FitsIn32Bits(const TransposeArgs& args, int64_t out_rows, int64_t out_cols) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  constexpr int64_t kOverhang = 1 << 16;
  return SpanElements(args.rows, args.cols, args.ld_in) <= kMax &&
         SpanElements(out_rows, out_cols, args.ld_out) <= kMax && args.ld_in <= kMax &&
         args.ld_out <= kMax && args.rows <= kMax - kOverhang && args.cols <= kMax - kOverhang;
}

// Calls fn(in, out) with views of elements T, `out` being out_rows x out_cols.
// REQUIRES: args.element_bytes == sizeof(T).
template <typename T, typename Fn>
LaunchStatus ForViewsOf(const TransposeArgs& args, int64_t out_rows, int64_t out_cols, Fn fn) {
  const auto call = [&](auto index) {
    using Index = decltype(index);
    return fn(View<const T, Index>{static_cast<const T*>(args.in), static_cast<Index>(args.rows),
                                   static_cast<Index>(args.cols), static_cast<Index>(args.ld_in)},
              View<T, Index>{static_cast<T*>(args.out), static_cast<Index>(out_rows),
                             static_cast<Index>(out_cols), static_cast<Index>(args.ld_out)});
  };
  return FitsIn32Bits(args, out_rows, out_cols) ? call(int32_t()) : call(int64_t());
}

// Calls fn(in, out) with the views of a transpose, whose `out` is cols x rows.
template <typename Fn>
LaunchStatus ForTransposeViews(const TransposeArgs& args, Fn fn) {
  return ForElementSize(args, [&](auto element) {
    return ForViewsOf<decltype(element)>(args, args.cols, args.rows, fn);
  });
}

// Calls fn(in, out) with the views of a copy, whose `out` is rows x cols.
template <typename Fn>
LaunchStatus ForCopyViews(const TransposeArgs& args, Fn fn) {
  return ForElementSize(args, [&](auto element) {
    return ForViewsOf<decltype(element)>(args, args.rows, args.cols, fn);
  });
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_VIEWS_H_

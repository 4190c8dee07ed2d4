// The product of one core in strips of B, one tile wide, that tall groups of rows of A are
// multiplied with one after the other.
//
// A strip is copied while it is used: tiles of a group's first panel read B where it lies and store
// what they load, for the panels below them. So no copy is made beside the multiply-adds, as
// packed-inl.h does, which takes as long as 16 rows of A; the copy is one strip, and not a third of
// the L2 cache; and a group of A comes from beyond the L2 cache once for all of B and not once for
// each block of it. The other side of it: rows of B are read again for each group, in pieces of one
// tile's width, which is why all tiles of a strip fetch rows of the next one. oneDNN multiplies in
// this order, by groups of 64 rows.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_STRIPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_STRIPS_INL_H_
#undef STRIDEWISE_MATMUL_CPU_STRIPS_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_STRIPS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/packed-inl.h"
#include "matmul/cpu/packing-inl.h"
#include "matmul/cpu/tile_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

// Steps along k of a strip, in bytes of a row of A: a strip's copy is then 96 KB of three vectors.
inline constexpr int64_t kStripDepthBytes = 2048;

// Rows of B that tiles which copy fetch to the L1 cache ahead of their turn.
inline constexpr int64_t kStripRowsAhead = 8;

// Returns the steps along k that are multiplied at once.
template <typename T>
int64_t StripDepth(int64_t k) {
  return EqualParts(k, kStripDepthBytes / int64_t{sizeof(T)}, 8);
}

// Panels are one row lower than the highest, or not lower at all, from this number of rows on.
inline constexpr int64_t kMinRowsOfStrips = int64_t{kTileRows} * kTileRows;

// Returns the function of a tile of a whole strip: of the first panel, which copies B, or of
// others.
template <typename T>
TileFunction<T> FindTileOfStrip(int64_t rows, bool copies) {
  constexpr int kRows = kTileRows;
  constexpr int kVectors = kTileVectors;
  if (copies) {
    return rows == kRows ? Tile<T, kRows, kVectors, false, false, true, true, true>
                         : Tile<T, kRows - 1, kVectors, false, false, true, true, true>;
  }
  return rows == kRows ? Tile<T, kRows, kVectors, false, false, false, true>
                       : Tile<T, kRows - 1, kVectors, false, false, false, true>;
}

// Walks over the rows of a strip of B, of which each tile of the strip before it fetches some.
template <typename T>
class NextStrip {
 public:
  // `first` is the strip's first row; null where there is no strip.
  NextStrip(const T* first, int64_t row_step, int64_t rows, int64_t tiles)
      : row_(first), row_step_(row_step), left_(rows), for_tile_((rows + tiles - 1) / tiles) {}

  void SetNext(TileCall<T>* call) {
    call->later_count = row_ == nullptr ? 0 : std::min(for_tile_, left_);
    if (call->later_count == 0) return;
    call->later = row_;
    call->later_step = row_step_;
    row_ += call->later_count * row_step_;
    left_ -= call->later_count;
  }

 private:
  const T* row_;
  int64_t row_step_;
  int64_t left_;
  int64_t for_tile_;
};

// Rows of A and steps along k that are multiplied with all strips.
struct StripGroup {
  int64_t row;
  int64_t rows;
  int64_t p;
  int64_t k;
};

// Multiplies the group with all of B. `copy` has room for a strip, and rows [next_p, next_p + k) of
// B are those of the next group.
template <typename T>
void MultiplyGroup(const HostProduct<T>& product, const StripGroup& group, int64_t next_p,
                   T* copy) {
  constexpr int64_t kLanes = Multiply<T>::kLanes;
  constexpr int64_t kTileCols = Multiply<T>::kTileCols;
  const Strided<T>& b = product.b;
  const Panels panels(group.rows, kTileRows);
  const int64_t tiles = (group.rows + kTileRows - 1) / kTileRows;
  TileCall<T> call = TileCallOf(product, group.p, group.k);
  call.a_row = product.a.row_step;
  call.b_ahead = kStripRowsAhead * b.row_step;
  call.copy = copy;
  for (int64_t col = 0; col < product.n; col += kTileCols) {
    call.cols = std::min(kTileCols, product.n - col);
    const bool is_whole = call.cols == kTileCols;
    const int64_t vectors = (call.cols + kLanes - 1) / kLanes;
    const bool tail = call.cols % kLanes != 0;
    if (!is_whole) PackRuns(b.At(group.p, col), b.row_step, call.cols, group.k, copy, kTileCols);
    const int64_t next_col = col + kTileCols;
    const T* const next = next_col < product.n ? b.At(group.p, next_col)
                          : next_p < product.k ? b.At(next_p, 0)
                                               : nullptr;
    NextStrip<T> next_strip(next, b.row_step, group.k, tiles);
    panels.ForEach([&](int64_t i, int64_t height) {
      call.a = product.a.At(group.row + i, group.p);
      call.c = product.c + (group.row + i) * product.ldc + col;
      const bool copies = i == 0 && is_whole;
      call.b = copies ? b.At(group.p, col) : copy;
      call.b_row = copies ? b.row_step : kTileCols;
      if (is_whole) {
        next_strip.SetNext(&call);
        return FindTileOfStrip<T>(height, copies)(call);
      }
      call.later_count = 0;
      FindTile<T>(height, vectors, tail, /*unit_rows=*/false)(call);
    });
  }
}

// Computes the product. REQUIRES: rows of A and of B have no gaps; m >= kMinRowsOfStrips.
template <typename T>
void MultiplyStrips(const HostProduct<T>& product) {
  constexpr int64_t kBytes = sizeof(T);
  const int64_t depth = StripDepth<T>(product.k);
  // A group of A takes a third of the L2 cache.
  const int64_t most_rows = std::max(HostCacheSizes().l2 / 3 / (depth * kBytes), kMinRowsOfStrips);
  const int64_t rows = EqualParts(product.m, most_rows, kTileRows);
  T* const copy = PackBuffers<T>::OfThread().b.AtLeast(depth * Multiply<T>::kTileCols);
  for (int64_t p = 0; p < product.k; p += depth) {
    const int64_t k = std::min(depth, product.k - p);
    for (int64_t row = 0; row < product.m; row += rows) {
      const bool is_last = row + rows >= product.m;
      MultiplyGroup(product, {row, std::min(rows, product.m - row), p, k}, is_last ? p + depth : p,
                    copy);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_STRIPS_INL_H_

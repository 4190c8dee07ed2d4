// Which of the host's ways to compute a product is taken on one core, from its shape and layout.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_FORMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_FORMS_INL_H_
#undef STRIDEWISE_MATMUL_CPU_FORMS_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_FORMS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/dots-inl.h"
#include "matmul/cpu/few_rows-inl.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/outer-inl.h"
#include "matmul/cpu/packed-inl.h"
#include "matmul/cpu/strips-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

enum class Form {
  kOuterProducts,  // A shallow k.
  kDots,           // Few rows or columns, operands that lie along k.
  kTransposed,     // Few columns of C from a transposed A, as few rows of C's transpose.
  kInPlace,        // Tiles from operands that are read where they lie.
  kFewRows,        // Few rows, and a large B whose rows are far apart.
  kStrips,         // Strips of B that the first panel of a group of rows copies.
  kPacked,
};

// Rows of B so far apart, or a multiple of it, lie in few sets of the caches.
inline constexpr int64_t kSetBytes = 4096;
inline constexpr int64_t kPageBytes = 4096;

// A Xeon fetches what follows to the L1 cache where rows are less far apart. A B whose rows lie
// further apart is read where it lies only if it is small, 128 x 256 floats. With many rows of A a
// copy repays itself earlier: on a Xeon's core it is 1.1 times as fast for squares of 320 to 448.
inline constexpr int64_t kMaxFollowedBytes = 2048;
inline constexpr int64_t kMaxFollowedBytesOfTall = 1200;
inline constexpr int64_t kMinTall = 257;
inline constexpr int64_t kMaxBytesInPlace = 128 << 10;

// In place tiles go down strips of C. Where its rows are long and it leaves the caches between
// calls, going along rows is up to 1.6 times as fast, beside which the copy of B is nothing.
inline constexpr int64_t kMaxBytesOfStrips = 320 << 10;

// From these numbers of rows of A and of steps along k on the copy of a B whose rows are far apart
// repays itself.
inline constexpr int64_t kMinRowsOfCopy = 40;
inline constexpr int64_t kMinDepthOfCopy = 64;

// From this number of rows of A and of steps along k on strips are faster than blocks, unless the
// rows of B that are multiplied at once take more than kMaxBytesOfStripDepth: they are read again
// for each group of rows of A, which the L2 cache has to repay.
inline constexpr int64_t kMinRowsOfGroups = 256;
inline constexpr int64_t kMinDepthOfStrips = 128;
inline constexpr int64_t kMaxBytesOfStripDepth = 3 << 19;

// So many columns, a vector or two, repay loading elements of A to registers; four vectors those
// of a deeper k, and as many rows that B stays in the L1 cache for a while.
inline constexpr int64_t kMinOuterCols = 24;
inline constexpr int64_t kMinOuterColsOfDeeper = 64;
inline constexpr int64_t kMinOuterRowsOfDeeper = 96;
inline constexpr int64_t kDeeper = 7;

// Shorter rows of B are not worth reading one by one, and a smaller B is not for more than three
// rows: tiles load and store no sums, but what comes from memory comes faster along its rows.
inline constexpr int64_t kMinFewRowBytes = 256;
inline constexpr int64_t kMinBytesOfFewRows = 8 << 20;

// Up to this number of rows of A dot products are faster than packing a B that lies along k. They
// read a vector of each operand for a multiply-add where a tile reads an element of one, and their
// lanes are added at the end, which only a deep k repays. Where A is copied too, k is to be twice
// as deep.
inline int64_t MostDots(int64_t k) { return std::max<int64_t>(4, std::min<int64_t>(32, k / 8)); }

// Returns whether so few columns of a B that lies along k are faster as dot products than in tiles,
// beside which their copy is nothing: those fill less than two thirds of a tile's vectors.
template <typename T>
bool AreDotCols(int64_t n, int64_t k) {
  constexpr int64_t kLanes = Multiply<T>::kLanes;
  const int64_t vectors = (n + kLanes - 1) / kLanes;
  return n <= MostDots(k) && (n <= kDotCols || 3 * n < 2 * vectors * kLanes);
}

// The same for columns of a B whose rows have no gaps: beside dot products, tiles of one vector.
inline int64_t MostDotCols(int64_t k) {
  return std::max<int64_t>(4, std::min<int64_t>(12, k / 16));
}

// Columns of A in this number of pages are more than a first translation buffer has entries for.
inline constexpr int64_t kMinPages = 192;

// Returns whether few columns of C from a transposed A are faster as rows of C's transpose, for
// which A is read along its rows: where tiles would leave many lanes of a vector idle, or read A
// from many pages. To turn those rows into columns of C takes as long as eight steps along k.
template <typename T>
bool AreRowsOfTranspose(const HostProduct<T>& product) {
  constexpr int64_t kLanes = Multiply<T>::kLanes;
  constexpr int64_t kStepsOfTurn = 8;
  const int64_t m = product.m;
  const int64_t n = product.n;
  const int64_t k = product.k;
  if (n <= kDotCols && n < m) return true;
  if (n > kMaxFewRows || 2 * n > m) return false;
  const auto lanes = [](int64_t cols) { return (cols + kLanes - 1) / kLanes * kLanes; };
  if (5 * n * lanes(m) * (k + kStepsOfTurn) <= 4 * m * lanes(n) * k) return true;
  const int64_t column_bytes = product.a.col_step * int64_t{sizeof(T)};
  const bool has_pages = k * std::min(column_bytes, kPageBytes) >= kMinPages * kPageBytes;
  const bool is_large = m * k * int64_t{sizeof(T)} > HostCacheSizes().l2 / 2;
  return has_pages || (is_large && 4 * n <= m);
}

template <typename T>
Form FormOf(const HostProduct<T>& product) {
  constexpr int64_t kBytes = sizeof(T);
  const int64_t m = product.m;
  const int64_t n = product.n;
  const int64_t k = product.k;
  const bool rows_of_a = product.a.col_step == 1;
  const bool rows_of_b = product.b.col_step == 1;
  const bool is_outer = k < kDeeper ? n >= kMinOuterCols && (rows_of_b || m >= 4)
                                    : n >= kMinOuterColsOfDeeper && m >= kMinOuterRowsOfDeeper;
  if (k <= kMaxOuterDepth && is_outer) return Form::kOuterProducts;
  if (rows_of_b && n <= MostDotCols(k) && n < m && rows_of_a) return Form::kDots;
  if (!rows_of_a && AreRowsOfTranspose(product)) return Form::kTransposed;
  const bool few = rows_of_a ? m <= MostDots(k) || AreDotCols<T>(n, k)
                             : m <= kDotCols || (m <= MostDots(k / 2) && 4 * m <= n);
  if (!rows_of_b) return few ? Form::kDots : Form::kPacked;
  // Packing repays itself once B leaves the L2 cache, or where it lies in few of its sets, and is
  // read more often than by a few tiles.
  const int64_t l2 = HostCacheSizes().l2;
  const int64_t b_bytes = n * k * kBytes;
  const int64_t row_bytes = product.b.row_step * kBytes;
  const bool is_far = row_bytes >= kPageBytes && n * kBytes >= kMinFewRowBytes;
  const bool shares_sets = row_bytes % kSetBytes == 0;
  const int64_t least = m <= kMaxRowsOfEight ? l2 : kMinBytesOfFewRows;
  if (m <= kMaxFewRows && is_far && b_bytes > least) return Form::kFewRows;
  const bool is_read_again = shares_sets && m > MaxRows(2) && b_bytes <= l2 / 4;
  if ((m < kMinRowsOfCopy && !is_read_again) || n <= Multiply<T>::kTileCols) return Form::kInPlace;
  const int64_t followed = m >= kMinTall ? kMaxFollowedBytesOfTall : kMaxFollowedBytes;
  const int64_t most_bytes = row_bytes < followed   ? l2 / 2
                             : k >= kMinDepthOfCopy ? 0
                                                    : kMaxBytesInPlace;
  const bool goes_down = n * kBytes > kMaxFollowedBytesOfTall && m * n * kBytes > kMaxBytesOfStrips;
  const bool is_small = b_bytes <= most_bytes && !shares_sets && !goes_down;
  if (is_small) return Form::kInPlace;
  const bool are_strips = kTileVectors == 3 && rows_of_a && m >= kMinRowsOfGroups &&
                          k >= kMinDepthOfStrips &&
                          StripDepth<T>(k) * n * kBytes <= kMaxBytesOfStripDepth;
  return are_strips ? Form::kStrips : Form::kPacked;
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_FORMS_INL_H_

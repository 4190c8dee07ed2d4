// The micro-kernel: a tile of C in registers, one rank-1 update for each step along k.
//
// A tile has kRows rows and kVectors vectors of columns. A step loads kVectors vectors of B and
// broadcasts kRows elements of A, each from memory, for kRows * kVectors fused multiply-adds. Sizes
// follow from the registers and the ports: with two multiply-adds of four cycles' latency a cycle
// eight accumulators are the least; the loads, two a cycle too, must be fewer than the
// multiply-adds; accumulators, B and a broadcast share 32 vector registers (AVX-512, NEON) or 16.
// With AVX-512 8 x 3 has 24 multiply-adds for 11 loads, fewer for each than the 28 for 16 of
// 14 x 2, which is for narrow products; 6 x 2 has 12 for 8 and uses 15 of 16 registers.
//
// Included once for each instruction set (Highway's foreach_target.h).

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_TILE_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_TILE_KERNEL_INL_H_
#undef STRIDEWISE_MATMUL_CPU_TILE_KERNEL_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_TILE_KERNEL_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The tile of packed panels is kTileRows x kTileVectors. Where operands are read in place other
// widths are chosen to fit the product: MaxRows() has the largest height for each.
#if HWY_TARGET <= HWY_AVX3
constexpr int kTileVectors = 3;
#else
constexpr int kTileVectors = 2;
#endif
constexpr int kMaxVectors = 8;
#if HWY_TARGET <= HWY_AVX3
constexpr int MaxRows(int vectors) {
  return vectors <= 2 ? 14 : vectors == 3 ? 8 : vectors == 4 ? 6 : 3;
}
#elif HWY_TARGET == HWY_NEON
constexpr int MaxRows(int vectors) {
  return vectors <= 2 ? 12 : vectors == 3 ? 8 : vectors == 4 ? 6 : 3;
}
#else
constexpr int MaxRows(int vectors) {
  return vectors <= 2 ? 6 : vectors == 3 ? 4 : vectors == 4 ? 3 : 1;
}
#endif
constexpr int kTileRows = MaxRows(kTileVectors);

// What a call of the micro-kernel reads and writes.
template <typename T>
struct TileCall {
  int64_t k;
  const T* a;     // Element (i, p) is a[i * a_row + p * a_col]; one of the steps is 1.
  int64_t a_row;  // 1 where A's columns have no gaps, as in packed panels.
  int64_t a_col;
  const T* b;  // Row p begins at b + p * b_row.
  int64_t b_row;
  T* c;
  int64_t ldc;
  int64_t cols;  // More than kVectors - 1 vectors, at most kVectors.
  T alpha;
  T beta;
  // What is fetched to the L2 cache meanwhile, for later: two addresses `later_row` apart every
  // four steps along k, but in the first ones, and then those `later_step` on, at most
  // `later_count` times. Tiles of strips fetch a row of the tile's width instead.
  const T* later = nullptr;
  int64_t later_row = 0;
  int64_t later_step = 0;
  int64_t later_count = 0;
  // How far ahead columns of A are fetched, in elements, where a_row is 1. 0: not at all.
  int64_t a_ahead = 0;
  // How far ahead elements of B are fetched by tiles that do.
  int64_t b_ahead = 0;
  // Where tiles that copy store what they load of B, rows without gaps.
  T* copy = nullptr;
};

template <typename T>
using TileFunction = void (*)(const TileCall<T>& call);

// kTail: the last vector's lanes beyond call.cols are neither read nor written.
// kUnitRows: a_row is 1; addresses of A are then one register and constants. Else a_col is 1.
// kFetchesB: rows of B are fetched call.b_ahead elements before their turn.
// kOfStrip: what is fetched for later are rows of the next strip of B.
// kCopies: rows of B are stored at call.copy.
template <typename T, int kRows, int kVectors, bool kTail, bool kUnitRows, bool kFetchesB = false,
          bool kOfStrip = false, bool kCopies = false>
HWY_ATTR void Tile(const TileCall<T>& call) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  constexpr int kLast = kVectors - 1;
  const auto mask = hn::FirstN(d, static_cast<size_t>(call.cols - kLast * kLanes));
  T* HWY_RESTRICT c = call.c;
  const int64_t ldc = call.ldc;
  V sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(d);
  }
  // Three rows to a base register: x86 adds one and two times an index to it.
  constexpr int kBases = kUnitRows ? 1 : (kRows + 2) / 3;
  constexpr int kBaseRows = kUnitRows ? kRows : 3;
  const int64_t a_row = kUnitRows ? 1 : call.a_row;
  const int64_t a_col = kUnitRows ? call.a_col : 1;
  const int64_t b_row = call.b_row;
  const T* HWY_RESTRICT a[kBases];
#pragma GCC unroll 16
  for (int i = 0; i < kBases; ++i) a[i] = call.a + i * kBaseRows * a_row;
  const T* HWY_RESTRICT b = call.b;
  [[maybe_unused]] T* HWY_RESTRICT copy = call.copy;
  int64_t one_row = a_row;
  int64_t two_rows = 2 * a_row;
  // Adds the product of column `ahead` of A from here and of the next row of B.
  const auto step = [&](int ahead) {
    const auto load_b = [&](int v) {
      return kTail && v == kLast ? hn::MaskedLoad(mask, d, b + v * kLanes)
                                 : hn::LoadU(d, b + v * kLanes);
    };
    // Else the compiler would keep a sum of step and column for each of several steps.
    if constexpr (!kUnitRows) asm("" : "+r"(one_row), "+r"(two_rows));
    const auto load_a = [&](int i) {
      const int row = i % kBaseRows;
      const int64_t offset = kUnitRows ? row : row == 0 ? 0 : row == 1 ? one_row : two_rows;
      return hn::Set(d, (a[i / kBaseRows] + offset)[ahead]);
    };
    if constexpr (kRows < kVectors) {  // Keeps in registers the operand that has fewer.
      V as[kRows];
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) as[i] = load_a(i);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        const V element = load_b(v);
#pragma GCC unroll 16
        for (int i = 0; i < kRows; ++i) sums[i][v] = hn::MulAdd(as[i], element, sums[i][v]);
      }
    } else {
      V bs[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) bs[v] = load_b(v);
      if constexpr (kCopies) {
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) hn::StoreU(bs[v], d, copy + v * kLanes);
        copy += kVectors * kLanes;
      }
      // A second name for A hides from the compiler that its elements are loaded already.
      const T* HWY_RESTRICT again = a[0];
      asm("" : "+r"(again));
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const V element = load_a(i);
        constexpr bool kLoadsAgain = kUnitRows && kVectors == 2;
        const V second = kLoadsAgain && i % 2 == 0 ? hn::Set(d, again[i]) : element;
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          sums[i][v] = hn::MulAdd(v == 1 ? second : element, bs[v], sums[i][v]);
        }
      }
    }
    if constexpr (kFetchesB) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(b + call.b_ahead + v * kLanes, 0, 3);
    }
    b += b_row;
    if constexpr (kUnitRows) a[0] += a_col;
  };
  // Advances A by columns where steps have not.
  const auto advance = [&](int columns) {
    if constexpr (!kUnitRows) {
#pragma GCC unroll 16
      for (int i = 0; i < kBases; ++i) a[i] += columns;
    }
  };
  // Eight steps of the tile of packed panels, as many as a panel has rows.
  constexpr int kSteps = kVectors > 4 ? 1 : kVectors == 3 && kVectors == kTileVectors ? 8 : 4;
  const T* next_c = c;
  const T* later = call.later;
  const int64_t later_row = call.later_row;
  const int64_t later_step = call.later_step;
  int64_t later_count = call.later_count;
  const T* const end_c = c + kRows * ldc;
  const int64_t a_ahead = kUnitRows ? call.a_ahead : 0;
  int64_t p = call.k;
  for (; p >= kSteps; p -= kSteps) {
    if (kUnitRows && a_ahead != 0) {
#pragma GCC unroll 16
      for (int s = 0; s < kSteps; ++s) {
        const T* const column = a[0] + a_ahead + s * a_col;
        __builtin_prefetch(column, 0, 2);
        __builtin_prefetch(column + kRows - 1, 0, 2);
      }
    }
#pragma GCC unroll 16
    for (int s = 0; s < kSteps; ++s) step(kUnitRows ? 0 : s);
    advance(kSteps);
    // A row of the tile of C in each of the first steps: all at once would hold up the loads of A.
    // In strips a row of the next one follows every eight steps, so that it comes from the L3 cache
    // at an even rate.
#pragma GCC unroll 16
    for (int s = 0; s < kSteps; s += kOfStrip ? kSteps : 4) {
      if (next_c != end_c) {
        if constexpr (kOfStrip) __builtin_prefetch(next_c + kLanes, 1);
        __builtin_prefetch(next_c, 1);
        __builtin_prefetch(next_c + kVectors * kLanes - 1, 1);
        next_c += ldc;
      } else if (later_count > 0) {
        --later_count;
        if constexpr (kOfStrip) {
#pragma GCC unroll 16
          for (int v = 0; v < kVectors; ++v) __builtin_prefetch(later + v * kLanes, 0, 2);
        } else {
          __builtin_prefetch(later, 0, 2);
          __builtin_prefetch(later + later_row, 0, 2);
        }
        later += later_step;
      }
    }
  }
  for (; p > 0; --p) {
    step(0);
    advance(1);
  }
  if (call.alpha != 1) {
    const V alpha = hn::Set(d, call.alpha);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Mul(alpha, sums[i][v]);
    }
  }
  // Calls fn(sum, address, whether lanes are masked) for each vector of C.
  const auto for_each = [&](auto fn) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        fn(sums[i][v], c + i * ldc + v * kLanes, kTail && v == kLast);
      }
    }
  };
  if (call.beta == 0) {
    return for_each([&](V sum, T* at, bool masked) {
      if (masked) return hn::BlendedStore(sum, mask, d, at);
      hn::StoreU(sum, d, at);
    });
  }
  const V beta = hn::Set(d, call.beta);
  for_each([&](V sum, T* at, bool masked) {
    if (masked) {
      sum = hn::MulAdd(beta, hn::MaskedLoad(mask, d, at), sum);
      return hn::BlendedStore(sum, mask, d, at);
    }
    hn::StoreU(hn::MulAdd(beta, hn::LoadU(d, at), sum), d, at);
  });
}

// The micro-kernels of every number of rows, [rows - 1].
template <typename T, int kVectors, bool kTail, bool kUnitRows, bool kFetchesB = false>
class TileTable {
 public:
  static TileFunction<T> Of(int64_t rows) {
    return Get(rows, std::make_integer_sequence<int, MaxRows(kVectors)>());
  }

 private:
  template <int... kRows>
  static TileFunction<T> Get(int64_t rows, std::integer_sequence<int, kRows...> /*all*/) {
    static constexpr TileFunction<T> kTable[] = {
        Tile<T, kRows + 1, kVectors, kTail, kUnitRows, kFetchesB>...};
    return kTable[rows - 1];
  }
};

// Returns the micro-kernel for a tile of this many rows and vectors, at most MaxRows(vectors).
template <typename T>
TileFunction<T> FindTile(int64_t rows, int64_t vectors, bool tail, bool unit_rows) {
  const auto find = [&](auto tag) {
    constexpr int kVectors = decltype(tag)::value;
    if (unit_rows) {
      return tail ? TileTable<T, kVectors, true, true>::Of(rows)
                  : TileTable<T, kVectors, false, true>::Of(rows);
    }
    return tail ? TileTable<T, kVectors, true, false>::Of(rows)
                : TileTable<T, kVectors, false, false>::Of(rows);
  };
  switch (vectors) {
    case 1:
      return find(std::integral_constant<int, 1>());
    case 2:
      return find(std::integral_constant<int, 2>());
    case 3:
      return find(std::integral_constant<int, 3>());
    case 4:
      return find(std::integral_constant<int, 4>());
    default:
      return find(std::integral_constant<int, kMaxVectors>());
  }
}

// Returns the same without a tail and fetching rows of B; null where there is none.
template <typename T>
TileFunction<T> FindFetchingTile(int64_t rows, int64_t vectors, bool unit_rows) {
  const auto find = [&](auto tag) {
    constexpr int kVectors = decltype(tag)::value;
    return unit_rows ? TileTable<T, kVectors, false, true, true>::Of(rows)
                     : TileTable<T, kVectors, false, false, true>::Of(rows);
  };
  if (vectors == kTileVectors) return find(std::integral_constant<int, kTileVectors>());
  if (vectors == kTileVectors + 1) return find(std::integral_constant<int, kTileVectors + 1>());
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_TILE_KERNEL_INL_H_

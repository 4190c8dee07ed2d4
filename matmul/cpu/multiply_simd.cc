// The packed product of one core, compiled once for each instruction set.
//
// The five loops of Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication",
// 2008) as BLIS orders them: blocks of B's columns, blocks along k, blocks of A's rows, panels of
// B, panels of A; inside, the micro-kernel. Operands that are used too seldom to repay the copy are
// read where they lie.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matmul/cpu/multiply_simd.cc"
// What every x86 processor of today has beside AVX2 and AVX-512 is the baseline, which is compiled
// anyway.
#if !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/dots-inl.h"
#include "matmul/cpu/few_rows-inl.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/packing-inl.h"
#include "matmul/cpu/tile_kernel-inl.h"

#if !defined(STRIDEWISE_MATMUL_CPU_MULTIPLY_SIMD_ONCE)
#define STRIDEWISE_MATMUL_CPU_MULTIPLY_SIMD_ONCE
namespace stridewise {

// Memory of the thread for packed panels, which grows and is kept.
template <typename T>
class PackBuffer {
 public:
  T* AtLeast(int64_t elements) {
    if (elements > size_) {
      const size_t bytes = static_cast<size_t>(elements) * sizeof(T);
      memory_.reset();
      memory_.reset(
          static_cast<T*>(std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment)));
      size_ = elements;
    }
    return memory_.get();
  }

 private:
  static constexpr size_t kAlignment = 4096;
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };

  std::unique_ptr<T, Free> memory_;
  int64_t size_ = 0;
};

template <typename T>
struct PackBuffers {
  PackBuffer<T> a;
  PackBuffer<T> b;
  PackBuffer<T> few;  // Few rows or columns of an operand, or of C.

  static PackBuffers& OfThread() {
    thread_local PackBuffers buffers;
    return buffers;
  }
};

}  // namespace stridewise
#endif  // STRIDEWISE_MATMUL_CPU_MULTIPLY_SIMD_ONCE

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

// Panels of nearly equal heights: a last panel of two rows would take half the time of one of
// fourteen.
class Panels {
 public:
  Panels(int64_t rows, int64_t most)
      : count_((rows + most - 1) / most), lower_(rows / count_), taller_(rows % count_) {}

  int64_t lower() const { return lower_; }
  bool differ() const { return taller_ > 0; }

  // Calls fn(first row, rows) for each panel.
  template <typename Fn>
  void ForEach(Fn fn) const {
    for (int64_t panel = 0, row = 0; panel < count_; ++panel) {
      const int64_t rows = lower_ + (panel < taller_ ? 1 : 0);
      fn(row, rows);
      row += rows;
    }
  }

 private:
  int64_t count_;
  int64_t lower_;   // Height of the lower panels.
  int64_t taller_;  // Panels that have one row more.
};

template <typename T>
class Multiply {
 public:
  explicit Multiply(const HostProduct<T>& product) : product_(product) {}

  // Reads both operands where they lie. REQUIRES: rows of B have no gaps.
  //
  // Rows of A whose distance is a multiple of 4 KiB are in one set of the L1 cache, which has eight
  // lines or more.
  void InPlace(int64_t max_k) const {
    const int64_t vectors = (product_.n + kLanes - 1) / kLanes;
    const int64_t a_step = product_.a.row_step * int64_t{sizeof(T)};
    const int64_t max_rows = a_step > 0 && a_step % 4096 == 0 ? 8 : kTileRows;
    for (int64_t p = 0; p < product_.k; p += max_k) {
      const int64_t k = std::min(max_k, product_.k - p);
      TileCall<T> call = Call(p, k);
      call.a_row = product_.a.row_step;
      call.a_col = product_.a.col_step;
      call.b_row = product_.b.row_step;
      for (int64_t v = 0; v < vectors;) {
        const int64_t width = TileWidth(vectors - v);
        const int64_t col = v * kLanes;
        call.cols = std::min(width * kLanes, product_.n - col);
        call.b = product_.b.At(p, col);
        const int64_t most_rows = std::min<int64_t>(MaxRows(static_cast<int>(width)), max_rows);
        MultiplyPanels(Panels(product_.m, most_rows), width, p, col, &call);
        v += width;
      }
    }
  }

  void Packed(bool packs_a, bool packs_b, const CacheBlocks& blocks) {
    PackBuffers<T>& buffers = PackBuffers<T>::OfThread();
    if (packs_a) packed_a_ = buffers.a.AtLeast(blocks.m * blocks.k);
    if (packs_b) packed_b_ = buffers.b.AtLeast(blocks.n * blocks.k);
    for (int64_t col = 0; col < product_.n; col += blocks.n) {
      const int64_t cols = std::min(blocks.n, product_.n - col);
      for (int64_t p = 0; p < product_.k; p += blocks.k) {
        const int64_t k = std::min(blocks.k, product_.k - p);
        if (packs_b) PackB(p, k, col, cols);
        for (int64_t row = 0; row < product_.m; row += blocks.m) {
          MultiplyBlock(row, std::min(blocks.m, product_.m - row), col, cols, p, k);
        }
      }
    }
  }

  static constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr int64_t kTileCols = kTileVectors * kLanes;

 private:
  static constexpr int64_t kRowsAtOnce = 16;  // Rows of B that are read side by side.

  // Few rows take wide tiles, which read longer pieces of B and have enough sums in flight.
  int64_t TileWidth(int64_t vectors) const {
    if (product_.m <= MaxRows(kMaxVectors) && vectors >= kMaxVectors) return kMaxVectors;
    if (product_.m <= MaxRows(4) && vectors >= 4) return 4;
    if (vectors == 3 || vectors == 5) return 3;
    return std::min<int64_t>(vectors, kTileVectors);
  }

  TileCall<T> Call(int64_t p, int64_t k) const {
    TileCall<T> call;
    call.k = k;
    call.ldc = product_.ldc;
    call.alpha = product_.alpha;
    call.beta = p == 0 ? product_.beta : T{1};
    return call;
  }

  void MultiplyPanels(const Panels& panels, int64_t width, int64_t p, int64_t col,
                      TileCall<T>* call) const {
    const bool tail = call->cols < width * kLanes;
    const bool unit_rows = call->a_row == 1;
    const TileFunction<T> lower = FindTile<T>(panels.lower(), width, tail, unit_rows);
    const TileFunction<T> taller =
        panels.differ() ? FindTile<T>(panels.lower() + 1, width, tail, unit_rows) : lower;
    panels.ForEach([&](int64_t row, int64_t rows) {
      call->a = product_.a.At(row, p);
      call->c = product_.c + row * product_.ldc + col;
      (rows == panels.lower() ? lower : taller)(*call);
    });
  }

  void PackB(int64_t p, int64_t k, int64_t col, int64_t cols) {
    const Strided<T>& b = product_.b;
    for (int64_t i = 0; i < k; i += kRowsAtOnce) {
      for (int64_t j = 0; j < cols; j += kTileCols) {
        // Panels hold rows of B's transpose.
        const Strided<T> part = {b.At(p + i, col + j), b.col_step, b.row_step};
        PackPanel(part, std::min(kTileCols, cols - j), std::min(kRowsAtOnce, k - i),
                  packed_b_ + j * k + i * kTileCols, kTileCols);
      }
    }
  }

  void MultiplyBlock(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t p, int64_t k) {
    const Panels panels(rows, kTileRows);
    const Strided<T>& a = product_.a;
    if (packed_a_ != nullptr) {
      panels.ForEach([&](int64_t i, int64_t h) {
        const Strided<T> part = {a.At(row + i, p), a.row_step, a.col_step};
        PackPanel(part, h, k, packed_a_ + i * k, h);
      });
    }
    TileCall<T> call = Call(p, k);
    for (int64_t j = 0; j < cols; j += kTileCols) {
      call.cols = std::min(kTileCols, cols - j);
      call.b = packed_b_ != nullptr ? packed_b_ + j * k : product_.b.At(p, col + j);
      call.b_row = packed_b_ != nullptr ? kTileCols : product_.b.row_step;
      const int64_t width = (call.cols + kLanes - 1) / kLanes;
      const bool tail = call.cols < width * kLanes;
      const bool unit_rows = packed_a_ != nullptr || a.row_step == 1;
      const TileFunction<T> lower = FindTile<T>(panels.lower(), width, tail, unit_rows);
      const TileFunction<T> taller =
          panels.differ() ? FindTile<T>(panels.lower() + 1, width, tail, unit_rows) : lower;
      panels.ForEach([&](int64_t i, int64_t h) {
        call.a = packed_a_ != nullptr ? packed_a_ + i * k : a.At(row + i, p);
        call.a_row = packed_a_ != nullptr ? 1 : a.row_step;
        call.a_col = packed_a_ != nullptr ? h : a.col_step;
        call.c = product_.c + (row + i) * product_.ldc + col + j;
        (h == panels.lower() ? lower : taller)(call);
      });
    }
  }

  const HostProduct<T>& product_;
  T* packed_a_ = nullptr;  // Null where A is read where it lies.
  T* packed_b_ = nullptr;
};

// Copies few runs of k elements with gaps to runs without.
template <typename T>
const T* WithoutGaps(const T* from, int64_t run_step, int64_t step, int64_t runs, int64_t k) {
  T* to = PackBuffers<T>::OfThread().few.AtLeast(runs * k);
  for (int64_t run = 0; run < runs; ++run) {
    for (int64_t p = 0; p < k; ++p) to[run * k + p] = from[run * run_step + p * step];
  }
  return to;
}

template <typename T>
void MultiplyAny(const HostProduct<T>& product);

// Computes few columns of C from a transposed A as few rows of C's transpose.
template <typename T>
void MultiplyTransposed(const HostProduct<T>& product) {
  std::vector<T> c(static_cast<size_t>(product.m * product.n));
  HostProduct<T> transposed;
  transposed.m = product.n;
  transposed.n = product.m;
  transposed.k = product.k;
  transposed.a = {product.b.data, product.b.col_step, product.b.row_step};
  transposed.b = {product.a.data, product.a.col_step, product.a.row_step};
  transposed.c = c.data();
  transposed.ldc = product.m;
  transposed.alpha = product.alpha;
  MultiplyAny(transposed);
  for (int64_t row = 0; row < product.m; ++row) {
    for (int64_t col = 0; col < product.n; ++col) {
      T& to = product.c[row * product.ldc + col];
      const T value = c[static_cast<size_t>(col * product.m + row)];
      to = product.beta == 0 ? value : value + product.beta * to;
    }
  }
}

template <typename T>
void MultiplyAny(const HostProduct<T>& product) {
  constexpr int64_t kBytes = sizeof(T);
  constexpr int64_t kTileCols = Multiply<T>::kTileCols;
  static const CacheBlocks most = ChooseCacheBlocks(HostCacheSizes(), kBytes, kTileRows, kTileCols);
  const int64_t m = product.m;
  const int64_t n = product.n;
  const int64_t k = product.k;
  Multiply<T> multiply(product);
  const bool rows_of_b = product.b.col_step == 1;
  if (rows_of_b && n > kMaxDots) {
    // Packing repays itself once operands leave the L2 cache, or lie in few of its sets.
    if (n * k * kBytes <= HostCacheSizes().l2 / 4 && m * k * kBytes <= HostCacheSizes().l2 / 2 &&
        product.b.row_step * kBytes % 4096 != 0) {
      return multiply.InPlace(most.k);
    }
    if (n <= kTileCols) return multiply.InPlace(most.k);
    if (m <= kMaxFewRows && n * kBytes >= 2 * kRowSumBytes) return MultiplyFewRows(product);
    if (m <= kTileRows && n * k * kBytes <= HostCacheSizes().l2) return multiply.InPlace(k);
  }
  if (n <= kMaxDots && n < m) {
    if (product.a.col_step != 1) return MultiplyTransposed(product);
    HostProduct<T> dots = product;
    if (product.b.row_step != 1) {
      dots.b = {WithoutGaps(product.b.data, 1, product.b.row_step, n, k), 1, k};
    }
    return MultiplyByDots(dots);
  }
  if (m <= kMaxDots && !rows_of_b) {
    HostProduct<T> dots = product;
    if (product.a.col_step != 1) {
      dots.a = {WithoutGaps(product.a.data, product.a.row_step, product.a.col_step, m, k), k, 1};
    }
    return MultiplyByDots(dots);
  }
  CacheBlocks blocks;
  blocks.k = EqualParts(k, most.k, 8);
  blocks.m = EqualParts(m, most.m, kTileRows);
  // A block of B that serves few rows is multiplied from the L2 cache.
  const int64_t max_n =
      m <= 4 * kTileRows
          ? std::max(HostCacheSizes().l2 / 4 / (most.k * kBytes) / kTileCols, int64_t{1}) *
                kTileCols
          : most.n;
  blocks.n = EqualParts(n, max_n, kTileCols);
  // Rows of A are read where they lie while they stay in the L2 cache, unless they are a multiple
  // of 4 KiB apart, in one set of the L1 cache.
  const bool packs_a =
      n > 4 * kTileCols && m > kTileRows &&
      (m * k * kBytes > HostCacheSizes().l2 / 2 || product.a.row_step * kBytes % 4096 == 0);
  multiply.Packed(packs_a, /*packs_b=*/true, blocks);
}

void MultiplyFloat(const HostProduct<float>& product) { MultiplyAny(product); }
void MultiplyDouble(const HostProduct<double>& product) { MultiplyAny(product); }

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stridewise {

namespace {

struct Target {
  const char* name;
  void (*multiply_float)(const HostProduct<float>& product);
  void (*multiply_double)(const HostProduct<double>& product);
};

// Chooses as HWY_DYNAMIC_DISPATCH does. Its function is in a library that Debian has as a shared
// object only, and a binary is to run on machines without it.
Target ChooseTarget() {
#if HWY_TARGETS & HWY_AVX3
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    return {"avx512", N_AVX3::MultiplyFloat, N_AVX3::MultiplyDouble};
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return {"avx2", N_AVX2::MultiplyFloat, N_AVX2::MultiplyDouble};
  }
#endif
  return {"baseline", HWY_STATIC_DISPATCH(MultiplyFloat), HWY_STATIC_DISPATCH(MultiplyDouble)};
}

const Target& ChosenTarget() {
  static const Target target = ChooseTarget();
  return target;
}

}  // namespace

void MultiplyOnOneCore(const HostProduct<float>& product) {
  ChosenTarget().multiply_float(product);
}

void MultiplyOnOneCore(const HostProduct<double>& product) {
  ChosenTarget().multiply_double(product);
}

const char* SimdInstructionSet() { return ChosenTarget().name; }

}  // namespace stridewise
#endif  // HWY_ONCE

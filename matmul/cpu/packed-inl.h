// The product of one core in blocks, panels and tiles.
//
// The five loops of Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication",
// 2008) with A and B in exchanged roles: blocks of A's rows, blocks along k, blocks of B's columns,
// panels of A, panels of B; inside, the micro-kernel. Operands that are used too seldom to repay
// the copy are read where they lie.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_PACKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_PACKED_INL_H_
#undef STRIDEWISE_MATMUL_CPU_PACKED_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_PACKED_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/packing-inl.h"
#include "matmul/cpu/tile_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns what is the same for all tiles of steps [p, p + k) along k.
template <typename T>
TileCall<T> TileCallOf(const HostProduct<T>& product, int64_t p, int64_t k) {
  TileCall<T> call;
  call.k = k;
  call.a_col = 1;
  call.ldc = product.ldc;
  call.alpha = product.alpha;
  call.beta = p == 0 ? product.beta : T{1};
  return call;
}

template <typename T>
class Multiply {
 public:
  static constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr int64_t kTileCols = kTileVectors * kLanes;
  static constexpr int64_t kLine = 64 / sizeof(T);

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
      TileCall<T> call = TileCallOf(product_, p, k);
      call.a_row = product_.a.row_step;
      call.a_col = product_.a.col_step;
      call.b_row = product_.b.row_step;
      call.a_ahead = ColumnsAhead();
      call.b_ahead = RowsAhead();
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

  // Keeps a panel of A in the L1 cache and a block of B, which streams past it, in the L2 cache,
  // and goes along rows of C. The other way round, each tile of C in other pages than the one
  // before it, is slower (docs/cpu_matmul.md).
  void Packed(bool packs_a, const CacheBlocks& blocks) {
    UseBuffers(packs_a, blocks);
    for (int64_t row = 0; row < product_.m; row += blocks.m) {
      const int64_t rows = std::min(blocks.m, product_.m - row);
      for (int64_t p = 0; p < product_.k; p += blocks.k) {
        const int64_t k = std::min(blocks.k, product_.k - p);
        if (packs_a) PackA(row, rows, p, k);
        for (int64_t col = 0; col < product_.n; col += blocks.n) {
          const int64_t cols = std::min(blocks.n, product_.n - col);
          PackB(p, k, col, cols);
          Later later = BlockAfter(blocks, row, p, col);
          MultiplyBlock(row, rows, col, cols, p, k, &later);
        }
      }
    }
  }

  // Walks over the lines of a block of B, column of lines by column of lines, while tiles are
  // computed.
  struct Later {
    const T* begin = nullptr;  // Null: there is none.
    int64_t rows = 0;
    int64_t lines = 0;
    int64_t row_step = 0;
    int64_t line = 0;
    int64_t row = 0;

    void SetNext(int64_t k, TileCall<T>* call) {
      call->later_count = line < lines ? k : 0;
      if (line >= lines) return;
      call->later = begin + line * kLine + row * row_step;
      call->later_row = row_step;
      call->later_step = 2 * row_step;
      row += std::max<int64_t>(k / 4 - kTileRows, 1) * 2;
      if (row < rows) return;
      row = 0;
      ++line;
    }
  };

  // Returns the block of B from row p and column col on; none behind the last column.
  Later LaterBlock(const CacheBlocks& blocks, int64_t p, int64_t col) const {
    Later later;
    if (product_.b.col_step != 1 || col >= product_.n) return later;
    later.begin = product_.b.At(p, col);
    later.rows = std::min(blocks.k, product_.k - p);
    later.lines = (std::min(blocks.n, product_.n - col) + kLine - 1) / kLine;
    later.row_step = product_.b.row_step;
    return later;
  }

  // Has memory for packed panels: of B, and of A where `packs_a`.
  void UseBuffers(bool packs_a, const CacheBlocks& blocks) {
    PackBuffers<T>& buffers = PackBuffers<T>::OfThread();
    if (packs_a) packed_a_ = buffers.a.AtLeast(blocks.m * blocks.k);
    packed_b_ = buffers.b.AtLeast(blocks.n * blocks.k);
  }

  void PackB(int64_t p, int64_t k, int64_t col, int64_t cols) {
    const Strided<T>& b = product_.b;
    // Columns of a B that lies along k are read from end to end, rows side by side.
    const int64_t rows_at_once = b.row_step == 1 && b.col_step != 1 ? k : kRowsAtOnce;
    for (int64_t i = 0; i < k; i += rows_at_once) {
      for (int64_t j = 0; j < cols; j += kTileCols) {
        // Panels hold rows of B's transpose.
        const Strided<T> part = {b.At(p + i, col + j), b.col_step, b.row_step};
        PackPanel(part, std::min(kTileCols, cols - j), std::min(rows_at_once, k - i),
                  packed_b_ + j * k + i * kTileCols, kTileCols);
      }
    }
  }

  void PackA(int64_t row, int64_t rows, int64_t p, int64_t k) {
    const Strided<T>& a = product_.a;
    Panels(rows, kTileRows).ForEach([&](int64_t i, int64_t h) {
      const Strided<T> part = {a.At(row + i, p), a.row_step, a.col_step};
      PackPanel(part, h, k, packed_a_ + i * k, h);
    });
  }

  void MultiplyBlock(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t p, int64_t k,
                     Later* later) {
    const Strided<T>& a = product_.a;
    const bool unit_rows = packed_a_ != nullptr || a.row_step == 1;
    const int64_t whole = cols / kTileCols * kTileCols;
    const int64_t last_width = (cols - whole + kLanes - 1) / kLanes;
    const bool last_tail = (cols - whole) % kLanes != 0;
    const int64_t b_step = packed_b_ != nullptr ? kTileCols * k : kTileCols;
    TileCall<T> call = TileCallOf(product_, p, k);
    call.b_row = packed_b_ != nullptr ? kTileCols : product_.b.row_step;
    call.a_ahead = packed_a_ != nullptr ? 0 : ColumnsAhead();
    Panels(rows, kTileRows).ForEach([&](int64_t i, int64_t h) {
      call.a = packed_a_ != nullptr ? packed_a_ + i * k : a.At(row + i, p);
      call.a_row = packed_a_ != nullptr ? 1 : a.row_step;
      call.a_col = packed_a_ != nullptr ? h : a.col_step;
      call.b = packed_b_ != nullptr ? packed_b_ : product_.b.At(p, col);
      call.c = product_.c + (row + i) * product_.ldc + col;
      call.cols = kTileCols;
      const TileFunction<T> tile = FindTile<T>(h, kTileVectors, /*tail=*/false, unit_rows);
      for (int64_t j = 0; j < whole; j += kTileCols) {
        if (later->begin != nullptr) {
          later->SetNext(k, &call);
        } else {
          SetNextPanel(row + i + h, j / kTileCols, row + rows, p, &call);
        }
        tile(call);
        call.b += b_step;
        call.c += kTileCols;
      }
      if (whole == cols) return;
      call.cols = cols - whole;
      FindTile<T>(h, last_width, last_tail, unit_rows)(call);
    });
  }

 private:
  static constexpr int64_t kRowsAtOnce = 16;  // Rows of B that are read side by side.
  // Taller blocks of A are multiplied for so long that the copy of the next block of B, which the
  // L2 cache would have to hold meanwhile, takes little of it.
  static constexpr int64_t kMaxRowsOfFetch = 256;

  // Columns of A whose distance is more than the processor's prefetching follows are fetched, 32
  // ahead, if they come from beyond the L2 cache.
  int64_t ColumnsAhead() const {
    const Strided<T>& a = product_.a;
    constexpr int64_t kMinStep = 256 / sizeof(T);
    constexpr int64_t kAhead = 32;
    const bool is_large = product_.m * product_.k * int64_t{sizeof(T)} > HostCacheSizes().l2 / 4;
    return a.row_step == 1 && a.col_step > kMinStep && is_large ? kAhead * a.col_step : 0;
  }

  // Rows of B that lie in pages of their own, of which a tile reads a line or two each, are fetched
  // eight ahead, if B is more than a part of the L2 cache. Those that share sets of the L1 cache
  // are in any case, because panels of rows do not find there what others have read, but only as
  // many as half of a set holds.
  int64_t RowsAhead() const {
    constexpr int64_t kBytes = sizeof(T);
    constexpr int64_t kAhead = 8;
    constexpr int64_t kSet = 4096 / kBytes;
    const CacheSizes& caches = HostCacheSizes();
    const int64_t step = product_.b.row_step;
    const bool shares_sets = step % kSet == 0;
    const int64_t least = shares_sets ? caches.l1 : caches.l2 / 4;
    if (step < kSet || product_.n * product_.k * kBytes <= least) return 0;
    return (shares_sets ? std::min(kAhead, caches.l1 / 4096 / 2) : kAhead) * step;
  }

  // Has tile `tile` of a panel fetch two rows of the next panel of A, which begins at `row`.
  void SetNextPanel(int64_t row, int64_t tile, int64_t end_row, int64_t p,
                    TileCall<T>* call) const {
    const int64_t first = row + 2 * tile;
    const bool fetches = packed_a_ == nullptr && product_.a.col_step == 1 && 2 * tile < kTileRows &&
                         first + 1 < end_row;
    call->later_count = fetches ? (call->k + kLine - 1) / kLine : 0;
    if (!fetches) return;
    call->later = product_.a.At(first, p);
    call->later_row = product_.a.row_step;
    call->later_step = kLine;
  }

  // Few rows take wide tiles, which read longer pieces of B and have enough sums in flight. Others
  // of up to four vectors: the wider a tile is, the fewer loads there are for a multiply-add, and a
  // core that shares its ports with another thread is the slower the more instructions there are.
  int64_t TileWidth(int64_t vectors) const {
    if (product_.m <= MaxRows(kMaxVectors) && vectors >= kMaxVectors) return kMaxVectors;
    if (product_.m <= MaxRows(4) && vectors >= 4) return 4;
    if (kTileVectors == 2) return vectors == 3 || vectors == 5 ? 3 : std::min<int64_t>(vectors, 2);
    // Rows of one tile read B once. Divisions by constants: those by variables take a tenth of a
    // product of 8 x 8 x 8.
    const bool is_three = product_.m > MaxRows(4) && product_.m <= MaxRows(3);
    const int64_t strips = is_three ? (vectors + 2) / 3 : (vectors + 3) / 4;
    return strips == 1 ? vectors : (vectors + strips - 1) / strips;
  }

  void MultiplyPanels(const Panels& panels, int64_t width, int64_t p, int64_t col,
                      TileCall<T>* call) const {
    const bool tail = call->cols < width * kLanes;
    const bool unit_rows = call->a_row == 1;
    const TileFunction<T> lower = FindTile<T>(panels.lower(), width, tail, unit_rows);
    const TileFunction<T> taller =
        panels.differ() ? FindTile<T>(panels.lower() + 1, width, tail, unit_rows) : lower;
    // The first panel of rows fetches for all.
    const TileFunction<T> fetching =
        call->b_ahead == 0 || tail
            ? nullptr
            : FindFetchingTile<T>(panels.lower() + (panels.differ() ? 1 : 0), width, unit_rows);
    panels.ForEach([&](int64_t row, int64_t rows) {
      call->a = product_.a.At(row, p);
      call->c = product_.c + row * product_.ldc + col;
      const TileFunction<T> tile = rows == panels.lower() ? lower : taller;
      (row == 0 && fetching != nullptr ? fetching : tile)(*call);
    });
  }

  // Returns the block of B that is packed after this one.
  Later BlockAfter(const CacheBlocks& blocks, int64_t row, int64_t p, int64_t col) const {
    if (std::min(blocks.m, product_.m) > kMaxRowsOfFetch) return Later();
    if (col + blocks.n < product_.n) return LaterBlock(blocks, p, col + blocks.n);
    if (p + blocks.k < product_.k) return LaterBlock(blocks, p + blocks.k, 0);
    return row + blocks.m < product_.m ? LaterBlock(blocks, 0, 0) : Later();
  }

  const HostProduct<T>& product_;
  T* packed_a_ = nullptr;  // Null where A is read where it lies.
  T* packed_b_ = nullptr;
};

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_PACKED_INL_H_

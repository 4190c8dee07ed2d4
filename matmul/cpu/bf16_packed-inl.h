// The product of bfloat16 on one core in blocks, panels and tiles: the loops of packed-inl.h.

#ifndef STRIDEWISE_MATMUL_CPU_BF16_PACKED_INL_H_
#define STRIDEWISE_MATMUL_CPU_BF16_PACKED_INL_H_

#include <algorithm>
#include <cstdint>

#include "common/base/half_types.h"
#include "hwy/base.h"
#include "matmul/cpu/bf16_packing-inl.h"
#include "matmul/cpu/bf16_tile-inl.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"

HWY_PUSH_ATTRIBUTES(STRIDEWISE_BF16_TARGET)
namespace stridewise {
namespace bf16 {

// Rows of A that lie without gaps have the words that a tile reads.
inline bool PacksA(const HostProduct<Bf16, float>& product) { return product.a.col_step != 1; }

// Returns whether a copy of A that is used for all blocks of B repays itself: also of rows without
// gaps, of which a panel is eight short runs, if they do not stay in the L2 cache and there are
// some blocks (docs/cpu_matmul.md). A team copies for each block, and asks PacksA().
inline bool PacksAForAll(const HostProduct<Bf16, float>& product, const CacheBlocks& blocks) {
  constexpr int64_t kMinUsesOfCopy = 4;
  const bool is_large = product.m * product.k * int64_t{sizeof(Bf16)} > HostCacheSizes().l2;
  return PacksA(product) || (is_large && product.n >= kMinUsesOfCopy * blocks.n);
}

// Up to this number of rows of A the copy of B decides, and long pieces of its rows are faster to
// read than short ones: blocks have a quarter of the steps along k and four times the columns.
inline constexpr int64_t kMaxLowRows = 256;

inline CacheBlocks BlocksOf(const HostProduct<Bf16, float>& product) {
  static const CacheBlocks usual =
      ChooseCacheBlocks(HostCacheSizes(), int64_t{sizeof(Bf16)}, int64_t{kTileRows}, kTileCols);
  CacheBlocks most = usual;
  if (product.b.col_step == 1 && product.m <= kMaxLowRows && product.n > usual.n) {
    most.k /= 4;
    most.n *= 4;
  }
  CacheBlocks blocks;
  blocks.k = EqualParts(product.k, most.k, 8);
  blocks.n = EqualParts(product.n, most.n, kTileCols);
  blocks.m = EqualParts(product.m, most.m, kTileRows);
  return blocks;
}

// Calls fn(first column, columns) for each strip of a tile's width. Four vectors are two strips of
// two: a tile of one vector has too few sums in flight, and takes half as long again.
template <typename Fn>
void ForEachStrip(int64_t cols, Fn fn) {
  for (int64_t j = 0; j < cols;) {
    const int64_t left = cols - j;
    const bool is_four = left > kTileCols && left <= kTileCols + kLanes;
    const int64_t width = is_four ? 2 * kLanes : std::min(kTileCols, left);
    fn(j, width);
    j += width;
  }
}

// Walks over the lines of a block of B, a line of each run, then the next of each, while tiles are
// computed.
struct Later {
  const Bf16* begin = nullptr;
  int64_t runs = 0;
  int64_t lines = 0;  // Of a run.
  int64_t run_step = 0;
  int64_t run = 0;
  int64_t line = 0;

  void SetNext(int64_t k, TileCall* call) {
    call->later_lines = 0;
    if (line >= lines) return;
    call->later = begin + line * kLineElements + run * run_step;
    call->later_step = run_step;
    const int64_t most = std::max<int64_t>(k / 8 - kTileRows, 1) * 2;
    call->later_lines = std::min(most, runs - run);
    run += most;
    if (run < runs) return;
    run = 0;
    ++line;
  }

 private:
  static constexpr int64_t kLineElements = 64 / sizeof(Bf16);
};

// Returns the block of B from row p and column col on; none behind the last column.
inline Later LaterBlock(const HostProduct<Bf16, float>& product, const CacheBlocks& blocks,
                        int64_t p, int64_t col) {
  Later later;
  if (col >= product.n) return later;
  const bool by_rows = product.b.col_step == 1;
  const int64_t rows = std::min(blocks.k, product.k - p);
  const int64_t cols = std::min(blocks.n, product.n - col);
  later.begin = product.b.At(p, col);
  later.runs = by_rows ? rows : cols;
  later.lines = ((by_rows ? cols : rows) * int64_t{sizeof(Bf16)} + 63) / 64;
  later.run_step = by_rows ? product.b.row_step : product.b.col_step;
  return later;
}

class Multiply {
 public:
  Multiply(const HostProduct<Bf16, float>& product, const Target& c, const CacheBlocks& blocks)
      : Multiply(product, c, blocks, PacksA(product)) {}

  Multiply(const HostProduct<Bf16, float>& product, const Target& c, const CacheBlocks& blocks,
           bool packs_a)
      : product_(product), c_(c), blocks_(blocks) {
    PackBuffers<uint32_t>& buffers = PackBuffers<uint32_t>::OfThread();
    if (packs_a) packed_a_ = buffers.a.AtLeast(blocks.m * blocks.k / 2);
    packed_b_ = buffers.b.AtLeast(blocks.n * blocks.k / 2);
  }

  void PackA(int64_t row, int64_t rows, int64_t p, int64_t k) {
    if (packed_a_ == nullptr) return;
    const int64_t runs = product_.a.col_step == 1 ? k : kRunsAtOnce;
    for (int64_t q = 0; q < k; q += runs) {
      Panels(rows, kTileRows).ForEach([&](int64_t i, int64_t height) {
        const Strided<Bf16> part = {product_.a.At(row + i, p + q), product_.a.row_step,
                                    product_.a.col_step};
        PackPairs(part, height, std::min(runs, k - q),
                  packed_a_ + i * ((k + 1) / 2) + q / 2 * height, height);
      });
    }
  }

  void PackB(int64_t p, int64_t k, int64_t col, int64_t cols) {
    const Strided<Bf16>& b = product_.b;
    const int64_t runs = b.col_step == 1 ? kRunsAtOnce : k;
    for (int64_t q = 0; q < k; q += runs) {
      ForEachStrip(cols, [&](int64_t j, int64_t count) {
        const int64_t width = (count + kLanes - 1) / kLanes * kLanes;
        // Rows of B's transpose.
        const Strided<Bf16> part = {b.At(p + q, col + j), b.col_step, b.row_step};
        PackPairs(part, count, std::min(runs, k - q), packed_b_ + j * ((k + 1) / 2) + q / 2 * width,
                  width);
      });
    }
  }

  Later LaterBlock(int64_t p, int64_t col) const {
    return bf16::LaterBlock(product_, blocks_, p, col);
  }

  // Multiplies packed blocks. C's elements are complete after the last block along k.
  void MultiplyBlock(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t p, int64_t k,
                     Later* later) {
    const bool is_last = p + k == product_.k;
    const int64_t pairs = (k + 1) / 2;
    TileCall call = {};
    call.k = k;
    call.a_row = product_.a.row_step;
    call.c = c_;
    call.c.beta = p == 0 ? c_.beta : 1.0f;
    if (!is_last) call.c.out = nullptr;
    Panels(rows, kTileRows).ForEach([&](int64_t i, int64_t height) {
      if (packed_a_ != nullptr) {
        call.a = packed_a_ + i * pairs;
      } else {
        call.a = product_.a.At(row + i, p);
      }
      ForEachStrip(cols, [&](int64_t j, int64_t width) {
        const int64_t vectors = (width + kLanes - 1) / kLanes;
        call.b = packed_b_ + j * pairs;
        if (c_.sums != nullptr) call.c.sums = c_.sums + (row + i) * c_.sums_step + col + j;
        if (call.c.out != nullptr) call.c.out = c_.out + (row + i) * c_.out_step + col + j;
        call.last = FirstLanes(width - (vectors - 1) * kLanes);
        later->SetNext(k, &call);
        FindTile(height, vectors, packed_a_ != nullptr)(call);
      });
    });
  }

 private:
  // Runs across that are read side by side, a line of each: as many as a set of the L1 cache holds.
  static constexpr int64_t kRunsAtOnce = 8;

  const HostProduct<Bf16, float>& product_;
  const Target c_;
  const CacheBlocks blocks_;
  uint32_t* packed_a_ = nullptr;  // Null where A is read where it lies.
  uint32_t* packed_b_ = nullptr;
};

// Computes the product on one core: blocks of rows, along k and of columns, as `multiply` packs and
// multiplies them: Multiply, or MultiplyAmx.
template <typename Blocks>
void MultiplyAllBlocks(const HostProduct<Bf16, float>& product, const CacheBlocks& blocks,
                       Blocks multiply) {
  // Returns the block of B that is packed after this one.
  const auto block_after = [&](int64_t row, int64_t p, int64_t col) {
    if (col + blocks.n < product.n) return LaterBlock(product, blocks, p, col + blocks.n);
    if (p + blocks.k < product.k) return LaterBlock(product, blocks, p + blocks.k, 0);
    return row + blocks.m < product.m ? LaterBlock(product, blocks, 0, 0) : Later();
  };
  for (int64_t row = 0; row < product.m; row += blocks.m) {
    const int64_t rows = std::min(blocks.m, product.m - row);
    for (int64_t p = 0; p < product.k; p += blocks.k) {
      const int64_t k = std::min(blocks.k, product.k - p);
      multiply.PackA(row, rows, p, k);
      for (int64_t col = 0; col < product.n; col += blocks.n) {
        const int64_t cols = std::min(blocks.n, product.n - col);
        multiply.PackB(p, k, col, cols);
        Later later = block_after(row, p, col);
        multiply.MultiplyBlock(row, rows, col, cols, p, k, &later);
      }
    }
  }
}

}  // namespace bf16
}  // namespace stridewise
HWY_POP_ATTRIBUTES

#endif  // STRIDEWISE_MATMUL_CPU_BF16_PACKED_INL_H_

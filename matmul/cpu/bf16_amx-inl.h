// Blocks of a product of bfloat16 by AMX: the loops of bf16_packed-inl.h.
//
// Both operands are packed in whole tiles: of A a row holds 32 elements of one row, of B the pairs
// that VDPBF16PS reads of 16 columns. What lies beyond the operands is zero, so that no tile is
// smaller than another.

#ifndef STRIDEWISE_MATMUL_CPU_BF16_AMX_INL_H_
#define STRIDEWISE_MATMUL_CPU_BF16_AMX_INL_H_

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "common/base/amx_tiles.h"
#include "common/base/half_types.h"
#include "hwy/base.h"
#include "matmul/cpu/bf16_amx_tile-inl.h"
#include "matmul/cpu/bf16_packed-inl.h"
#include "matmul/cpu/bf16_packing-inl.h"
#include "matmul/cpu/bf16_tile-inl.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"

HWY_PUSH_ATTRIBUTES(STRIDEWISE_AMX_TARGET)
namespace stridewise {
namespace bf16 {

inline constexpr int64_t kAmxRowsOfA = 4096;  // Of a block: 8 MB.

// Returns steps of 32 along k.
inline int64_t AmxSteps(int64_t k) { return (k + kWide - 1) / kWide; }

// Steps along k of a block. Each block costs a pass over C, so that a deep one is faster than one
// whose panel of A stays in the L1 cache (docs/cpu_matmul.md). Few rows take longer pieces of B's
// rows.
inline constexpr int64_t kAmxDepth = 1024;
inline constexpr int64_t kAmxDepthOfLowRows = 512;

inline CacheBlocks AmxBlocksOf(const HostProduct<Bf16, float>& product) {
  constexpr int64_t kBytes = sizeof(Bf16);
  const int64_t depth = product.m <= kMaxLowRows ? kAmxDepthOfLowRows : kAmxDepth;
  const int64_t cols = HostCacheSizes().l2 / 3 / (depth * kBytes) / kWide * kWide;
  CacheBlocks blocks;
  blocks.k = EqualParts(product.k, depth, kWide);
  blocks.n = EqualParts(product.n, std::max(cols, kWide), kWide);
  blocks.m = EqualParts(product.m, kAmxRowsOfA, kAmxPanelRows);
  blocks.panel = kAmxPanelRows;
  return blocks;
}

// The same functions as Multiply, with AMX.
class MultiplyAmx {
 public:
  MultiplyAmx(const HostProduct<Bf16, float>& product, const Target& c, const CacheBlocks& blocks)
      : product_(product), c_(c), blocks_(blocks) {
    PackBuffers<uint32_t>& buffers = PackBuffers<uint32_t>::OfThread();
    const int64_t words = AmxSteps(blocks.k) * kLanes;  // Of a row of A, or a column of B.
    packed_a_ = buffers.a.AtLeast((blocks.m + kAmxPanelRows) * words);
    packed_b_ = buffers.b.AtLeast((blocks.n + kColsOfWide) * words);
  }

  void PackA(int64_t row, int64_t rows, int64_t p, int64_t k) {
    uint32_t* to = packed_a_;
    Panels(rows, kAmxPanelRows).ForEach([&](int64_t i, int64_t height) {
      for (int64_t r = 0; r < height; r += kAmxRows, to += AmxSteps(k) * kAmxWords) {
        PackTiles(row + i + r, std::min(kAmxRows, height - r), p, k, to);
      }
    });
  }

  void PackB(int64_t p, int64_t k, int64_t col, int64_t cols) {
    const Strided<Bf16>& b = product_.b;
    const int64_t strip = AmxSteps(k) * kAmxWords;
    const int64_t strips = StripsOf(cols);
    const int64_t runs = b.col_step == 1 ? kRunsAtOnce : k;
    for (int64_t q = 0; q < k; q += runs) {
      for (int64_t i = 0; i < strips; ++i) {
        const Strided<Bf16> part = {b.At(p + q, col + i * kLanes), b.col_step, b.row_step};
        PackPairs(part, std::clamp<int64_t>(cols - i * kLanes, 0, kLanes), std::min(runs, k - q),
                  packed_b_ + i * strip + q / 2 * kLanes, kLanes);
      }
    }
    const int64_t end = (k + 1) / 2 * kLanes;
    for (int64_t i = 0; i < strips; ++i) {
      std::fill(packed_b_ + i * strip + end, packed_b_ + (i + 1) * strip, 0);
    }
  }

  Later LaterBlock(int64_t p, int64_t col) const {
    return bf16::LaterBlock(product_, blocks_, p, col);
  }

  void MultiplyBlock(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t p, int64_t k,
                     Later* later) {
    alignas(64) float sums[kAmxPanelRows * 2 * kLanes];
    const AmxTiles tiles;
    const int64_t steps = AmxSteps(k);
    const int64_t strips = StripsOf(cols);
    TileCall call = {};
    call.k = k;
    call.a = packed_a_;
    call.c = c_;
    call.c.beta = p == 0 ? c_.beta : 1.0f;
    if (p + k < product_.k) call.c.out = nullptr;
    Panels(rows, kAmxPanelRows).ForEach([&](int64_t i, int64_t height) {
      const bool is_low = height <= kAmxRows;
      for (int64_t strip = 0; strip < strips;) {
        const bool is_wide = is_low && strips - strip >= 4;
        const int64_t width = is_wide ? 4 : 2;
        const int64_t j = strip * kLanes;
        call.b = packed_b_ + strip * steps * kAmxWords;
        if (c_.sums != nullptr) call.c.sums = c_.sums + (row + i) * c_.sums_step + col + j;
        if (call.c.out != nullptr) call.c.out = c_.out + (row + i) * c_.out_step + col + j;
        later->SetNext(k, &call);
        const Fetches fetches(call, height, std::min(width * kLanes, cols - j));
        // Whole tiles of a C of float are stored where they belong.
        const bool is_whole = height == (is_low ? kAmxRows : kAmxPanelRows) &&
                              (is_wide || !is_low) && cols - j >= width * kLanes;
        const bool is_direct = is_whole && call.c.out == nullptr && call.c.alpha == 1 &&
                               (call.c.beta == 0 || call.c.beta == 1);
        const AmxSums to = is_direct ? AmxSums{call.c.sums, call.c.sums_step, call.c.beta == 1}
                                     : AmxSums{sums, width * kLanes, false};
        (is_wide ? AmxWide : AmxSquare)(call, steps, fetches, to);
        for (int64_t r = 0; r < height && !is_direct; ++r) {
          for (int64_t v = 0; v < width; ++v) {
            const __mmask16 mask = FirstLanes(cols - j - v * kLanes);
            if (mask == 0) break;
            StoreSums(call.c, r, v * kLanes, mask, _mm512_load_ps(sums + (r * width + v) * kLanes));
          }
        }
        strip += width;
      }
      const int64_t tile_rows = is_low ? 1 : 2;
      call.a = static_cast<const uint32_t*>(call.a) + tile_rows * steps * kAmxWords;
    });
  }

 private:
  static constexpr int64_t kRunsAtOnce = 8;
  static constexpr int64_t kColsOfWide = 4 * kLanes;

  // Of 16 columns, an even number.
  static int64_t StripsOf(int64_t cols) { return (cols + kWide - 1) / kWide * 2; }

  // Packs up to 16 rows of A, step by step.
  void PackTiles(int64_t row, int64_t rows, int64_t p, int64_t k, uint32_t* to) const {
    const Strided<Bf16>& a = product_.a;
    const int64_t steps = AmxSteps(k);
    if (a.col_step != 1) {
      for (int64_t s = 0; s < steps; ++s) {
        // The words of B's pairs, for rows of A instead of columns; transposed they are A's rows.
        const int64_t depth = std::min(kWide, k - s * kWide);
        uint32_t* const tile = to + s * kAmxWords;
        PackAcross(a.At(row, p + s * kWide), a.col_step, rows, depth, tile, kLanes);
        std::fill(tile + (depth + 1) / 2 * kLanes, tile + kAmxWords, 0);
        __m512i words[kLanes];
#pragma GCC unroll 16
        for (int64_t r = 0; r < kLanes; ++r) words[r] = _mm512_load_si512(tile + r * kLanes);
        TransposeWords(words);
#pragma GCC unroll 16
        for (int64_t r = 0; r < kLanes; ++r) _mm512_store_si512(tile + r * kLanes, words[r]);
      }
      return;
    }
    for (int64_t r = 0; r < kAmxRows; ++r) {
      const Bf16* const from = a.At(row + r, p);
      for (int64_t s = 0; s < steps; ++s) {
        const __mmask32 mask = r < rows ? FirstElements(k - s * kWide) : 0;
        _mm512_store_si512(to + s * kAmxWords + r * kLanes,
                           _mm512_maskz_loadu_epi16(mask, from + s * kWide));
      }
    }
  }

  const HostProduct<Bf16, float>& product_;
  const Target c_;
  const CacheBlocks blocks_;
  uint32_t* packed_a_;
  uint32_t* packed_b_;
};

}  // namespace bf16
}  // namespace stridewise
HWY_POP_ATTRIBUTES

#endif  // STRIDEWISE_MATMUL_CPU_BF16_AMX_INL_H_

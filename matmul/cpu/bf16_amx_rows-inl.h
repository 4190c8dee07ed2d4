// Products of bfloat16 by AMX of a large operand whose rows lie along k and few rows or columns of
// the other one: rows of A and few columns of B, or columns of B that lie along k and few rows of
// A. Tiles of the large one are read where they lie, once, and nothing but the small one is packed.
//
// A row of a tile of TDPBF16PS's first operand is 32 elements along k, as such rows have them. What
// the second one reads are pairs, which only the small operand is packed to. Where the large one is
// B, sums are those of C's transpose, and are transposed in registers.

#ifndef STRIDEWISE_MATMUL_CPU_BF16_AMX_ROWS_INL_H_
#define STRIDEWISE_MATMUL_CPU_BF16_AMX_ROWS_INL_H_

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "common/base/amx_tiles.h"
#include "common/base/half_types.h"
#include "hwy/base.h"
#include "matmul/cpu/bf16_amx-inl.h"
#include "matmul/cpu/bf16_amx_tile-inl.h"
#include "matmul/cpu/bf16_packing-inl.h"
#include "matmul/cpu/bf16_tile-inl.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"

HWY_PUSH_ATTRIBUTES(STRIDEWISE_AMX_TARGET)
namespace stridewise {
namespace bf16 {

// A panel of 32 rows of the large operand, `step` elements apart: whole steps of 32 along k, and
// the elements behind them, zeros behind these, where there are some.
struct RowPanel {
  const Bf16* rows;
  int64_t step;
  int64_t steps;
  const Bf16* rest;  // Null: none.
};

// Computes sums of 32 rows by kStrips strips of 16 columns, 32 floats from row to row.
template <int kStrips>
void MultiplyRowPanel(const RowPanel& panel, const uint32_t* packed, int64_t strip_words,
                      float* sums) {
  const AmxQuad quad = {
      {sums, sums + kLanes, sums + kAmxRows * kWide, sums + kAmxRows * kWide + kLanes},
      kWide * int64_t{sizeof(float)}};
  quad.Load(/*adds=*/false);
  const auto step = [&](const Bf16* rows, int64_t row_bytes) {
    _tile_loadd(4, rows, row_bytes);
    _tile_loadd(6, packed, kAmxRowBytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kStrips == 2) {
      _tile_loadd(7, packed + strip_words, kAmxRowBytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    _tile_loadd(5, rows + kAmxRows * (row_bytes / int64_t{sizeof(Bf16)}), row_bytes);
    _tile_dpbf16ps(2, 5, 6);
    if constexpr (kStrips == 2) _tile_dpbf16ps(3, 5, 7);
    packed += kAmxWords;
  };
  const int64_t row_bytes = panel.step * int64_t{sizeof(Bf16)};
  // The processor follows the 32 rows: fetching them ahead takes 1.3 times as long for 8 rows of A.
  for (int64_t s = 0; s < panel.steps; ++s) step(panel.rows + s * kWide, row_bytes);
  if (panel.rest != nullptr) step(panel.rest, kAmxRowBytes);
  quad.Store();
}

// Copies up to 32 rows of k elements to rows of whole steps; what there is not is zero.
inline void CopyRows(const Bf16* from, int64_t step, int64_t rows, int64_t k, Bf16* to) {
  const int64_t to_step = AmxSteps(k) * kWide;
  for (int64_t r = 0; r < kAmxPanelRows; ++r) {
    for (int64_t p = 0; p < k; p += kWide) {
      const __mmask32 mask = r < rows ? FirstElements(k - p) : 0;
      _mm512_storeu_si512(to + r * to_step + p,
                          _mm512_maskz_loadu_epi16(mask, from + r * step + p));
    }
  }
}

// Stores sums of `rows` rows by `cols` columns as they are, from row `row` of C on.
inline void StoreRows(const Target& c, const float* sums, int64_t row, int64_t rows, int64_t col,
                      int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t v = 0; v < cols; v += kLanes) {
      StoreSums(c, row + r, col + v, FirstLanes(cols - v), _mm512_load_ps(sums + r * kWide + v));
    }
  }
}

// Stores them as columns of C, from column `row` on.
inline void StoreTransposed(const Target& c, const float* sums, int64_t row, int64_t rows,
                            int64_t col, int64_t cols) {
  for (int64_t r = 0; r < rows; r += kLanes) {
    for (int64_t v = 0; v < cols; v += kLanes) {
      __m512i words[kLanes];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kLanes; ++i) {
        words[i] = _mm512_load_si512(sums + (r + i) * kWide + v);
      }
      TransposeWords(words);
      for (int64_t i = 0; i < std::min(kLanes, cols - v); ++i) {
        StoreSums(c, col + v + i, row + r, FirstLanes(rows - r), _mm512_castsi512_ps(words[i]));
      }
    }
  }
}

// Computes the product; `c` says where C is. REQUIRES: where there are fewer rows than columns,
// columns of B have no gaps, else rows of A.
inline void MultiplyRowsInPlace(const HostProduct<Bf16, float>& product, const Target& c) {
  const int64_t k = product.k;
  const bool is_b = product.m < product.n;  // The large operand.
  const int64_t rows = is_b ? product.n : product.m;
  const int64_t cols = is_b ? product.m : product.n;
  const Bf16* const large = is_b ? product.b.data : product.a.data;
  const int64_t step = is_b ? product.b.col_step : product.a.row_step;
  Strided<Bf16> small = product.a;
  if (!is_b) small = {product.b.data, product.b.col_step, product.b.row_step};

  PackBuffers<uint32_t>& buffers = PackBuffers<uint32_t>::OfThread();
  const int64_t strip_words = AmxSteps(k) * kAmxWords;
  const int64_t strips = (cols + kLanes - 1) / kLanes;
  uint32_t* const packed = buffers.b.AtLeast(strips * strip_words);
  for (int64_t i = 0; i < strips; ++i) {
    uint32_t* const to = packed + i * strip_words;
    const Strided<Bf16> part = {small.At(i * kLanes, 0), small.row_step, small.col_step};
    PackPairs(part, std::min(kLanes, cols - i * kLanes), k, to, kLanes);
    std::fill(to + (k + 1) / 2 * kLanes, to + strip_words, 0);
  }

  const AmxTiles tiles;
  alignas(64) float sums[kAmxPanelRows * kWide];
  alignas(64) Bf16 rest[kAmxPanelRows * kWide];
  for (int64_t row = 0; row < rows; row += kAmxPanelRows) {
    const int64_t height = std::min(kAmxPanelRows, rows - row);
    const Bf16* const from = large + row * step;
    RowPanel panel = {from, step, k / kWide, nullptr};
    if (height < kAmxPanelRows) {
      Bf16* const copy =
          PackBuffers<Bf16>::OfThread().few.AtLeast(kAmxPanelRows * AmxSteps(k) * kWide);
      CopyRows(from, step, height, k, copy);
      panel = {copy, AmxSteps(k) * kWide, AmxSteps(k), nullptr};
    } else if (k % kWide != 0) {
      CopyRows(from + k / kWide * kWide, step, height, k % kWide, rest);
      panel.rest = rest;
    }
    for (int64_t strip = 0; strip < strips; strip += 2) {
      const int64_t col = strip * kLanes;
      const uint32_t* const columns = packed + strip * strip_words;
      if (strips - strip == 1) {
        MultiplyRowPanel<1>(panel, columns, strip_words, sums);
      } else {
        MultiplyRowPanel<2>(panel, columns, strip_words, sums);
      }
      const int64_t width = std::min(kWide, cols - col);
      (is_b ? StoreTransposed : StoreRows)(c, sums, row, height, col, width);
    }
  }
}

}  // namespace bf16
}  // namespace stridewise
HWY_POP_ATTRIBUTES

#endif  // STRIDEWISE_MATMUL_CPU_BF16_AMX_ROWS_INL_H_

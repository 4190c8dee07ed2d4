// Products of bfloat16 with VDPBF16PS, which adds two products along k to each of 16 sums.
//
// Both operands are packed in pairs along k, the word that the instruction reads: of B three
// vectors of columns side by side, of A up to eight rows, of which a word is broadcast. The loops
// and the tile are those of packed-inl.h, with half as many steps along k. Highway 1.0 has no such
// instruction, so these are intrinsics.

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "common/base/half_types.h"
#include "hwy/base.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/multiply_bf16.h"
#include "matmul/cpu/pack_buffers.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace stridewise {
namespace {

constexpr int kTileRows = 8;
constexpr int kTileVectors = 3;
constexpr int64_t kLanes = 16;
constexpr int64_t kTileCols = kTileVectors * kLanes;

// Returns a mask of the first `count` lanes; none below 0, all from 16 on.
__mmask16 FirstLanes(int64_t count) {
  const int64_t lanes = std::clamp<int64_t>(count, 0, kLanes);
  return static_cast<__mmask16>((uint32_t{1} << lanes) - 1);
}

// Packs `count` runs along k, `step` apart: pair p of run i to to[p * width + i]. Eight runs at a
// time: more that are a power of two apart would share a set of the L1 cache.
void PackAlong(const Bf16* from, int64_t step, int64_t count, int64_t k, uint32_t* to,
               int64_t width) {
  constexpr int64_t kRuns = 8;
  const int64_t pairs = k / 2;
  for (int64_t first = 0; first < count; first += kRuns) {
    const int64_t runs = std::min(kRuns, count - first);
    const Bf16* const run = from + first * step;
    uint32_t* const lane = to + first;
    for (int64_t p = 0; p < pairs; ++p) {
      for (int64_t i = 0; i < runs; ++i) {
        std::memcpy(lane + p * width + i, run + i * step + 2 * p, sizeof(uint32_t));
      }
    }
    if (k % 2 == 0) continue;
    for (int64_t i = 0; i < runs; ++i) lane[pairs * width + i] = run[i * step + k - 1].bits;
  }
  for (int64_t p = 0; p < (k + 1) / 2; ++p) {
    std::fill(to + p * width + count, to + (p + 1) * width, 0u);
  }
}

// Packs k runs across, `step` apart, of `count` elements each.
void PackAcross(const Bf16* from, int64_t step, int64_t count, int64_t k, uint32_t* to,
                int64_t width) {
  for (int64_t p = 0; p < k; p += 2, to += width) {
    const Bf16* const low = from + p * step;
    for (int64_t i = 0; i < width; i += kLanes) {
      const __mmask16 mask = FirstLanes(count - i);
      __m512i pairs = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, low + i));
      if (p + 1 < k) {
        const __m256i high = _mm256_maskz_loadu_epi16(mask, low + step + i);
        pairs = _mm512_or_si512(pairs, _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
      }
      _mm512_mask_storeu_epi32(to + i, FirstLanes(width - i), pairs);
    }
  }
}

// Packs `count` rows of A, or of B's transpose, k elements of each.
void PackPairs(const Strided<Bf16>& from, int64_t count, int64_t k, uint32_t* to, int64_t width) {
  if (from.col_step == 1) {
    PackAlong(from.data, from.row_step, count, k, to, width);
  } else {
    PackAcross(from.data, from.col_step, count, k, to, width);
  }
}

struct TileOfPairs {
  const uint32_t* a;
  const uint32_t* b;
  int64_t pairs;  // Along k.
  float* c;
  int64_t ldc;
  __mmask16 last;  // Lanes of the last vector that are columns of C.
  float alpha;
  float beta;
};

template <int kRows, int kVectors>
void Tile(const TileOfPairs& call) {
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) sums[i][v] = _mm512_setzero_ps();
  }
  const uint32_t* a = call.a;
  const uint32_t* b = call.b;
  for (int i = 0; i < kRows; ++i) {
    _mm_prefetch(reinterpret_cast<const char*>(call.c + i * call.ldc), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(call.c + i * call.ldc + kVectors * kLanes - 1),
                 _MM_HINT_T0);
  }
  for (int64_t p = 0; p < call.pairs; ++p, a += kRows, b += kVectors * kLanes) {
    __m512i columns[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) columns[v] = _mm512_loadu_si512(b + v * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const __m512i element = _mm512_set1_epi32(static_cast<int>(a[i]));
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = _mm512_dpbf16_ps(sums[i][v], reinterpret_cast<__m512bh>(element),
                                      reinterpret_cast<__m512bh>(columns[v]));
      }
    }
  }
  const __m512 alpha = _mm512_set1_ps(call.alpha);
  const __m512 beta = _mm512_set1_ps(call.beta);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      float* const to = call.c + i * call.ldc + v * kLanes;
      const __mmask16 mask = v == kVectors - 1 ? call.last : FirstLanes(kLanes);
      __m512 sum = _mm512_mul_ps(alpha, sums[i][v]);
      if (call.beta != 0) sum = _mm512_fmadd_ps(beta, _mm512_maskz_loadu_ps(mask, to), sum);
      _mm512_mask_storeu_ps(to, mask, sum);
    }
  }
}

using TileFunction = void (*)(const TileOfPairs& call);

template <int kVectors, int... kRows>
TileFunction TileOfRows(int64_t rows, std::integer_sequence<int, kRows...> /*all*/) {
  static constexpr TileFunction kTable[] = {Tile<kRows + 1, kVectors>...};
  return kTable[rows - 1];
}

TileFunction FindTile(int64_t rows, int64_t vectors) {
  constexpr auto kAll = std::make_integer_sequence<int, kTileRows>();
  return vectors == 1   ? TileOfRows<1>(rows, kAll)
         : vectors == 2 ? TileOfRows<2>(rows, kAll)
                        : TileOfRows<3>(rows, kAll);
}

struct PairBuffers {
  PackBuffer<uint32_t> a;
  PackBuffer<uint32_t> b;

  static PairBuffers& OfThread() {
    thread_local PairBuffers buffers;
    return buffers;
  }
};

// Multiplies the packed rows with the packed columns of B from `col` on.
void MultiplyBlock(const HostProduct<Bf16, float>& product, const uint32_t* packed_a,
                   const uint32_t* packed_b, int64_t row, int64_t rows, int64_t col, int64_t cols,
                   TileOfPairs call) {
  Panels(rows, kTileRows).ForEach([&](int64_t i, int64_t height) {
    call.a = packed_a + i * call.pairs;
    for (int64_t j = 0; j < cols; j += kTileCols) {
      const int64_t width = std::min(kTileCols, cols - j);
      const int64_t vectors = (width + kLanes - 1) / kLanes;
      call.b = packed_b + j * call.pairs;
      call.c = product.c + (row + i) * product.ldc + col + j;
      call.last = FirstLanes(width - (vectors - 1) * kLanes);
      FindTile(height, vectors)(call);
    }
  });
}

}  // namespace

void MultiplyBf16Pairs(const HostProduct<Bf16, float>& product) {
  static const CacheBlocks most =
      ChooseCacheBlocks(HostCacheSizes(), int64_t{sizeof(Bf16)}, int64_t{kTileRows}, kTileCols);
  const int64_t block_k = EqualParts(product.k, most.k, 8);
  const int64_t block_n = EqualParts(product.n, most.n, kTileCols);
  const int64_t block_m = EqualParts(product.m, most.m, kTileRows);
  PairBuffers& buffers = PairBuffers::OfThread();
  uint32_t* const packed_a = buffers.a.AtLeast(block_m * block_k / 2);
  uint32_t* const packed_b = buffers.b.AtLeast(block_n * block_k / 2);
  TileOfPairs call = {};
  call.ldc = product.ldc;
  call.alpha = product.alpha;
  for (int64_t row = 0; row < product.m; row += block_m) {
    const int64_t rows = std::min(block_m, product.m - row);
    for (int64_t p = 0; p < product.k; p += block_k) {
      const int64_t k = std::min(block_k, product.k - p);
      call.pairs = (k + 1) / 2;
      call.beta = p == 0 ? product.beta : 1.0f;
      Panels(rows, kTileRows).ForEach([&](int64_t i, int64_t height) {
        PackPairs({product.a.At(row + i, p), product.a.row_step, product.a.col_step}, height, k,
                  packed_a + i * call.pairs, height);
      });
      for (int64_t col = 0; col < product.n; col += block_n) {
        const int64_t cols = std::min(block_n, product.n - col);
        for (int64_t j = 0; j < cols; j += kTileCols) {
          const int64_t width = std::min(kTileCols, cols - j);
          // Rows of B's transpose.
          PackPairs({product.b.At(p, col + j), product.b.col_step, product.b.row_step}, width, k,
                    packed_b + j * call.pairs, (width + kLanes - 1) / kLanes * kLanes);
        }
        MultiplyBlock(product, packed_a, packed_b, row, rows, col, cols, call);
      }
    }
  }
}

}  // namespace stridewise
HWY_POP_ATTRIBUTES
#endif  // defined(__x86_64__)

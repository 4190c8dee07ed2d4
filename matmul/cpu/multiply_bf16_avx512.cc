// Products of bfloat16 with VDPBF16PS, which adds two products along k to each of 16 sums.
//
// Operands that are used often are packed in pairs along k, the word that the instruction reads: of
// B three vectors of columns side by side, of A up to eight rows, of which a word is broadcast.
// Others are read where they lie. Highway 1.0 has no such instruction, so these are intrinsics.
// Where there is AMX, what is packed is for its tiles.

#if defined(__x86_64__)
// GCC 12 takes its own headers' undefined vectors for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/base/half_types.h"
#include "common/base/simd_target.h"
#include "hwy/base.h"
#include "matmul/cpu/bf16_amx-inl.h"
#include "matmul/cpu/bf16_amx_rows-inl.h"
#include "matmul/cpu/bf16_dots-inl.h"
#include "matmul/cpu/bf16_few_rows-inl.h"
#include "matmul/cpu/bf16_packed-inl.h"
#include "matmul/cpu/bf16_packing-inl.h"
#include "matmul/cpu/bf16_tile-inl.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/multiply_bf16.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/team.h"

HWY_PUSH_ATTRIBUTES(STRIDEWISE_BF16_TARGET)
namespace stridewise {
namespace bf16 {
namespace {

enum class Form {
  kDots,         // Few rows or columns, operands that lie along k.
  kTransposed,   // Few columns of C from a transposed A, as few rows of C's transpose.
  kFewRows,      // Few rows, and rows of B.
  kRowsInPlace,  // Few rows or columns, beside a large operand whose rows lie along k, in AMX's
                 // tiles.
  kPacked,
};

// What multiplies packed operands.
enum class Unit { kVectors, kTiles };

Unit BestUnit() { return HasBf16Tiles() ? Unit::kTiles : Unit::kVectors; }

CacheBlocks BlocksFor(Unit unit, const HostProduct<Bf16, float>& product) {
  return unit == Unit::kTiles ? AmxBlocksOf(product) : BlocksOf(product);
}

// What packing repays from on, in rows of C, or in its columns where rows of A lie along k.
constexpr int64_t kMaxFewRows = 16;

// The same of rows of C where there are AMX's tiles, by where B lies.
constexpr int64_t kMaxFewRowsBesideTiles = 6;
constexpr int64_t kMaxDotRowsBesideTiles = 8;

// Up to this number of columns a transposed A is read as the B of C's transpose: as rows.
constexpr int64_t kMaxTransposedCols = 32;

// Rows or columns that AMX's tiles multiply with an operand along k that is read where it lies;
// fewer ones are dot products.
constexpr int64_t kMinBesideRowsInPlace = 5;
constexpr int64_t kMaxBesideRowsInPlace = 64;

bool AreRowsInPlace(const HostProduct<Bf16, float>& product, Unit unit) {
  const int64_t few = std::min(product.m, product.n);
  const bool are_few = few >= kMinBesideRowsInPlace && few <= kMaxBesideRowsInPlace;
  const bool lie_along_k =
      product.m < product.n ? product.b.row_step == 1 : product.a.col_step == 1;
  return unit == Unit::kTiles && are_few && lie_along_k;
}

Form FormOf(const HostProduct<Bf16, float>& product, Unit unit) {
  if (AreRowsInPlace(product, unit)) return Form::kRowsInPlace;
  const bool rows_of_a = product.a.col_step == 1;
  const bool rows_of_b = product.b.col_step == 1;
  if (product.m <= kMaxFewRows && product.m <= product.n) {
    const int64_t most = unit == Unit::kVectors ? kMaxFewRows
                         : rows_of_b            ? kMaxFewRowsBesideTiles
                                                : kMaxDotRowsBesideTiles;
    if (product.m > most) return Form::kPacked;
    return rows_of_b ? Form::kFewRows : Form::kDots;
  }
  const int64_t most_cols = unit == Unit::kVectors ? kMaxFewRows : kMaxDotRowsBesideTiles;
  if (rows_of_a) return product.n <= most_cols ? Form::kDots : Form::kPacked;
  const bool few_cols = product.n <= kMaxTransposedCols && product.n < product.m;
  return few_cols ? Form::kTransposed : Form::kPacked;
}

// Returns the operands of a product, whatever its C is.
template <typename Out>
HostProduct<Bf16, float> OperandsOf(const HostProduct<Bf16, Out>& product) {
  HostProduct<Bf16, float> operands;
  operands.m = product.m;
  operands.n = product.n;
  operands.k = product.k;
  operands.a = product.a;
  operands.b = product.b;
  return operands;
}

Target TargetOf(const HostProduct<Bf16, float>& product) {
  Target c;
  c.sums = product.c;
  c.sums_step = product.ldc;
  c.alpha = product.alpha;
  c.beta = product.beta;
  return c;
}

// `sums`, where there are some, have a row for each of C and no gaps.
Target TargetOf(const HostProduct<Bf16>& product, float* sums = nullptr) {
  Target c;
  c.sums = sums;
  c.sums_step = product.n;
  c.alpha = product.alpha;
  c.out = product.c;
  c.out_step = product.ldc;
  c.out_beta = product.beta;
  return c;
}

// Copies few neighbouring runs of k elements, `step` apart, to runs without gaps.
const Bf16* WithoutGaps(const Bf16* from, int64_t step, int64_t runs, int64_t k) {
  Bf16* const to = PackBuffers<Bf16>::OfThread().few.AtLeast(runs * k);
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t i = 0; i < runs; ++i) to[i * k + p] = from[p * step + i];
  }
  return to;
}

void MultiplyDots(HostProduct<Bf16, float> product, const Target& c) {
  if (product.a.col_step != 1) {
    product.a = {WithoutGaps(product.a.data, product.a.col_step, product.m, product.k), product.k,
                 1};
  } else if (product.b.row_step != 1) {
    product.b = {WithoutGaps(product.b.data, product.b.row_step, product.n, product.k), 1,
                 product.k};
  }
  MultiplyByDots(product, c);
}

void MultiplyAny(const HostProduct<Bf16, float>& product, const Target& c, Unit unit);

void MultiplyTransposed(const HostProduct<Bf16, float>& product, const Target& c, Unit unit) {
  HostProduct<Bf16, float> transposed = product;
  std::swap(transposed.m, transposed.n);
  transposed.a = {product.b.data, product.b.col_step, product.b.row_step};
  transposed.b = {product.a.data, product.a.col_step, product.a.row_step};
  float* const sums = PackBuffers<float>::OfThread().sums.AtLeast(product.m * product.n);
  Target to_sums;
  to_sums.sums = sums;
  to_sums.sums_step = product.m;
  to_sums.alpha = c.alpha;
  MultiplyAny(transposed, to_sums, unit);
  for (int64_t row = 0; row < product.m; ++row) {
    for (int64_t col = 0; col < product.n; ++col) {
      const float value = sums[col * product.m + row];
      if (c.out != nullptr) {
        Bf16& to = c.out[row * c.out_step + col];
        to = Bf16(c.out_beta == 0 ? value : value + c.out_beta * to);
      } else {
        float& to = c.sums[row * c.sums_step + col];
        to = c.beta == 0 ? value : value + c.beta * to;
      }
    }
  }
}

void MultiplyAny(const HostProduct<Bf16, float>& product, const Target& c, Unit unit) {
  switch (FormOf(product, unit)) {
    case Form::kDots:
      return MultiplyDots(product, c);
    case Form::kTransposed:
      return MultiplyTransposed(product, c, unit);
    case Form::kFewRows:
      return MultiplyFewRows(product, c);
    case Form::kRowsInPlace:
      return MultiplyRowsInPlace(product, c);
    case Form::kPacked: {
      const CacheBlocks blocks = BlocksFor(unit, product);
      if (unit == Unit::kTiles) {
        return MultiplyAllBlocks(product, blocks, MultiplyAmx(product, c, blocks));
      }
      return MultiplyAllBlocks(product, blocks,
                               Multiply(product, c, blocks, PacksAForAll(product, blocks)));
    }
  }
}

template <typename Out>
bool IsPacked(const HostProduct<Bf16, Out>& product, Unit unit, CacheBlocks* blocks) {
  if (!HasBf16Products()) return false;
  const HostProduct<Bf16, float> operands = OperandsOf(product);
  *blocks = BlocksFor(unit, operands);
  return FormOf(operands, unit) == Form::kPacked;
}

template <typename Blocks, typename Out>
void TakeBlocks(TeamWork<Bf16, Out>* work, const Target& c) {
  const HostProduct<Bf16, float> operands = OperandsOf(work->product());
  const CacheBlocks& blocks = work->blocks();
  Blocks multiply(operands, c, blocks);
  Later later;
  TakeItems(
      work,
      [&](const TeamItem& item, bool is_new_block) {
        if (is_new_block) {
          multiply.PackB(item.p, item.k, item.col, item.cols);
          const int64_t next = item.block + 1;
          later =
              multiply.LaterBlock(next % work->steps() * blocks.k, next / work->steps() * blocks.n);
        }
        multiply.PackA(item.row, item.rows, item.p, item.k);
      },
      [&](const TeamItem& item) {
        multiply.MultiplyBlock(item.row, item.rows, item.col, item.cols, item.p, item.k, &later);
      });
}

template <typename Out>
void Work(TeamWork<Bf16, Out>* work, const Target& c) {
  if (BestUnit() == Unit::kTiles) return TakeBlocks<MultiplyAmx>(work, c);
  TakeBlocks<Multiply>(work, c);
}

void MultiplyOn(Unit unit, const HostProduct<Bf16, float>& product) {
  MultiplyAny(product, TargetOf(product), unit);
}

void MultiplyOn(Unit unit, const HostProduct<Bf16>& product) {
  // Sums of a C of bfloat16 that wait for their last part along k: 16 MB.
  constexpr int64_t kMaxSums = 4 << 20;
  CacheBlocks blocks;
  if (!IsPacked(product, unit, &blocks) || blocks.k >= product.k) {
    return MultiplyAny(OperandsOf(product), TargetOf(product), unit);
  }
  const int64_t most_rows = std::max<int64_t>(kMaxSums / product.n, 64);
  HostProduct<Bf16> part = product;
  for (int64_t first = 0; first < product.m; first += most_rows) {
    part.m = std::min(most_rows, product.m - first);
    part.a.data = product.a.At(first, 0);
    part.c = product.c + first * product.ldc;
    float* const sums = PackBuffers<float>::OfThread().sums.AtLeast(part.m * part.n);
    MultiplyAny(OperandsOf(part), TargetOf(part, sums), unit);
  }
}

}  // namespace
}  // namespace bf16

void MultiplyBf16Pairs(const HostProduct<Bf16, float>& product) {
  bf16::MultiplyOn(bf16::Unit::kVectors, product);
}
void MultiplyBf16Tiles(const HostProduct<Bf16, float>& product) {
  bf16::MultiplyOn(bf16::Unit::kTiles, product);
}

void MultiplyBf16OnBestUnit(const HostProduct<Bf16, float>& product) {
  bf16::MultiplyOn(bf16::BestUnit(), product);
}
void MultiplyBf16OnBestUnit(const HostProduct<Bf16>& product) {
  bf16::MultiplyOn(bf16::BestUnit(), product);
}

bool IsPackedOnHost(const HostProduct<Bf16, float>& product, CacheBlocks* blocks) {
  return bf16::IsPacked(product, bf16::BestUnit(), blocks);
}
bool IsPackedOnHost(const HostProduct<Bf16>& product, CacheBlocks* blocks) {
  return bf16::IsPacked(product, bf16::BestUnit(), blocks);
}

void WorkOnHost(TeamWork<Bf16, float>* work) { bf16::Work(work, bf16::TargetOf(work->product())); }
void WorkOnHost(TeamWork<Bf16>* work) {
  bf16::Work(work, bf16::TargetOf(work->product(), work->sums()));
}

}  // namespace stridewise
HWY_POP_ATTRIBUTES
#endif  // defined(__x86_64__)

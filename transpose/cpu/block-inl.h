// The transpose of a block by squares, for one instruction set.
//
// What each shape takes: lines and strips of squares (lines-inl.h) where nothing else is faster.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_BLOCK_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_BLOCK_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "transpose/cpu/block.h"
#include "transpose/cpu/cells-inl.h"
#include "transpose/cpu/columns-inl.h"
#include "transpose/cpu/lines-inl.h"
#include "transpose/cpu/small-inl.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/tables-inl.h"
#include "transpose/cpu/thin-inl.h"
#include "transpose/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

// Copies a row to a column, or the reverse.
template <int kBytes>
void TransposeVector(const uint8_t* from, int64_t step_in, int64_t count, uint8_t* to,
                     int64_t step_out) {
  if (step_in == kBytes && step_out == kBytes) {
    std::memcpy(to, from, static_cast<size_t>(count * kBytes));
    return;
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * step_out, from + i * step_in, kBytes);
}

template <int kBytes>
void TransposeByShape(const BlockTranspose& b) {
  constexpr int64_t kSide = 16 / kBytes;
  if (b.rows == 1) return TransposeVector<kBytes>(b.in, kBytes, b.cols, b.out, b.ld_out);
  if (b.cols == 1) return TransposeVector<kBytes>(b.in, b.ld_in, b.rows, b.out, kBytes);
  if (b.rows < kSide || b.cols < kSide) {
    return TransposeThin<kBytes>(b.in, b.ld_in, b.rows, b.cols, b.out, b.ld_out);
  }
  if (b.rows < kLineBytes / kBytes) return TransposeStrips<kBytes>(b);
  TransposeLines<kBytes>(b);
}

template <int kBytes>
void TransposeBlockOf(const BlockTranspose& b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_TARGET != HWY_SCALAR
  if (TakesCells<kBytes>(b)) {
    BlockTranspose rest = b;
    TransposeCells<kBytes>(&rest);
    return TransposeByShape<kBytes>(rest);
  }
  if (TakesColumns<kBytes>(b, 1)) return TransposeToColumns<kBytes>(b, 1);
#endif
  TransposeByShape<kBytes>(b);
}

template <int kBytes>
void TransposeBlocksOf(BlockTranspose block, int64_t count, int64_t stride_in, int64_t stride_out) {
  const int64_t bytes = block.rows * block.cols * kBytes;
  const bool has_gaps = block.ld_in != block.cols * kBytes || block.ld_out != block.rows * kBytes ||
                        stride_in != bytes || stride_out != bytes;
#if HWY_TARGET <= HWY_AVX3 && HWY_TARGET != HWY_SCALAR
  if (!has_gaps && count > 1) {
    if (TakesTables<kBytes>(block.rows, block.cols, count)) {
      return TransposeByTables<kBytes>(block, count);
    }
    if (TakesColumns<kBytes>(block, count) && !TakesCells<kBytes>(block)) {
      return TransposeToColumns<kBytes>(block, count);
    }
  }
#endif
  const bool is_small = !has_gaps && IsSmall<kBytes>(block.rows, block.cols);
  const int64_t small = is_small ? count - 1 - kBehindSmall / bytes : 0;
  const int64_t ahead = count > 1 ? block.ahead : 0;
  if (count > 1) block.ahead = 0;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t byte = 0; ahead > 0 && byte < stride_in; byte += kLineBytes) {
      __builtin_prefetch(block.in + ahead + byte);
    }
    if (i < small) {
      TransposeSmall<kBytes>(block.in, block.rows, block.cols, block.out);
    } else {
      TransposeBlockOf<kBytes>(block);
    }
    block.in += stride_in;
    block.out += stride_out;
  }
}

void TransposeBlocks(const BlockTranspose& first, int64_t count, int64_t stride_in,
                     int64_t stride_out) {
  switch (first.element_bytes) {
    case 1:
      return TransposeBlocksOf<1>(first, count, stride_in, stride_out);
    case 2:
      return TransposeBlocksOf<2>(first, count, stride_in, stride_out);
    case 4:
      return TransposeBlocksOf<4>(first, count, stride_in, stride_out);
    case 8:
      return TransposeBlocksOf<8>(first, count, stride_in, stride_out);
    default:
      return TransposeBlocksOf<16>(first, count, stride_in, stride_out);
  }
}

// Copies bytes [begin, end) of a line, and writes nothing else.
HWY_INLINE void CopyPartOfLine(const uint8_t* from, uint8_t* to, int64_t begin, int64_t end) {
#if HWY_TARGET <= HWY_AVX3 && HWY_TARGET != HWY_SCALAR
  const Bytes bytes;
  const auto mask = hn::AndNot(hn::FirstN(bytes, static_cast<size_t>(begin)),
                               hn::FirstN(bytes, static_cast<size_t>(end)));
  hn::BlendedStore(Load(from), mask, bytes, to);
#else
  if (begin < end) std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
#endif
}

void TransposeEdge(const BlockTranspose& edge, bool behind) {
  constexpr int64_t kCols = 64;
  alignas(64) uint8_t lines[kCols * kLineBytes];
  const int64_t bytes = edge.rows * edge.element_bytes;
  for (int64_t first = 0; first < edge.cols; first += kCols) {
    BlockTranspose piece = edge;
    piece.in += first * edge.element_bytes;
    piece.cols = std::min(kCols, edge.cols - first);
    piece.out = lines;
    piece.ld_out = kLineBytes;
    HWY_NAMESPACE::TransposeBlocks(piece, 1, 0, 0);
    uint8_t* to = edge.out + first * edge.ld_out;
    for (int64_t i = 0; i < piece.cols; ++i, to += edge.ld_out) {
      const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
      const int64_t before = std::min(bytes, (kLineBytes - misaligned) % kLineBytes);
      CopyPartOfLine(lines + i * kLineBytes, to, behind ? before : 0, behind ? bytes : before);
    }
  }
}

void StreamCopy(const uint8_t* from, uint8_t* to, int64_t bytes) { StreamBytes(from, to, bytes); }

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_BLOCK_INL_H_

// Transposes of matrices of fewer rows or columns than a square of 16 bytes has: rows are
// interleaved in registers, columns deinterleaved, a line of each at a time.
//
// The short side is rounded up to a power of two, P. A block of 16 bytes of the long side's rows
// then has G = 16 / (P elements) of them: they lie one after the other in memory, without what is
// missing up to P, which one permutation of bytes puts in or takes out. Between both are log2(P)
// rounds of interleaving (InterleaveHalves()), where squares would have log2(16 bytes).
//
// Rows without gaps are loaded and stored where they lie, also a few bytes behind those that
// belong to a block; the last rows, and rows with gaps, go through a block on the stack.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_THIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_THIN_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_THIN_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_THIN_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

constexpr int PowerFrom(int least) {
  int power = 1;
  while (power < least) power *= 2;
  return power;
}

// What follows from the bytes of an element and the elements of the short side, kThin.
template <int kBytes, int kThin>
struct Thin {
  static constexpr int kSide = 16 / kBytes;
  static constexpr int kLine = kLineBytes / kBytes;
  static constexpr int kPower = PowerFrom(kThin);
  static constexpr int kGroup = kSide / kPower;
  static constexpr int kRow = kThin * kBytes;    // Bytes of the short side.
  static constexpr int kStep = kGroup * kRow;    // Those of a block that are in memory.
  static constexpr int kSlack = kLineBytes;      // Behind a block on the stack.
  static constexpr int kTotal = kLine * kRow;    // Of a line of each.
  static constexpr bool kPermutes = kGroup > 1;  // Else the gap is at a block's end.

  // Where the bytes of a block come from: that leaves out what is missing up to kPower.
  static constexpr std::array<uint8_t, 16> Packed() {
    std::array<uint8_t, 16> table = {};
    for (int i = 0; i < kStep; ++i) {
      table[i] = static_cast<uint8_t>(i / kRow * kPower * kBytes + i % kRow);
    }
    return table;
  }
  // The reverse, with the elements of a group one after the other.
  static constexpr std::array<uint8_t, 16> Unpacked() {
    std::array<uint8_t, 16> table = {};
    for (int i = 0; i < 16; ++i) {
      const int element = i / kBytes;
      const int in_row = element / kGroup;
      if (in_row >= kThin) continue;
      table[i] = static_cast<uint8_t>(element % kGroup * kRow + in_row * kBytes + i % kBytes);
    }
    return table;
  }
};

// Interleaves a line of each of kThin rows, or at least the first `least` elements. Writes up to
// 16 bytes more than they have.
template <int kBytes, int kThin>
HWY_INLINE void InterleaveLine(const uint8_t* from, int64_t from_row, uint8_t* to,
                               int64_t least = kLineBytes) {
  using Of = Thin<kBytes, kThin>;
  constexpr int kPower = Of::kPower;
  static constexpr std::array<uint8_t, 16> kPacked = Of::Packed();
  for (int part = 0; part < 4; part += kBlocks) {
    ByteVector v[kPower];
#pragma GCC unroll 16
    for (int i = 0; i < kPower; ++i) {
      v[i] = i < kThin ? Load(from + i * from_row + part * 16) : Zeros();
    }
    InterleaveHalves<kBytes, Log2(kPower)>(v);
    if constexpr (Of::kPermutes && kPower != kThin) {
#pragma GCC unroll 16
      for (int i = 0; i < kPower; ++i) v[i] = Look(v[i], kPacked.data());
    }
    // In the order of memory, since each block writes over the end of the one before.
    const auto store = [&](auto block) HWY_ATTR {
      if ((part + block()) * Of::kSide >= least) return;
#pragma GCC unroll 16
      for (int i = 0; i < kPower; ++i) {
        StoreBlock<block()>(v[i], to + ((part + block()) * kPower + i) * Of::kStep);
      }
    };
    store(std::integral_constant<int, 0>());
    if constexpr (kBlocks > 1) store(std::integral_constant<int, 1>());
    if constexpr (kBlocks > 2) {
      store(std::integral_constant<int, 2>());
      store(std::integral_constant<int, 3>());
    }
  }
}

// Deinterleaves kLine rows of kThin elements, or at least the first `least`. Reads up to 16 bytes
// more than they have.
template <int kBytes, int kThin>
HWY_INLINE void DeinterleaveLine(const uint8_t* from, uint8_t* to, int64_t to_row,
                                 int64_t least = kLineBytes) {
  using Of = Thin<kBytes, kThin>;
  constexpr int kPower = Of::kPower;
  static constexpr std::array<uint8_t, 16> kUnpacked = Of::Unpacked();
  for (int part = 0; part < 4 && part * Of::kSide < least; part += kBlocks) {
    ByteVector v[kPower];
#pragma GCC unroll 16
    for (int i = 0; i < kPower; ++i) {
      v[i] = LoadBlocks(from + (part * kPower + i) * Of::kStep, kPower * Of::kStep);
      if constexpr (Of::kPermutes) v[i] = Look(v[i], kUnpacked.data());
    }
    InterleaveHalves<Of::kGroup * kBytes, Log2(kPower)>(v);
#pragma GCC unroll 16
    for (int i = 0; i < kThin; ++i) Store(v[i], to + i * to_row + part * 16);
  }
}

// Copies `rows` rows of kRow bytes, at most kLine; `from_step` and `to_step` bytes apart.
template <int kRow, int kLine>
HWY_INLINE void CopyShortRows(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step,
                              int64_t rows) {
  if (from_step != kRow || to_step != kRow) {
    for (int64_t i = 0; i < rows; ++i) std::memcpy(to + i * to_step, from + i * from_step, kRow);
  } else if (rows == kLine) {
    std::memcpy(to, from, kLine * kRow);
  } else {
    std::memcpy(to, from, static_cast<size_t>(rows * kRow));
  }
}

// Copies kRows rows of `bytes`.
template <int kRows>
HWY_INLINE void CopyRows(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step,
                         int64_t bytes) {
  for (int64_t i = 0; i < kRows; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, static_cast<size_t>(bytes));
  }
}

// Goes along a long side of `extent` elements, a line at a time: calls in_place(at) where both
// sides may be read and written a few bytes behind the line, and by_block(at, elements) for the
// others. The last line begins where it ends with the side, if there is a whole one.
template <class Of, class InPlace, class ByBlock>
HWY_INLINE void ForLines(int64_t extent, bool gapless, InPlace in_place, ByBlock by_block) {
  constexpr int64_t kLine = Of::kLine;
  int64_t at = 0;
  if (gapless) {
    for (; at + kLine + Of::kSide <= extent; at += kLine) in_place(at);
  }
  for (; at < extent; at += kLine) {
    const int64_t first = std::max<int64_t>(std::min(at, extent - kLine), 0);
    by_block(first, std::min(extent - first, kLine));
  }
}

// Transposes kThin rows of `cols` elements.
template <int kBytes, int kThin>
void InterleaveRows(const uint8_t* from, int64_t ld_in, int64_t cols, uint8_t* to, int64_t ld_out) {
  using Of = Thin<kBytes, kThin>;
  alignas(64) uint8_t padded[kThin * kLineBytes];
  alignas(64) uint8_t block[Of::kTotal + Of::kSlack];
  const auto in_place = [&](int64_t col) HWY_ATTR {
    InterleaveLine<kBytes, kThin>(from + col * kBytes, ld_in, to + col * Of::kRow);
  };
  const auto by_block = [&](int64_t col, int64_t width) HWY_ATTR {
    const uint8_t* line = from + col * kBytes;
    int64_t step = ld_in;
    if (width < Of::kLine) {
      CopyRows<kThin>(line, ld_in, padded, kLineBytes, width * kBytes);
      line = padded;
      step = kLineBytes;
    }
    InterleaveLine<kBytes, kThin>(line, step, block);
    CopyShortRows<Of::kRow, Of::kLine>(block, Of::kRow, to + col * ld_out, ld_out, width);
  };
  ForLines<Of>(cols, ld_out == Of::kRow, in_place, by_block);
}

// Transposes `rows` rows of kThin elements.
template <int kBytes, int kThin>
void DeinterleaveRows(const uint8_t* from, int64_t ld_in, int64_t rows, uint8_t* to,
                      int64_t ld_out) {
  using Of = Thin<kBytes, kThin>;
  alignas(64) uint8_t padded[Of::kTotal + Of::kSlack];
  alignas(64) uint8_t block[kThin * kLineBytes];
  const auto in_place = [&](int64_t row) HWY_ATTR {
    DeinterleaveLine<kBytes, kThin>(from + row * Of::kRow, to + row * kBytes, ld_out);
  };
  const auto by_block = [&](int64_t row, int64_t height) HWY_ATTR {
    CopyShortRows<Of::kRow, Of::kLine>(from + row * ld_in, ld_in, padded, Of::kRow, height);
    if (height == Of::kLine) {
      DeinterleaveLine<kBytes, kThin>(padded, to + row * kBytes, ld_out);
      return;
    }
    DeinterleaveLine<kBytes, kThin>(padded, block, kLineBytes);
    CopyRows<kThin>(block, kLineBytes, to + row * kBytes, ld_out, height * kBytes);
  };
  ForLines<Of>(rows, ld_in == Of::kRow, in_place, by_block);
}

// Transposes rows of kThin or more elements, fewer than a square has, or as many rows.
template <int kBytes, int kThin = 2>
void TransposeThin(const uint8_t* in, int64_t ld_in, int64_t rows, int64_t cols, uint8_t* out,
                   int64_t ld_out) {
  if constexpr (kThin < 16 / kBytes) {
    if (rows == kThin) return InterleaveRows<kBytes, kThin>(in, ld_in, cols, out, ld_out);
    if (cols == kThin) return DeinterleaveRows<kBytes, kThin>(in, ld_in, rows, out, ld_out);
    TransposeThin<kBytes, kThin + 1>(in, ld_in, rows, cols, out, ld_out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_THIN_INL_H_

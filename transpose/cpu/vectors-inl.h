// What transposes on the host are made of, for one instruction set: vectors of up to a cache line,
// what exchanges their elements, and copies past the caches.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_VECTORS_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_VECTORS_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_VECTORS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "transpose/cpu/square.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Highway's baseline has no vectors; the compiler's are those of every processor.
using ByteVector = Vector16;
constexpr int kBlocks = 1;  // Of 16 bytes in a vector.

HWY_INLINE ByteVector Load(const uint8_t* from) { return LoadVector(from); }
HWY_INLINE void Store(ByteVector v, uint8_t* to) { StoreVector<false>(v, to); }
HWY_INLINE void Stream(ByteVector v, uint8_t* to) { StoreVector<true>(v, to); }
HWY_INLINE ByteVector Zeros() { return ByteVector{}; }
HWY_INLINE ByteVector LoadBlocks(const uint8_t* from, int64_t /*step*/) { return Load(from); }
template <int kBlock>
HWY_INLINE void StoreBlock(ByteVector v, uint8_t* to) {
  Store(v, to);
}

template <int kBytes, bool kUpper>
HWY_INLINE ByteVector Interleave(ByteVector a, ByteVector b) {
  return internal::Interleave<kBytes, kUpper>(a, b, std::make_integer_sequence<int, 16>());
}

HWY_INLINE ByteVector Look(ByteVector v, const uint8_t* table) {
  ByteVector result;
  for (int i = 0; i < 16; ++i) result[i] = v[table[i]];
  return result;
}

#else

using Bytes = hn::CappedTag<uint8_t, kLineBytes>;
using Block = hn::Full128<uint8_t>;
using ByteVector = hn::Vec<Bytes>;
constexpr int kBlocks = static_cast<int>(hn::MaxLanes(Bytes())) / 16;  // Of 16 bytes in a vector.

HWY_INLINE ByteVector Load(const uint8_t* from) { return hn::LoadU(Bytes(), from); }
HWY_INLINE void Store(ByteVector v, uint8_t* to) { hn::StoreU(v, Bytes(), to); }
HWY_INLINE void Stream(ByteVector v, uint8_t* to) { hn::Stream(v, Bytes(), to); }
HWY_INLINE ByteVector Zeros() { return hn::Zero(Bytes()); }

#if HWY_TARGET <= HWY_AVX3
// Loads blocks of 16 bytes to one vector.
HWY_INLINE ByteVector LoadFourBlocks(const uint8_t* a, const uint8_t* b, const uint8_t* c,
                                     const uint8_t* d) {
  const Block block;
  const hn::Full256<uint8_t> two;
  const auto lower = hn::Combine(two, hn::LoadU(block, b), hn::LoadU(block, a));
  const auto upper = hn::Combine(two, hn::LoadU(block, d), hn::LoadU(block, c));
  return hn::Combine(hn::Full512<uint8_t>(), upper, lower);
}
#endif

// Loads blocks of 16 bytes, `step` bytes apart, to one vector.
HWY_INLINE ByteVector LoadBlocks(const uint8_t* from, int64_t step) {
#if HWY_TARGET <= HWY_AVX3
  return LoadFourBlocks(from, from + step, from + 2 * step, from + 3 * step);
#elif HWY_TARGET <= HWY_AVX2
  const Block block;
  return hn::Combine(hn::Full256<uint8_t>(), hn::LoadU(block, from + step), hn::LoadU(block, from));
#else
  static_cast<void>(step);
  return hn::LoadU(Block(), from);
#endif
}

// Stores one of a vector's blocks of 16 bytes.
template <int kBlock>
HWY_INLINE void StoreBlock(ByteVector v, uint8_t* to) {
  static_assert(kBlock < kBlocks);
  const Block block;
#if HWY_TARGET <= HWY_AVX2
  const hn::Full256<uint8_t> two;
#if HWY_TARGET <= HWY_AVX3
  const auto half = kBlock < 2 ? hn::LowerHalf(two, v) : hn::UpperHalf(two, v);
#else
  const auto half = v;
#endif
  static_cast<void>(two);
  if constexpr (kBlock % 2 == 0) {
    hn::StoreU(hn::LowerHalf(block, half), block, to);
  } else {
    hn::StoreU(hn::UpperHalf(block, half), block, to);
  }
#else
  hn::StoreU(v, block, to);
#endif
}

// Returns the elements of the lower (kUpper: upper) halves of each block of two vectors, in turn.
template <int kBytes, bool kUpper>
HWY_INLINE ByteVector Interleave(ByteVector a, ByteVector b) {
  const hn::Repartition<hwy::UnsignedFromSize<kBytes>, Bytes> elements;
  const auto first = hn::BitCast(elements, a);
  const auto second = hn::BitCast(elements, b);
  if constexpr (kUpper) {
    return hn::BitCast(Bytes(), hn::InterleaveUpper(elements, first, second));
  } else {
    return hn::BitCast(Bytes(), hn::InterleaveLower(elements, first, second));
  }
}

// Returns the bytes of each block that a table of 16 numbers.
HWY_INLINE ByteVector Look(ByteVector v, const uint8_t* table) {
  return hn::TableLookupBytes(v, hn::LoadDup128(Bytes(), table));
}

#endif  // HWY_TARGET == HWY_SCALAR

// Interleaves the vectors of the lower half with those of the upper half, `kRounds` times. Each
// round rotates the bits of (number of the vector, number of the element in a block) by one: as
// many rounds as the number of vectors has bits exchange the two.
template <int kBytes, int kRounds, int kCount>
HWY_INLINE void InterleaveHalves(ByteVector (&v)[kCount]) {
  if constexpr (kCount > 1) {
#pragma GCC unroll 4
    for (int round = 0; round < kRounds; ++round) {
      ByteVector next[kCount];
#pragma GCC unroll 8
      for (int i = 0; i < kCount / 2; ++i) {
        next[2 * i] = Interleave<kBytes, false>(v[i], v[i + kCount / 2]);
        next[2 * i + 1] = Interleave<kBytes, true>(v[i], v[i + kCount / 2]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) v[i] = next[i];
    }
  }
}

constexpr int Log2(int64_t power) { return power == 1 ? 0 : 1 + Log2(power / 2); }

// Moves a pointer on, so that the compiler does not know by how much, unless it is a constant: it
// would keep each multiple of a row's distance where there are no registers for all of them.
template <typename Byte>
HWY_INLINE void Advance(Byte** at, int64_t step) {
  *at += step;
  if (__builtin_constant_p(step) == 0) asm("" : "+r"(*at));
}

// Stores columns, `to_row` bytes apart.
template <int kCount>
HWY_INLINE void StoreColumns(const ByteVector (&v)[kCount], uint8_t* to, int64_t to_row) {
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    if (i > 0) Advance(&to, to_row);
    Store(v[i], to);
  }
}

// Transposes one line of rows by 16 bytes of columns: rows begin `from_row` bytes apart, and the
// columns in `to` `to_row` bytes.
template <int kBytes>
HWY_INLINE void TransposeGroup(const uint8_t* from, int64_t from_row, uint8_t* to, int64_t to_row) {
  constexpr int kSide = 16 / kBytes;  // Of the squares in the blocks of a vector.
  for (int part = 0; part < 4; part += kBlocks) {
    ByteVector v[kSide];
    const uint8_t* row = from + part * kSide * from_row;
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) {
      if (i > 0) Advance(&row, from_row);
      v[i] = LoadBlocks(row, kSide * from_row);
    }
    InterleaveHalves<kBytes, Log2(kSide)>(v);
    StoreColumns(v, to + part * 16, to_row);
  }
}

#if HWY_TARGET <= HWY_AVX3 && HWY_TARGET != HWY_SCALAR

// Whether TransposePair() is there, and faster than TransposeGroup() twice: not for short elements,
// which have more rows.
template <int kBytes>
inline constexpr bool kHasPairs = kBytes >= 4;

// Transposes one line of rows by 32 bytes of columns. Half of a line is loaded at once, where
// TransposeGroup() loads a quarter.
template <int kBytes>
HWY_INLINE void TransposePair(const uint8_t* from, int64_t from_row, uint8_t* to, int64_t to_row) {
  constexpr int kSide = 16 / kBytes;
  const hn::Half<Bytes> half;
  ByteVector v[2][kSide];  // Of the first and third, and the second and last squares of rows.
  const uint8_t* row = from;
#pragma GCC unroll 2
  for (int part = 0; part < 2; ++part) {
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) {
      v[part][i] =
          hn::Combine(Bytes(), hn::LoadU(half, row + 2 * kSide * from_row), hn::LoadU(half, row));
      Advance(&row, from_row);
    }
    InterleaveHalves<kBytes, Log2(kSide)>(v[part]);
  }
  // Of blocks of 16 bytes, those of the left and of the right 16 bytes of columns.
  const __m512i of_left = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const __m512i of_right = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  ByteVector left[kSide];
  ByteVector right[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) {
    left[i] = ByteVector{_mm512_permutex2var_epi64(v[0][i].raw, of_left, v[1][i].raw)};
    right[i] = ByteVector{_mm512_permutex2var_epi64(v[0][i].raw, of_right, v[1][i].raw)};
  }
  StoreColumns(left, to, to_row);
  StoreColumns(right, to + kSide * to_row, to_row);
}

#else

template <int kBytes>
inline constexpr bool kHasPairs = false;

template <int kBytes>
HWY_INLINE void TransposePair(const uint8_t* /*from*/, int64_t /*from_row*/, uint8_t* /*to*/,
                              int64_t /*to_row*/) {}

#endif

// Transposes a square's rows by a line of columns, or at least `least` of them.
template <int kBytes>
HWY_INLINE void TransposeStrip(const uint8_t* from, int64_t from_row, uint8_t* to, int64_t to_row,
                               int64_t least = kLineBytes) {
  constexpr int kSide = 16 / kBytes;
  for (int part = 0; part < 4; part += kBlocks) {
    ByteVector v[kSide];
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) v[i] = Load(from + i * from_row + part * 16);
    InterleaveHalves<kBytes, Log2(kSide)>(v);
    const auto store = [&](auto block) HWY_ATTR {
      const int64_t first = (part + block()) * kSide;
      if (first >= least) return;
#pragma GCC unroll 16
      for (int i = 0; i < kSide; ++i) StoreBlock<block()>(v[i], to + (first + i) * to_row);
    };
    store(std::integral_constant<int, 0>());
    if constexpr (kBlocks > 1) store(std::integral_constant<int, 1>());
    if constexpr (kBlocks > 2) {
      store(std::integral_constant<int, 2>());
      store(std::integral_constant<int, 3>());
    }
  }
}

HWY_INLINE void CopyLine(const uint8_t* from, uint8_t* to) {
#pragma GCC unroll 4
  for (int part = 0; part < 4; part += kBlocks) Store(Load(from + part * 16), to + part * 16);
}

// Copies bytes, whole lines of the destination past the caches.
HWY_INLINE void StreamBytes(const uint8_t* from, uint8_t* to, int64_t bytes) {
  const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
  if (misaligned != 0) {
    const int64_t head = std::min(bytes, kLineBytes - misaligned);
    std::memcpy(to, from, static_cast<size_t>(head));
    from += head;
    to += head;
    bytes -= head;
  }
  for (; bytes >= kLineBytes; bytes -= kLineBytes, from += kLineBytes, to += kLineBytes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i += kBlocks) Stream(Load(from + i * 16), to + i * 16);
  }
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_VECTORS_INL_H_

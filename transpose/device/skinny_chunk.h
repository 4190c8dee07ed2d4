// The layout in shared memory of a chunk of a skinny matrix, for few_columns and few_rows. Included
// by .cu files.
//
// A skinny matrix has few columns or few rows. A chunk is `width` elements across, its short side,
// and length() elements along, its long side: of few columns it is a run of rows, of few rows a run
// of columns. In the memory of one of the two matrices, `in` or `out`, a chunk is one contiguous
// piece ("flat"), in which its short sides follow each other; in the other its long sides are
// strips. Both are moved 16 bytes a thread. On the flat side, neighbouring threads access
// neighbouring vectors; along a strip, each thread accesses kVectorElements elements that lie
// `width` apart, and its neighbour those of the next group of kVectorElements short sides. Groups
// are therefore an odd number of units apart, where a unit is a bank or a larger element: along
// strips there are no bank conflicts, whatever the width. On the flat side the four words of a
// vector are accessed in an order that differs between the quarters of a warp: there are none
// inside a group either.
//
// The flat side may start anywhere between two multiples of 16 bytes: `lead` is the number of
// elements from the multiple before it to its first element, and is added to the coordinate across.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_SKINNY_CHUNK_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_SKINNY_CHUNK_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/base/matrix.h"
#include "common/gpu/launch_geometry.h"
#include "transpose/args.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {

// Wider matrices are taken in panels of this width.
inline constexpr int kMaxSkinnyWidth = 512;

// The layout of a chunk of elements T.
template <typename T>
class SkinnyChunk {
 public:
  // The type that shared memory is accessed in: elements, but no smaller than a bank.
  using Unit = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
  static constexpr int kUnits = kVectorBytes / static_cast<int>(sizeof(Unit));
  static constexpr int kPerUnit = static_cast<int>(sizeof(Unit) / sizeof(T));
  static constexpr int kGroup = kVectorElements<T>;

  // Makes the layout of chunks that are `width` across and `length` along, a multiple of kGroup,
  // and of whose strips strip_vectors vectors are moved. REQUIRES: 0 < width <= kMaxSkinnyWidth,
  // length > 0 and strip_vectors <= length / kGroup + 1.
  SkinnyChunk(int width, int length, int strip_vectors)
      : width_(width),
        length_(length),
        pitch_(width * kUnits | 1),
        strip_vectors_(strip_vectors),
        by_width_(width),
        by_strip_vectors_(strip_vectors) {}

  STRIDEWISE_HOST_DEVICE int width() const { return width_; }
  STRIDEWISE_HOST_DEVICE int length() const { return length_; }
  // One group more before the chunk, and two behind it, hold what vectors of a strip have outside.
  size_t shared_bytes() const { return sizeof(Unit) * pitch_ * (length_ / kGroup + 3); }

  // Vector `vector` of strip `strip`.
  struct StripVector {
    int strip, vector;
  };
  STRIDEWISE_HOST_DEVICE int strip_vectors() const { return strip_vectors_; }
  // Returns the i-th vector of all strips, one strip after the other.
  STRIDEWISE_HOST_DEVICE StripVector StripVectorOf(int i) const {
    const int strip = by_strip_vectors_.Quotient(i);
    return {strip, i - strip * strip_vectors_};
  }

  // Returns the offset of an element in shared memory, in elements. `across` includes the lead.
  STRIDEWISE_HOST_DEVICE int OfElement(int along, int across) const {
    const int next = by_width_.Quotient(across);
    const int at = along + next + kGroup;  // Counted from the group before the chunk.
    const int group = at / kGroup;
    return group * pitch_ * kPerUnit + (at - group * kGroup) * width_ + across - next * width_;
  }
  // Returns the offset of vector v of the flat side in shared memory, in units.
  STRIDEWISE_HOST_DEVICE int OfFlatVector(int v) const {
    return v * kUnits + by_width_.Quotient(v) * (pitch_ - width_ * kUnits) + pitch_;
  }

  // Where the elements of a vector along a strip lie: k elements after the first, `offset` plus k
  // times the width, and from element next_group on in the next group.
  struct VectorPlace {
    int offset, next_group;
  };
  // `first`, at least -kGroup, is the coordinate along the strip of the vector's first element.
  STRIDEWISE_HOST_DEVICE VectorPlace PlaceOf(int first, int across) const {
    const int next = by_width_.Quotient(across);
    const auto at = static_cast<unsigned>(first + next + kGroup);
    const unsigned group = at / kGroup;
    const unsigned rest = at % kGroup;
    return {static_cast<int>(group) * pitch_ * kPerUnit + static_cast<int>(rest) * width_ + across -
                next * width_,
            kGroup - static_cast<int>(rest)};
  }
  // Calls fn(k, offset) for the elements k of a vector along a strip.
  template <typename Fn>
  __device__ void ForVector(const VectorPlace& place, Fn fn) const {
    const int in_next = place.offset + pitch_ * kPerUnit - kGroup * width_;
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      fn(k, (k >= place.next_group ? in_next : place.offset) + k * width_);
    }
  }

  // Returns the coordinate along of element i of the flat side; the remainder is that across.
  STRIDEWISE_HOST_DEVICE int AlongOfFlat(int i) const { return by_width_.Quotient(i); }

 private:
  int width_;
  int length_;
  int pitch_;  // Units from one group to the next, odd.
  int strip_vectors_;
  SmallDivisor by_width_;
  SmallDivisor by_strip_vectors_;
};

// Moves the units of a vector between registers and shared memory. The words of 4-byte units begin
// with `turn`, which differs between the quarters of a warp unless it takes several narrow groups.
__device__ inline unsigned TurnOfThread(int width) { return width < 8 ? 0 : threadIdx.x / 8 % 4; }

template <typename Unit>
__device__ inline void PutUnits(const Vector& vector, unsigned turn, Unit* to) {
  constexpr int kUnits = kVectorBytes / static_cast<int>(sizeof(Unit));
  if constexpr (kUnits == 4) {
    const bool one = (turn & 1) != 0;
    const bool two = (turn & 2) != 0;
    const uint32_t a = one ? vector.y : vector.x;
    const uint32_t b = one ? vector.z : vector.y;
    const uint32_t c = one ? vector.w : vector.z;
    const uint32_t d = one ? vector.x : vector.w;
    to[turn] = two ? c : a;
    to[(turn + 1) % 4] = two ? d : b;
    to[(turn + 2) % 4] = two ? a : c;
    to[(turn + 3) % 4] = two ? b : d;
  } else {
#pragma unroll
    for (int k = 0; k < kUnits; ++k) to[k] = ElementOf<Unit>(vector, k);
  }
}

template <typename Unit>
__device__ inline Vector GetUnits(const Unit* from, unsigned turn) {
  constexpr int kUnits = kVectorBytes / static_cast<int>(sizeof(Unit));
  if constexpr (kUnits == 4) {
    const uint32_t word[4] = {from[turn], from[(turn + 1) % 4], from[(turn + 2) % 4],
                              from[(turn + 3) % 4]};
    const bool one = (turn & 1) != 0;
    const bool two = (turn & 2) != 0;
    const uint32_t a = one ? word[3] : word[0];
    const uint32_t b = one ? word[0] : word[1];
    const uint32_t c = one ? word[1] : word[2];
    const uint32_t d = one ? word[2] : word[3];
    return make_uint4(two ? c : a, two ? d : b, two ? a : c, two ? b : d);
  } else {
    Unit units[kUnits];
#pragma unroll
    for (int k = 0; k < kUnits; ++k) units[k] = from[k];
    return VectorOf(units);
  }
}

// The matrices of a batch, each of `panels` panels of at most kMaxSkinnyWidth elements across.
struct SkinnyBatch {
  int64_t matrices;
  int64_t stride_in;
  int64_t stride_out;
  int64_t panels;

  struct Panel {
    int64_t matrix, panel;
  };
  // Returns panel `i` of all matrices, one matrix after the other.
  STRIDEWISE_HOST_DEVICE Panel PanelOf(int64_t i) const {
    if (panels == 1) return {i, 0};
    const int64_t matrix = i / panels;
    return {matrix, i - matrix * panels};
  }
};

// Returns the bytes of all matrices.
inline int64_t SkinnyBytes(const TransposeArgs& args) {
  return args.batch * args.rows * args.cols * args.element_bytes;
}

// Returns the length of chunks of elements of `size` bytes, all alike, that cover `extent` elements
// and have at most `most` where that is possible: a multiple of 512 bytes, which a warp moves at a
// time, or, where that would be more than a quarter, of 128; of `least` where one is enough.
inline int ChunkLength(int64_t extent, int64_t most, int size, int least) {
  const int unit = extent <= most ? least : (most * size >= 2048 ? 512 : 128) / size;
  const int64_t longest = std::max<int64_t>(most / unit * unit, unit);
  const int64_t chunks = CeilDiv(extent, longest);
  return static_cast<int>(CeilDiv(CeilDiv(extent, chunks), unit) * unit);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_SKINNY_CHUNK_H_

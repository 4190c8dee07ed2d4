// An operand that is split, and how the blocks that split it load it.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_SOURCE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_SOURCE_H_

#include <cstdint>
#include <cstring>

#include "matmul/device/split_scheme.h"

namespace stridewise {

constexpr int kSplitThreads = 256;
constexpr int kSplitWarps = kSplitThreads / 32;
// Blocks that divide the k of a strip of columns among them, at most.
constexpr int kMostSplitCluster = 16;
// Rows that follow each other and have one block or warp, at most.
constexpr int kMostRowsTogether = 8;
// The columns of a strip. Wide ones read and write whole lines of the L2, which took 0.66 to 0.93
// of the time for columns of 280 to 1400 elements on an H100; of longer ones too little fits into a
// block's shared memory, and 3000 took up to 1.3 times as long.
constexpr int kStripCols = 32;
constexpr int kWideStripCols = 64;
constexpr int kWideStripRows = 2304;
// Elements of a column that a thread stores to turned parts at a time: at most 16 bytes. Four
// threads store what follows each other, a sector of the L2 at least.
template <typename Scheme>
constexpr int kTurnedRows = Scheme::kForm.part_bytes > 2 ? 4 : 8;
// Rows of at most this many elements have a warp each, longer ones a block.
constexpr int kWarpRowCols = 1024;
// Where rows are held in registers (split_held_rows.h): threads of a row, its fours that each of
// them has at most, rows of a block, and the longest row.
constexpr int kHeldRowThreads = 64;
constexpr int kHeldQuads = 8;
constexpr int kHeldRows = kSplitThreads / kHeldRowThreads;
constexpr int kHeldRowCols = 4 * kHeldQuads * kHeldRowThreads;

// An operand as it is stored, its parts, and the blocks that split it.
struct SplitSource {
  const float* data;
  int64_t ld, stride;
  int rows, cols;      // As stored.
  int count;           // Matrices of the batch that differ.
  bool scale_rows;     // A row as stored has one scale, else a column.
  bool vectors;        // All rows begin at multiples of 16 bytes.
  bool turned;         // Parts are stored by columns: they are K-major, and the operand is not.
  bool second;         // It is B, whose FP8 bytes lie in the other order (split_fp8.h).
  char* parts;         // Each count x rows (or cols) x out_ld elements, no gaps.
  int64_t part_bytes;  // From a part to the next.
  int out_ld;          // Rows of parts have a multiple of 16 bytes.
  int strip_cols;      // kStripCols or kWideStripCols.
  int strips;          // Of a matrix.
  int part_rows;       // Of a strip, that each block of its cluster splits.
  SplitScale* scales;
  int cached_quads;   // Of a row, or of a block's part of a strip, that shared memory holds.
  int cluster;        // Blocks of a cluster: of both operands the same.
  int rows_together;  // Rows of a block, or of a warp where they are short.
  int64_t blocks;     // A multiple of `cluster`.
};

// Stores 4, 8 or 16 bytes at once. Where a struct of pairs is assigned, nvcc stores each pair
// alone, and where a vector is, often each word.
template <typename Neighbours>
__device__ inline void StoreWords(const Neighbours& neighbours, void* to) {
  uint32_t words[sizeof(Neighbours) / sizeof(uint32_t)];
  memcpy(words, &neighbours, sizeof(words));
  if constexpr (sizeof(words) == 16) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words[0]), "r"(words[1]),
                 "r"(words[2]), "r"(words[3]));
  } else if constexpr (sizeof(words) == 8) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(words[0]), "r"(words[1]));
  } else {
    static_assert(sizeof(words) == 4);
    asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(words[0]));
  }
}

// Stores a part of some neighbours, which begin at element `at`.
template <typename Scheme, typename Neighbours>
__device__ inline void StoreNeighbours(const SplitSource& source, int part, int64_t at,
                                       const Neighbours& neighbours) {
  using Element = typename Scheme::Element;
  Element* const first = reinterpret_cast<Element*>(source.parts + part * source.part_bytes);
  StoreWords(neighbours, first + at);
}

// Splits two elements of the operand.
template <typename Scheme>
__device__ inline void SplitTwo(const SplitSource& source, ScaledElement x, ScaledElement y,
                                typename Scheme::Two (&parts)[Scheme::kForm.parts],
                                typename Scheme::Counts* counts) {
  Scheme::Split(x, y, parts, counts);
  if constexpr (Scheme::kForm.mixed) {
    if (source.second) parts[1] = Scheme::Swapped(parts[1]);
  }
}

// Splits four neighbours, which begin at element `at` of each part.
template <typename Scheme>
__device__ inline void SplitAndStore(const SplitSource& source, int64_t at, const float4& quad,
                                     const float4& scales, typename Scheme::Counts* of_xy,
                                     typename Scheme::Counts* of_zw) {
  typename Scheme::Two xy[Scheme::kForm.parts], zw[Scheme::kForm.parts];
  SplitTwo<Scheme>(source, {quad.x, scales.x}, {quad.y, scales.y}, xy, of_xy);
  SplitTwo<Scheme>(source, {quad.z, scales.z}, {quad.w, scales.w}, zw, of_zw);
#pragma unroll
  for (int part = 0; part < Scheme::kForm.parts; ++part) {
    StoreNeighbours<Scheme>(source, part, at, SplitQuad<Scheme>{xy[part], zw[part]});
  }
}

// Splits neighbours of a column, which begin at element `at` of each turned part.
template <typename Scheme>
__device__ inline void SplitAndStoreTurned(const SplitSource& source, int64_t at,
                                           const float (&column)[kTurnedRows<Scheme>], float scale,
                                           typename Scheme::Counts* counts) {
  struct alignas(kTurnedRows<Scheme> * sizeof(typename Scheme::Element)) Neighbours {
    typename Scheme::Two two[kTurnedRows<Scheme> / 2];
  };
  Neighbours neighbours[Scheme::kForm.parts];
#pragma unroll
  for (int i = 0; i < kTurnedRows<Scheme> / 2; ++i) {
    typename Scheme::Two two[Scheme::kForm.parts];
    SplitTwo<Scheme>(source, {column[2 * i], scale}, {column[2 * i + 1], scale}, two, counts);
#pragma unroll
    for (int part = 0; part < Scheme::kForm.parts; ++part) neighbours[part].two[i] = two[part];
  }
#pragma unroll
  for (int part = 0; part < Scheme::kForm.parts; ++part) {
    StoreNeighbours<Scheme>(source, part, at, neighbours[part]);
  }
}

// Returns four neighbours of a row, with zeros beyond its end. `whole`: none is beyond it, and the
// row begins at a multiple of 16 bytes.
__device__ inline float4 LoadQuad(const float* row, int col, int cols, bool whole) {
  if (whole) return __ldg(reinterpret_cast<const float4*>(row + col));
  float4 quad = {};
  if (col < cols) quad.x = row[col];
  if (col + 1 < cols) quad.y = row[col + 1];
  if (col + 2 < cols) quad.z = row[col + 2];
  if (col + 3 < cols) quad.w = row[col + 3];
  return quad;
}

// Starts the copy of four neighbours to shared memory. The thread that reads them calls
// FinishQuads() before. Copies need no registers, so that all of a block's are under way at once.
// The operand leaves the L2 first, which is to keep the parts.
__device__ inline void CopyQuad(const float* from, float4* to) {
  uint64_t goes_first;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(goes_first));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from), "l"(goes_first)
               : "memory");
}
// Starts the copy of one float, or of a zero. Rows that begin anywhere are copied so, neighbours by
// neighbouring threads: up to 1.27 times as fast as four loads of a thread on an H100.
__device__ inline void CopyFloat(const float* from, float* to, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(inside ? 4 : 0)
               : "memory");
}
__device__ inline void FinishQuads() { asm volatile("cp.async.wait_all;" ::: "memory"); }
// Ends a group of copies, and waits for all groups but the last kLeft.
__device__ inline void CommitQuads() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ inline void FinishQuadsBut() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ inline uint32_t MaxAbsBits(uint32_t most, const float4& quad) {
  return max(max(max(most, AbsBits(quad.x)), AbsBits(quad.y)),
             max(AbsBits(quad.z), AbsBits(quad.w)));
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_SOURCE_H_

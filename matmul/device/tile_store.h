// Stores a block's accumulators in C, through the epilogue: each warp writes rows of 32 elements
// whatever C's alignment.
//
// A thread's accumulators are spread over rows of C; staged in shared memory they become rows. On
// that way neighbours are exchanged in pairs, and back: accumulators.h says why.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_STORE_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_STORE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/matrix.h"
#include "matmul/device/accumulators.h"
#include "matmul/device/epilogue.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tile_edges.h"
#include "matmul/device/tile_order.h"

namespace stridewise {

// As StoreTile(), with the epilogue's ReadsC() as a constant. What C was is loaded before a step's
// stores, which the compiler lets no load pass: a wait for each element made outer products with
// beta 3 times as slow.
template <typename Tile, bool kReadC>
__device__ inline void StoreTileWith(const Accumulators<Tile>& accumulators,
                                     const Epilogue<typename Tile::Types>& epilogue, float* shared,
                                     const Matrix<typename Tile::Types::C>& c,
                                     const TileOffset& offset, int thread) {
  const ThreadCoord<Tile> coord(thread);
  const int lane = thread % kWarpSize;
  float* const out = shared + thread / kWarpSize * (kLanesM * Tile::kOutPitch);
  float* const to = out + coord.lane_row * Tile::kOutPitch + coord.lane_col * kVector;
  // The warp's part of C from this lane's column on, and what of it lies in C.
  const int64_t row = offset.row + coord.warp_row;
  const int64_t col = offset.col + coord.warp_col + lane;
  using C = typename Tile::Types::C;
  C* const part = c.data + row * c.ld + col;
  const int rows_left = static_cast<int>(min(c.rows - row, int64_t{Tile::kWarpM}));
  const int cols_left = static_cast<int>(min(c.cols - col, int64_t{Tile::kWarpN}));
  // Calls visit(element, index) for the warp's elements of step i, one row of each lane, in C.
  static_assert(Tile::kWarpN % kWarpSize == 0, "rows of 32");
  constexpr int kCols = Tile::kWarpN / kWarpSize;
  const auto for_each = [&](int i, auto visit) {
    const int first = i / kVector * (kLanesM * kVector) + i % kVector;
    C* c_row = part + first * c.ld;
#pragma unroll
    for (int r = 0; r < kLanesM; ++r) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) {
        if (first + r * kVector >= rows_left || j * kWarpSize >= cols_left) continue;
        visit(&c_row[j * kWarpSize], r, j);
      }
      c_row += kVector * c.ld;
    }
  };
#pragma unroll
  for (int i = 0; i < Tile::kThreadM; ++i) {
    C old[kReadC ? kLanesM : 1][kCols] = {};
    if constexpr (kReadC) {
      for_each(i, [&](const C* element, int r, int j) { old[r][j] = *element; });
    }
    // One row of each lane: eight rows of C, kVector apart.
#pragma unroll
    for (int j = 0; j < Tile::kThreadN; j += kVector) {
      *reinterpret_cast<float4*>(to + j * kLanesN) = Exchanged(&accumulators.at[i][j]);
    }
    __syncwarp();
    for_each(i, [&](C* element, int r, int j) {
      const float sum = out[r * Tile::kOutPitch + j * kWarpSize + (lane ^ 1)];
      *element = epilogue.Apply(sum, &old[kReadC ? r : 0][j], kReadC);
    });
    __syncwarp();
  }
}

// Asks the L2 cache for `count` > 0 neighbours of C, long before an epilogue reads them. Its loads
// are at a kernel's end, where nothing hides them, and no compiler moves one before a store: from
// memory each wait takes about 0.7 us, from the cache a third of that. One instruction, which only
// compute capability 9.0 has.
template <typename T>
__device__ inline void PrefetchRow([[maybe_unused]] const T* first, [[maybe_unused]] int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(STRIDEWISE_HOST_EXECUTOR)
  // Whole units of 16 bytes: memory that has a part of one has all of it.
  constexpr uintptr_t kUnit = 16;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(first) & ~(kUnit - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(first + count) + kUnit - 1) & ~(kUnit - 1);
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin),
               "r"(static_cast<uint32_t>(end - begin)));
#endif
}

// Asks for kRows rows of kCols elements from (row, col) on, as far as they lie in C. `thread` is
// one of kThreads that call it.
template <int kRows, int kCols, int kThreads, typename T>
__device__ inline void PrefetchPart(const Matrix<T>& c, int64_t row, int64_t col, int thread) {
#pragma unroll
  for (int first = 0; first < kRows; first += kThreads) {
    const int64_t of_thread = row + first + thread;
    if (first + thread < kRows && of_thread < c.rows && col < c.cols) {
      PrefetchRow(c.data + of_thread * c.ld + col,
                  static_cast<int>(min(c.cols - col, int64_t{kCols})));
    }
  }
}

// Asks for the tile of C, where the epilogue reads it. All threads call it.
template <typename Tile>
__device__ inline void PrefetchTile(const Gemm<typename Tile::Types>& gemm, const TilePlace& place,
                                    int thread) {
  if (!gemm.epilogue.ReadsC()) return;
  auto c = gemm.c;
  c.data += place.index * gemm.stride_c;
  PrefetchPart<Tile::kBlockM, Tile::kBlockN, Tile::kThreads>(c, place.offset.row, place.offset.col,
                                                             thread);
}

// Stores the tile of C at `offset` as far as it lies in C. `shared` has kSharedFloats that no other
// thread reads or writes any more.
template <typename Tile>
__device__ inline void StoreTile(const Accumulators<Tile>& accumulators,
                                 const Epilogue<typename Tile::Types>& epilogue, float* shared,
                                 const Matrix<typename Tile::Types::C>& c, const TileOffset& offset,
                                 int thread) {
  if (!epilogue.ReadsC()) {
    StoreTileWith<Tile, false>(accumulators, epilogue, shared, c, offset, thread);
  } else {
    StoreTileWith<Tile, true>(accumulators, epilogue, shared, c, offset, thread);
  }
}

// Stores four neighbouring accumulators, the vector of that number (CoordOfVector()), of the tile
// at `offset`.
template <typename Tile>
__device__ inline void StoreVector(const float* four, int number,
                                   const Epilogue<typename Tile::Types>& epilogue,
                                   const Matrix<typename Tile::Types::C>& c,
                                   const TileOffset& offset) {
  using C = typename Tile::Types::C;
  const VectorCoord coord = CoordOfVector<Tile>(number);
  const int64_t row = offset.row + coord.row;
  const int64_t col = offset.col + coord.col;
  if (row >= c.rows) return;
  C* const to = c.data + row * c.ld + col;
  C results[kVector];
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    results[i] = epilogue.Apply(four[i], to + i, epilogue.ReadsC() && col + i < c.cols);
  }
  StoreFourInside(c, row, col, results);
}

// Stores the vectors of a warp's lanes, neighbours of which lane 0 has a multiple of kWarpSize, as
// StoreVector() does. Where rows of C are not made of vectors that function writes four elements of
// eight rows at a time, parts of some twenty sectors for what fills five; two rows of sixteen
// neighbours are six. `staging` has a vector for each lane, which no other one reads or writes.
template <typename Tile>
__device__ inline void StoreVectorsOfWarp(const float* four, int number,
                                          const Epilogue<typename Tile::Types>& epilogue,
                                          const Matrix<typename Tile::Types::C>& c,
                                          const TileOffset& offset, float4* staging) {
  constexpr int kCols = kLanesN * kVector;
  const int lane = number % kWarpSize;
  staging[lane] = make_float4(four[0], four[1], four[2], four[3]);
  __syncwarp();
  const auto* const sums = reinterpret_cast<const float*>(staging);
  const VectorCoord first = CoordOfVector<Tile>(number - lane);
  const int64_t row = offset.row + first.row + lane / kCols * kVector;
  const int64_t col = offset.col + first.col + lane % kCols;
  constexpr int kRowsOfStep = kWarpSize / kCols * kVector;
  const auto exists = [&](int i) { return row + i * kRowsOfStep < c.rows && col < c.cols; };
  auto* const first_of_lane = c.data + row * c.ld + col;
  // All loads before the first store, as in StoreTileWith().
  const bool reads_c = epilogue.ReadsC();
  typename Tile::Types::C old[kVector] = {};
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    if (reads_c && exists(i)) old[i] = first_of_lane[i * kRowsOfStep * c.ld];
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    if (!exists(i)) continue;
    first_of_lane[i * kRowsOfStep * c.ld] =
        epilogue.Apply(sums[i * kWarpSize + lane], &old[i], reads_c);
  }
}

// Of blocks whose slices divide k (kWarpsAlongK), where rows of C are not made of vectors: two
// rows of sixteen neighbours at a time, as StoreVectorsOfWarp().

// The neighbours of a row that a warp stores at a time: the columns of its lanes' first vectors.
inline constexpr int kSliceStoreCols = kLanesN * kVector;
static_assert(2 * kSliceStoreCols == kWarpSize, "a warp stores of two rows");

// Returns where ReduceSlices() keeps the element at (row, col) of the tile in each slice's
// accumulators, in floats.
template <typename Tile>
__device__ inline int PlaceInSlice(int row, int col) {
  const int in_row = row % Tile::kWarpM;
  const int in_col = col % Tile::kWarpN;
  const int warp = row / Tile::kWarpM * Tile::kWarpsAlongN + col / Tile::kWarpN;
  const int lane = in_row / kVector % kLanesM * kLanesN + in_col / kVector % kLanesN;
  const int i = in_row / kVector / kLanesM * kVector + in_row % kVector;
  const int j = in_col / kSliceStoreCols;
  const int vector =
      (i * (Tile::kThreadN / kVector) + j) * Tile::kSliceThreads + warp * kWarpSize + lane;
  return vector * kVector + (in_col % kVector ^ 1);  // As Exchanged() exchanges them.
}

// As StoreSlices(), with the epilogue's ReadsC() as a constant.
template <typename Tile, bool kReadC>
__device__ inline void StoreSlicesWith(const float* slices,
                                       const Epilogue<typename Tile::Types>& epilogue,
                                       const Matrix<typename Tile::Types::C>& c,
                                       const TileOffset& offset, int thread) {
  using C = typename Tile::Types::C;
  constexpr int kGroups = Tile::kBlockN / kSliceStoreCols;
  constexpr int kSliceFloats = Tile::kBlockM * Tile::kBlockN;
  const int lane = thread % kWarpSize;
  const int col = lane % kSliceStoreCols;
  const int cols_left = static_cast<int>(min(c.cols - offset.col, int64_t{Tile::kBlockN})) - col;
#pragma unroll 2
  for (int pair = thread / kWarpSize; pair < Tile::kBlockM / 2;
       pair += Tile::kThreads / kWarpSize) {
    // Rows kVector apart, which are in the accumulators of neighbouring rows of lanes: different
    // banks.
    const int row =
        pair / kVector * (2 * kVector) + pair % kVector + lane / kSliceStoreCols * kVector;
    C* const to = c.data + (offset.row + row) * c.ld + offset.col + col;
    const bool inside = offset.row + row < c.rows;
    float sums[kGroups];
    C old[kGroups] = {};
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const float* const first = slices + PlaceInSlice<Tile>(row, g * kSliceStoreCols + col);
      sums[g] = 0;
#pragma unroll
      for (int slice = 0; slice < Tile::kWarpsAlongK; ++slice) {
        sums[g] += first[slice * kSliceFloats];
      }
      if (kReadC && inside && g * kSliceStoreCols < cols_left) old[g] = to[g * kSliceStoreCols];
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      if (!inside || g * kSliceStoreCols >= cols_left) continue;
      to[g * kSliceStoreCols] = epilogue.Apply(sums[g], &old[g], kReadC);
    }
  }
}

// Adds the slices' accumulators, in the order of the slices, and stores them in the tile of C at
// `offset` as far as it lies in C. `shared` as for ReduceSlices().
template <typename Tile>
__device__ inline void StoreSlices(Accumulators<Tile>& accumulators,
                                   const Epilogue<typename Tile::Types>& epilogue, float* shared,
                                   const Matrix<typename Tile::Types::C>& c,
                                   const TileOffset& offset, int thread) {
  KeepSlice(shared, thread, accumulators);
  if (!epilogue.ReadsC()) {
    StoreSlicesWith<Tile, false>(shared, epilogue, c, offset, thread);
  } else {
    StoreSlicesWith<Tile, true>(shared, epilogue, c, offset, thread);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_STORE_H_

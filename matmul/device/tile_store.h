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

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_STORE_H_

// A block's sums on their way to C: alpha * sum + beta * C, rows of 32 floats by each warp whatever
// C's alignment.
//
// A thread's sums are spread over rows; through shared memory they become rows. On that way
// neighbours change places in pairs, and back. That is for the main loop: a vector of sums in
// shared memory is stored from four neighbouring registers that begin at a multiple of four, so
// that the sum for an even column is in an odd register, where tile_product.h wants it.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_STORE_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_STORE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/matrix.h"
#include "matmul/device/tile_edges.h"
#include "matmul/device/tile_product.h"

namespace stridewise {

struct Scale {
  float alpha;
  float beta;  // 0: what C held is not read.
};

// As StoreTile(), which chooses; kReadC says that beta is not 0.
template <typename Tile, bool kReadC>
__device__ inline void StoreScaled(const Sums<Tile>& sums, const Scale& scale, float* shared,
                                   const Matrix<float>& c, int64_t first_row, int64_t first_col,
                                   int thread) {
  const ThreadPlace<Tile> place(thread);
  const int lane = thread % kWarpSize;
  float* const out = shared + thread / kWarpSize * (kLaneRows * Tile::kOutPitch);
  float* const to = out + place.lane_row * Tile::kOutPitch + place.lane_col * kVector;
  // The warp's part of C, from this lane's column on, and how much of it there is.
  const int64_t row = first_row + place.warp_row;
  const int64_t col = first_col + place.warp_col + lane;
  float* const part = c.data + row * c.ld + col;
  const int rows_left = static_cast<int>(min(c.rows - row, int64_t{Tile::kWarpRows}));
  const int cols_left = static_cast<int>(min(c.cols - col, int64_t{Tile::kWarpCols}));
#pragma unroll
  for (int i = 0; i < Tile::kThreadRows; ++i) {
    // One row of each lane: eight of C, kVector apart.
#pragma unroll
    for (int j = 0; j < Tile::kThreadCols; j += kVector) {
      *reinterpret_cast<float4*>(to + j * kLaneCols) = Exchanged(&sums.at[i][j]);
    }
    __syncwarp();
    const int first = i / kVector * (kLaneRows * kVector) + i % kVector;
    float* c_row = part + first * c.ld;
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r) {
#pragma unroll
      for (int j = 0; j < Tile::kWarpCols; j += kWarpSize) {
        if (first + r * kVector >= rows_left || j >= cols_left) continue;
        const float product = scale.alpha * out[r * Tile::kOutPitch + j + (lane ^ 1)];
        c_row[j] = kReadC ? fma(scale.beta, c_row[j], product) : product;
      }
      c_row += kVector * c.ld;
    }
    __syncwarp();
  }
}

// Stores the sums of the tile of C whose first element is (first_row, first_col), as far as it lies
// in C. `shared` has kSharedFloats, of which nobody reads or writes anything any more.
template <typename Tile>
__device__ inline void StoreTile(const Sums<Tile>& sums, const Scale& scale, float* shared,
                                 const Matrix<float>& c, int64_t first_row, int64_t first_col,
                                 int thread) {
  if (scale.beta == 0) {
    StoreScaled<Tile, false>(sums, scale, shared, c, first_row, first_col, thread);
  } else {
    StoreScaled<Tile, true>(sums, scale, shared, c, first_row, first_col, thread);
  }
}

// The same for four neighbouring sums: vector `place` of the tile, see VectorAt().
template <typename Tile>
__device__ inline void StoreVector(const float* four, int place, const Scale& scale,
                                   const Matrix<float>& c, int64_t first_row, int64_t first_col) {
  const TileVector at = VectorAt<Tile>(place);
  const int64_t row = first_row + at.row;
  const int64_t col = first_col + at.col;
  if (row >= c.rows) return;
  float* const to = c.data + row * c.ld + col;
  float results[kVector];
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const float product = scale.alpha * four[i];
    const bool reads_c = scale.beta != 0 && col + i < c.cols;
    results[i] = reads_c ? fma(scale.beta, to[i], product) : product;
  }
  StoreFourInside(c, row, col, results);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_STORE_H_

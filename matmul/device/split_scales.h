// The scales of a tile's rows and columns: their copy to shared memory, whether the parts are good
// enough for them, and how the scaling is undone.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_SCALES_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_SCALES_H_

#include <cstdint>

#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_tile.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// What a consumer needs to know of its rows and columns, in shared memory: when FinishScales() has
// looked at them, the bits of their inverse powers of two.
template <typename Tile>
struct alignas(16) TileScales {
  SplitScale rows[kMmaRows];
  SplitScale cols[Tile::kBlockN];
  int least_of_rows[4], least_of_cols[4], poor[4];  // Of each warp.
};

// Starts a copy of four bytes to shared memory, of which FinishCopies() waits for the thread's own.
__device__ inline void CopyWord(const uint32_t* from, uint32_t* to) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SharedAddress(to)), "l"(from)
               : "memory");
}
__device__ inline void FinishCopies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Starts the copy of a tile's scales. Called by the whole warpgroup, as FinishScales() is.
template <typename Tile>
__device__ inline void StartScales(const SplitGemm& gemm, int thread, int row, int col, int batch,
                                   TileScales<Tile>* scales) {
  const SplitScale* const rows =
      gemm.scales_of_a + static_cast<int64_t>(batch) * gemm.a_moves * gemm.m + row;
  const SplitScale* const cols =
      gemm.scales_of_b + static_cast<int64_t>(batch) * gemm.b_moves * gemm.n + col;
  const auto copy = [](bool inside, const SplitScale* from, SplitScale* to) {
    if (inside) {
      CopyWord(from, to);
    } else {
      *to = 0;  // Unscale() reads those outside of C, too.
    }
  };
  if (thread < kMmaRows) copy(row + thread < gemm.m, rows + thread, &scales->rows[thread]);
#pragma unroll
  for (int c = thread; c < Tile::kBlockN; c += kWarpgroupThreads) {
    copy(col + c < gemm.n, cols + c, &scales->cols[c]);
  }
}

// Waits for the scales, and returns whether the parts are good enough for the rows and columns.
template <typename Tile>
__device__ inline bool FinishScales(const SplitGemm& gemm, int consumer, int thread, int row,
                                    int col, TileScales<Tile>* scales) {
  constexpr int kMost = 1 << 24;
  int least_of_rows = kMost, least_of_cols = kMost, poor = 0;
  const auto look_at = [&](bool inside, SplitScale* scale, int* least) {
    if (inside) {
      *least = min(*least, RangeOf(*scale) >> 1);
      poor |= *scale & 1;
    }
    *scale = BitsOfFloat(InverseOf(*scale));
  };
  FinishCopies();  // A thread looks at those that it has copied.
  if (thread < kMmaRows) look_at(row + thread < gemm.m, &scales->rows[thread], &least_of_rows);
#pragma unroll
  for (int c = thread; c < Tile::kBlockN; c += kWarpgroupThreads) {
    look_at(col + c < gemm.n, &scales->cols[c], &least_of_cols);
  }
  const int warp = thread / 32;
  least_of_rows = __reduce_min_sync(~0u, least_of_rows);
  least_of_cols = __reduce_min_sync(~0u, least_of_cols);
  poor = __any_sync(~0u, poor);
  if (thread % 32 == 0) {
    scales->least_of_rows[warp] = least_of_rows;
    scales->least_of_cols[warp] = least_of_cols;
    scales->poor[warp] = poor;
  }
  SyncWarpgroup(1 + consumer);
  least_of_rows = least_of_cols = kMost;
  poor = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    least_of_rows = min(least_of_rows, scales->least_of_rows[i]);
    least_of_cols = min(least_of_cols, scales->least_of_cols[i]);
    poor |= scales->poor[i];
  }
  return PartsSuffice(poor != 0, least_of_rows, least_of_cols);
}

// Undoes the scaling.
template <typename Tile>
__device__ inline void Unscale(const TileScales<Tile>& scales, int thread,
                               float (&d)[Tile::kBlockN / 2]) {
  const int first = thread / 32 * 16 + thread % 32 / 4;
  const float rows[2] = {FloatOfBits(scales.rows[first]), FloatOfBits(scales.rows[first + 8])};
#pragma unroll
  for (int j = 0; j < Tile::kBlockN / 8; ++j) {
    const uint2 pair = *reinterpret_cast<const uint2*>(&scales.cols[8 * j + thread % 4 * 2]);
    const float cols[2] = {FloatOfBits(pair.x), FloatOfBits(pair.y)};
#pragma unroll
    for (int i = 0; i < 4; ++i) d[4 * j + i] = d[4 * j + i] * rows[i / 2] * cols[i % 2];
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_SCALES_H_

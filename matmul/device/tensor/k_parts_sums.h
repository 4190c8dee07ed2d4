// The second kernel of k_parts.h: adds the parts of each tile, in the order of k, and stores C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_SUMS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_SUMS_H_

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor/k_parts.h"

namespace stridewise {

// A tile, as k_parts.h has it: `vectors` of four sums of each of the 128 threads of a warpgroup,
// which have 64 of its rows.
struct KPartsTileSums {
  int rows, cols;
  int groups, vectors;
};

// Stores one element.
template <typename Out>
__device__ inline void StoreKPartsSum(const TensorOutput& c, float sum, int64_t row, int64_t col,
                                      int64_t batch) {
  if (row >= c.rows || col >= c.cols) return;
  Out* const at = static_cast<Out*>(c.data) + batch * c.stride + row * c.ld + col;
  if (c.only_alpha) {
    *at = static_cast<Out>(c.alpha * sum);
    return;
  }
  const Out* const bias = static_cast<const Out*>(c.bias);
  *at = static_cast<Out>(c.Finish(sum, c.beta != 0 ? static_cast<float>(*at) : 0.0f,
                                  bias != nullptr ? static_cast<float>(bias[col]) : 0));
}

// Called with blocks of 128 threads: x for the vectors of each warpgroup, y for tiles.
template <typename Out>
__global__ void __launch_bounds__(kWarpgroupThreads)
    AddKParts(const __grid_constant__ KPartsWork work, const __grid_constant__ KPartsTileSums tile,
              const float4* sums, const __grid_constant__ TensorOutput c) {
  // Parts whose loads are under way together. With 12 products take 2.5 % longer, with 2 1 %.
  constexpr int kTogether = 4;
  WaitForPreviousKernel();
  const int thread = static_cast<int>(threadIdx.x);
  const int group = static_cast<int>(blockIdx.x) / tile.vectors;
  const int vector = static_cast<int>(blockIdx.x) - group * tile.vectors;
  const KPartsTileAt at(work, static_cast<int>(blockIdx.y));
  const int64_t row =
      int64_t{at.row} * tile.rows + group * kMmaRows + thread / 32 * 16 + thread % 32 / 4;
  const int64_t col = int64_t{at.col} * tile.cols + vector * 8 + thread % 4 * 2;
  if (row >= (c.transposed ? c.cols : c.rows) || col >= (c.transposed ? c.rows : c.cols)) return;
  const int64_t tile_vectors = int64_t{gridDim.x} * kWarpgroupThreads;
  const int64_t part_vectors = gridDim.y * tile_vectors;
  const float4* const from =
      sums + blockIdx.y * tile_vectors + blockIdx.x * kWarpgroupThreads + thread;
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
  for (int part = 0; part < work.parts; part += kTogether) {
    float4 of_part[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (part + i < work.parts) of_part[i] = from[(part + i) * part_vectors];
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (part + i >= work.parts) break;
      sum.x += of_part[i].x;
      sum.y += of_part[i].y;
      sum.z += of_part[i].z;
      sum.w += of_part[i].w;
    }
  }
  const auto store = [&](float value, int below, int beside) {
    if (c.transposed) {
      StoreKPartsSum<Out>(c, value, col + beside, row + below, at.batch);
    } else {
      StoreKPartsSum<Out>(c, value, row + below, col + beside, at.batch);
    }
  };
  store(sum.x, 0, 0);
  store(sum.y, 0, 1);
  store(sum.z, 8, 0);
  store(sum.w, 8, 1);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_SUMS_H_

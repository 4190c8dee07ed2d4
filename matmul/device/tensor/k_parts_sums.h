// The second kernel of k_parts.h: adds the parts of each tile, in the order of k, and stores C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_SUMS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_SUMS_H_

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor/k_parts.h"

namespace stridewise {

constexpr int kKPartsSumThreads = 256;

// A tile's shape, as k_parts.h has it: `vectors` of four sums of each of the 128 threads of a
// warpgroup, which have 64 of its rows.
struct KPartsShape {
  int rows, cols;    // Of a cluster's tile.
  int vectors;       // cols / 8.
  int part_vectors;  // Of all threads.
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

// Called with a thread for each vector of all tiles.
template <typename Out>
__global__ void __launch_bounds__(kKPartsSumThreads)
    AddKParts(const __grid_constant__ KPartsWork work, const __grid_constant__ KPartsShape shape,
              const float4* sums, const __grid_constant__ TensorOutput c) {
  constexpr int kOfGroup = 128;
  constexpr int kGroupRows = 64;
  // Parts whose loads are under way together.
  constexpr int kTogether = 4;
  WaitForPreviousKernel();
  const int64_t item = int64_t{blockIdx.x} * kKPartsSumThreads + threadIdx.x;
  const int tile = static_cast<int>(item / shape.part_vectors);
  if (tile >= work.tiles) return;
  const int vector = static_cast<int>(item - int64_t{tile} * shape.part_vectors);
  const int thread = vector % kOfGroup;
  const int of_group = vector / kOfGroup;
  const int group = of_group / shape.vectors;
  const KPartsTileAt at(work, tile);
  const int64_t row =
      int64_t{at.row} * shape.rows + group * kGroupRows + thread / 32 * 16 + thread % 32 / 4;
  const int64_t col =
      int64_t{at.col} * shape.cols + (of_group - group * shape.vectors) * 8 + thread % 4 * 2;
  if (row >= (c.transposed ? c.cols : c.rows) || col >= (c.transposed ? c.rows : c.cols)) return;
  const int64_t of_parts = int64_t{work.tiles} * shape.part_vectors;
  const float4* const from = sums + item;
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
  for (int part = 0; part < work.parts; part += kTogether) {
    float4 of_part[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (part + i < work.parts) of_part[i] = from[(part + i) * of_parts];
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

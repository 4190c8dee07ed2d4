// The kernel of skinny.cu: a block computes a tile, or one of the parts of its k.
//
// A few tiles do not fill the machine. Then k is split into parts, which the blocks of a cluster
// compute; each of them adds a part of the tile, reading the others' sums in their shared memory.
// So this needs no workspace.

#ifndef STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_KERNEL_H_
#define STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_KERNEL_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/skinny_tile.h"

namespace stridewise {
namespace {  // Each file that includes this has kernels of its own.

template <typename Form>
__global__ void __launch_bounds__(Form::kThreads, Form::kBlocksPerMultiprocessor)
    SkinnyTiles(SkinnyTileProduct product) {
  using X = typename SkinnyChunks<Form>::X;
  using Y = typename SkinnyChunks<Form>::Y;
  constexpr int kExtentK = Form::kExtentK;
  constexpr int kStages = Form::kStages;
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const int64_t index = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (index >= product.batch) return;
  const auto part = static_cast<int>(blockIdx.x % product.parts);
  const uint32_t tile = blockIdx.x / product.parts;
  const int64_t first_row = static_cast<int64_t>(tile % product.row_tiles) * Form::kRows;
  const int64_t first_col = static_cast<int64_t>(tile / product.row_tiles) * Form::kCols;
  const auto rows = static_cast<int>(min(product.y.matrix.mn - first_row, int64_t{Form::kRows}));
  const auto cols = static_cast<int>(min(product.x.matrix.mn - first_col, int64_t{Form::kCols}));
  const int64_t first_k = static_cast<int64_t>(part) * product.k_of_part;
  const auto k =
      static_cast<int>(max(min(product.k - first_k, int64_t{product.k_of_part}), int64_t{0}));
  const int64_t x_ld = product.x.matrix.ld;
  const int64_t y_ld = product.y.matrix.ld;
  const float* const x_data =
      product.x.matrix.data + index * product.x.batch_stride +
      (X::kKMajor ? first_col * x_ld + first_k : first_k * x_ld + first_col);
  const float* const y_data =
      product.y.matrix.data + index * product.y.batch_stride +
      (product.y_is_k_major ? first_row * y_ld + first_k : first_k * y_ld + first_row);
  const auto copy = [&](int chunk, float* stage) {
    const int64_t at_k = static_cast<int64_t>(chunk) * kExtentK;
    const int k_left = min(k - chunk * kExtentK, kExtentK);
    X::Copy(x_data + (X::kKMajor ? at_k : at_k * x_ld), x_ld, product.x.matrix.vectors, cols,
            k_left, stage + Y::kFloats);
    Y::Copy(y_data + (product.y_is_k_major ? at_k : at_k * y_ld), y_ld, product.y_is_k_major,
            product.y.matrix.vectors, rows, k_left, stage);
  };

  const int chunks = k / kExtentK + (k % kExtentK != 0);
  const auto lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const auto warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int warp_row = warp % Form::kRowWarps * Form::kWarpRows;
  const int slice = warp / Form::kRowWarps;
  float sums[Form::kWarpRows][Form::kLaneCols] = {};
  // Each round copies a chunk and multiplies an earlier one; the first kStages - 1 only copy.
  int to_stage = 0;
#pragma unroll 1
  for (int next = 0; next < chunks + kStages - 1; ++next) {
    const int chunk = next - (kStages - 1);
    if (chunk >= 0) {
      __pipeline_wait_prior(kStages - 2);
      __syncthreads();  // This chunk has arrived, and no thread reads the one before.
    }
    if (next < chunks) copy(next, shared + to_stage * SkinnyChunks<Form>::kStageFloats);
    __pipeline_commit();
    to_stage = to_stage == kStages - 1 ? 0 : to_stage + 1;
    if (chunk < 0) continue;
    // The oldest stage is the one that is copied to next.
    const float* const stage = shared + to_stage * SkinnyChunks<Form>::kStageFloats;
    const float* const x = stage + Y::kFloats + lane * (X::kKMajor ? X::kPitch : 1);
    const float* const y = stage + warp_row;
    const int extent_k = min(k - chunk * kExtentK, kExtentK);
#pragma unroll 1
    for (int i = slice * kVector; i < extent_k; i += Form::kSlices * kVector) {
      MultiplyFour<Form>(x, y, i, sums);
    }
  }

  float* const c = product.c + index * product.c_batch_stride + first_row * product.c_row_stride +
                   first_col * product.c_col_stride;
  if (Form::kSlices == 1 && product.parts == 1 && product.c_col_stride == 1) {
#pragma unroll
    for (int row = 0; row < Form::kWarpRows; ++row) {
      if (warp_row + row >= rows) break;
#pragma unroll
      for (int i = 0; i < Form::kLaneCols; ++i) {
        const int col = lane + i * kWarpSize;
        if (col < cols) {
          product.epilogue.Store(sums[row][i], c, (warp_row + row) * product.c_row_stride + col);
        }
      }
    }
    return;
  }

  constexpr int kPitch = Form::kGatherPitch;
  __syncthreads();  // No thread reads the last chunk.
#pragma unroll
  for (int row = 0; row < Form::kWarpRows; ++row) {
#pragma unroll
    for (int i = 0; i < Form::kLaneCols; ++i) {
      shared[(slice * Form::kRows + warp_row + row) * kPitch + lane + i * kWarpSize] = sums[row][i];
    }
  }
  __syncthreads();
  // From here on the tile is vectors of four columns of a row.
  constexpr int kVectorsOfRow = Form::kCols / kVector;
  constexpr int kVectors = Form::kRows * kVectorsOfRow;
  const auto at = [&](int vector) {
    return shared + vector / kVectorsOfRow * kPitch + vector % kVectorsOfRow * kVector;
  };
  const auto store = [&](int vector, const float(&four)[kVector]) {
    const int row = vector / kVectorsOfRow;
    const int col = vector % kVectorsOfRow * kVector;
    if (row >= rows) return;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (col + i >= cols) return;
      product.epilogue.Store(four[i], c,
                             row * product.c_row_stride + (col + i) * product.c_col_stride);
    }
  };
  const auto thread = static_cast<int>(threadIdx.x);
  if (product.parts == 1 && product.c_col_stride != 1) {
    // Neighbours in C lie down a column of the tile.
#pragma unroll 4
    for (int i = thread; i < Form::kRows * Form::kCols; i += Form::kThreads) {
      const int row = i % Form::kRows;
      const int col = i / Form::kRows;
      float sum = 0;
#pragma unroll
      for (int slice_of = 0; slice_of < Form::kSlices; ++slice_of) {
        sum += shared[(slice_of * Form::kRows + row) * kPitch + col];
      }
      if (row < rows && col < cols) {
        product.epilogue.Store(sum, c, row * product.c_row_stride + col * product.c_col_stride);
      }
    }
    return;
  }
  if (Form::kSlices > 1 || product.parts == 1) {
#pragma unroll 4
    for (int vector = thread; vector < kVectors; vector += Form::kThreads) {
      float sum[kVector];
      LoadFour(at(vector), sum);
#pragma unroll
      for (int other = 1; other < Form::kSlices; ++other) {
        float more[kVector];
        LoadFour(at(vector) + other * Form::kRows * kPitch, more);
#pragma unroll
        for (int i = 0; i < kVector; ++i) sum[i] += more[i];
      }
      if (product.parts == 1) {
        store(vector, sum);
      } else {
        StoreFour(at(vector), sum);
      }
    }
    if (product.parts == 1) return;
  }
  SyncCluster();
  const auto parts = static_cast<int>(product.parts);
  for (int vector = thread + part * Form::kThreads; vector < kVectors;
       vector += parts * Form::kThreads) {
    float sum[kVector] = {};
    constexpr int kAtOnce = 4;
    for (int other = 0; other < parts; other += kAtOnce) {
      float more[kAtOnce][kVector];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        LoadFourFromBlock(at(vector), min(other + i, parts - 1), more[i]);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (other + i >= parts) break;
#pragma unroll
        for (int j = 0; j < kVector; ++j) sum[j] += more[i][j];
      }
    }
    store(vector, sum);
  }
  SyncCluster();  // No block ends while another one reads its sums.
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_KERNEL_H_

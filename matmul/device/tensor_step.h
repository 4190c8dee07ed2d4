// The tile of 128x128 that two warpgroups compute with wgmma, for the steps of the ladder that
// differ in how a stage reaches shared memory. A and B are BF16, row-major and not transposed.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_H_

#include <cuda_bf16.h>

#include <cstdint>

#include "common/base/matrix.h"
#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"

namespace stridewise {

using StepElement = __nv_bfloat16;

constexpr int kStepTile = 128;
constexpr int kStepDepth = 64;  // Of k, 128 bytes: a row of A's tile.
constexpr int kStepThreads = 256;
constexpr int kStepRows = 64;  // Of a warpgroup.

// A stage: 128 rows of A, and B in two panels of 64 columns with a row for each k.
constexpr int kStepBytesA = kStepTile * kSwizzleBytes;
constexpr int kStepPanelBytes = kStepDepth * kSwizzleBytes;
constexpr int kStepBytes = kStepBytesA + 2 * kStepPanelBytes;
constexpr int kStepAlignment = 1024;  // Of a stage: the swizzle counts rows from there.

// Returns the first multiple of kStepAlignment in the block's dynamic shared memory.
__device__ inline char* AlignedStages(char* shared) {
  return shared + (kStepAlignment - SharedAddress(shared) % kStepAlignment) % kStepAlignment;
}

// Starts the multiplications of the stage at `stage` into a warpgroup's accumulators.
__device__ inline void MultiplyStep(uint32_t stage, bool accumulate, float (&d)[kStepTile / 2]) {
  using Mma = Wgmma<StepElement, kStepTile, OperandLayout::kKMajor, OperandLayout::kMnMajor>;
  const int warpgroup = static_cast<int>(threadIdx.x) / 128;
  const uint64_t a = TileDescriptor<OperandLayout::kKMajor>(
      stage + warpgroup * kStepRows * kSwizzleBytes, kStepPanelBytes);
  const uint64_t b = TileDescriptor<OperandLayout::kMnMajor>(stage + kStepBytesA, kStepPanelBytes);
#pragma unroll
  for (int i = 0; i < kStepDepth / 16; ++i) {
    Mma::Multiply(a + i * DescriptorStep<OperandLayout::kKMajor, StepElement>(),
                  b + i * DescriptorStep<OperandLayout::kMnMajor, StepElement>(),
                  i > 0 || accumulate, d);
  }
}

// Stores the accumulators of the tile at (row, col), element by element.
__device__ inline void StoreStep(const Matrix<StepElement>& c, int64_t row, int64_t col,
                                 const float (&d)[kStepTile / 2]) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
#pragma unroll
  for (int i = 0; i < kStepTile / 2; ++i) {
    const int64_t r = row + thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
    const int64_t s = col + lane % 4 * 2 + i / 4 * 8 + i % 2;
    if (r < c.rows && s < c.cols) c(r, s) = static_cast<StepElement>(d[i]);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_H_

// y * X where the lines of X are those of columns, along k: a warp multiplies whole lines by y.
//
// A line begins anywhere within 16 bytes, and its vectors are loaded as memory has them: y is kept
// in shared memory so that the eight elements that meet a vector are found at any distance, by all
// lanes in different banks. Lines that are a multiple of eight apart begin equally far behind 16
// bytes, so that a warp's four are multiplied by the same of them.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_ROWS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_ROWS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/tensor/vector.h"

namespace stridewise {

constexpr int kVectorWarps = kVectorThreads / 32;
constexpr int kVectorTogether = 1;  // Vectors of a line whose loads are under way together.
constexpr int kVectorSlab = 2048;   // Of k, which is kept of y.

// Element k of a slab, from -8 on: neighbours lie kPitch apart, and every eighth ones together.
class SlabOfY {
 public:
  static constexpr int kPitch = kVectorSlab / kVectorChunk + 3;
  static constexpr int kFloats = kPitch * kVectorChunk;

  __device__ explicit SlabOfY(float* shared) : shared_(shared) {}
  __device__ float& At(int k) const {
    const int from_zero = k + kVectorChunk;
    return shared_[from_zero % kVectorChunk * kPitch + from_zero / kVectorChunk];
  }

 private:
  float* shared_;
};

// A cluster in x for each kVectorLines columns, and products of the batch in y.
template <typename Element>
__global__ void __launch_bounds__(kVectorThreads, 4)
    TensorVectorRows(const __grid_constant__ TensorVector product) {
  static_assert(kVectorWarps % kVectorChunk == 0, "the lines of a warp begin equally far");
  __shared__ float of_y[SlabOfY::kFloats];
  __shared__ float sums[kVectorLines];
  const SlabOfY slab(of_y);
  const auto lane = static_cast<int>(threadIdx.x) % 32;
  const auto warp = static_cast<int>(threadIdx.x) / 32;
  const int part = static_cast<int>(blockIdx.x) % product.parts;
  const int64_t first_col = int64_t{blockIdx.x} / product.parts * kVectorLines;
  const int end_k = min(product.k, (part + 1) * product.k_of_part);
  const uint16_t* const matrix = product.x + blockIdx.y * product.x_stride;
  const uint16_t* const y = product.y + blockIdx.y * product.y_stride;
  const uint16_t* const end = matrix + (product.cols - 1) * product.ld + product.k;
  constexpr int kStep = 32 * kVectorChunk;
  float acc[kVectorLinesOfWarp] = {};
#pragma unroll 1
  for (int first_k = part * product.k_of_part; first_k < end_k; first_k += kVectorSlab) {
    const int extent = min(end_k - first_k, kVectorSlab);
    __syncthreads();  // The slab before has been read.
#pragma unroll 4
    for (int k = static_cast<int>(threadIdx.x) - kVectorChunk; k < extent + kVectorChunk;
         k += kVectorThreads) {
      slab.At(k) =
          k >= 0 && k < extent ? ToFloat(y[(first_k + k) * product.y_step], Element()) : 0.0f;
    }
    __syncthreads();
    // Lines beyond the last one are the warp's first one again, and their sums are not stored.
    const int64_t col = min(first_col + warp, product.cols - 1);
    const uint16_t* lines[kVectorLinesOfWarp];
#pragma unroll
    for (int i = 0; i < kVectorLinesOfWarp; ++i) {
      const int64_t own_col = col + i * kVectorWarps < product.cols ? col + i * kVectorWarps : col;
      lines[i] = matrix + own_col * product.ld + first_k;
    }
    const auto shift =
        static_cast<int>(reinterpret_cast<uintptr_t>(lines[0]) / sizeof(uint16_t) % kVectorChunk);
#pragma unroll 1
    for (int k = lane * kVectorChunk - shift; k < extent; k += kVectorTogether * kStep) {
      uint4 chunks[kVectorTogether][kVectorLinesOfWarp];
#pragma unroll
      for (int j = 0; j < kVectorTogether; ++j) {
#pragma unroll
        for (int i = 0; i < kVectorLinesOfWarp; ++i) {
          const uint16_t* const from = lines[i] + k + j * kStep;
          chunks[j][i] = make_uint4(0, 0, 0, 0);
          if (k + j * kStep < extent && from + kVectorChunk <= end) {
            chunks[j][i] = __ldg(reinterpret_cast<const uint4*>(from));
          }
        }
      }
#pragma unroll
      for (int j = 0; j < kVectorTogether; ++j) {
        const int own_k = k + j * kStep;
        if (own_k >= extent) break;
        float factors[kVectorChunk];
#pragma unroll
        for (int e = 0; e < kVectorChunk; ++e) factors[e] = slab.At(own_k + e);
        const bool whole = own_k >= 0 && own_k + kVectorChunk <= extent;
#pragma unroll
        for (int i = 0; i < kVectorLinesOfWarp; ++i) {
          float values[kVectorChunk];
          ToFloats<Element>(chunks[j][i], values);
#pragma unroll
          for (int e = 0; e < kVectorChunk; ++e) {
            // What is not the line's may be Inf.
            const bool is_in = whole || (own_k + e >= 0 && own_k + e < extent);
            acc[i] = fmaf(is_in ? values[e] : 0.0f, factors[e], acc[i]);
          }
          if (lines[i] + own_k + kVectorChunk <= end) continue;
            // The vector goes on behind X: its elements are added one by one.
#pragma unroll 1
          for (int e = max(own_k, 0); e < min(own_k + kVectorChunk, extent); ++e) {
            acc[i] = fmaf(ToFloat(lines[i][e], Element()), slab.At(e), acc[i]);
          }
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kVectorLinesOfWarp; ++i) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) acc[i] += __shfl_xor_sync(~0u, acc[i], offset);
    if (lane == 0) sums[warp + i * kVectorWarps] = acc[i];
  }
  StoreVectorSums<Element>(product, first_col, kVectorLines, sums);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_ROWS_H_

#include "bindings/cublas/test/compare.h"
#include "common/gpu/launch.h"

namespace stridewise::drop_in {
namespace {

__device__ float RandomValue(uint32_t seed, int64_t index) {
  uint32_t x =
      static_cast<uint32_t>(index) * 2654435761U + seed + static_cast<uint32_t>(index >> 32);
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return static_cast<float>(x) * (2.0F / 4294967296.0F) - 1.0F;
}

__global__ void Fill(float* values, float* magnitudes, int64_t count, uint32_t seed) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    values[i] = RandomValue(seed, i);
    magnitudes[i] = fabsf(values[i]);
  }
}

__global__ void Worst(const float* ours, const float* real, const float* magnitudes, int64_t count,
                      int64_t rows, int64_t cols, int64_t ld, int64_t stride, int64_t batch,
                      float factor, float* worst) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  float mine = 0;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    if (__float_as_int(ours[i]) == __float_as_int(real[i])) continue;
    const int64_t matrix = batch > 1 ? min(i / stride, batch - 1) : 0;
    const int64_t in_matrix = i - matrix * (batch > 1 ? stride : 0);
    const bool inside = in_matrix / ld < cols && in_matrix % ld < rows;
    if (inside && ours[i] == real[i]) continue;  // Zeros may have other signs.
    const float error = fabsf(ours[i] - real[i]) / (factor * magnitudes[i]);
    // Also where the error is NaN.
    mine = inside && error <= 3e38F ? fmaxf(mine, error) : INFINITY;
  }
  // Not negative, so that the order of the bits is that of the values.
  if (mine > 0) atomicMax(reinterpret_cast<int*>(worst), __float_as_int(mine));
}

constexpr int64_t kBlocks = 528;
constexpr int64_t kThreads = 256;

}  // namespace

LaunchStatus FillRandom(float* values, float* magnitudes, int64_t count, uint32_t seed,
                        cudaStream_t stream) {
  return Launch(Fill, {kBlocks, 1, 1}, {kThreads, 1, 1}, 0, stream, values, magnitudes, count,
                seed);
}

LaunchStatus FindWorst(const float* ours, const float* real, const float* magnitudes, int64_t count,
                       int64_t rows, int64_t cols, int64_t ld, int64_t stride, int64_t batch,
                       float factor, float* worst, cudaStream_t stream) {
  return Launch(Worst, {kBlocks, 1, 1}, {kThreads, 1, 1}, 0, stream, ours, real, magnitudes, count,
                rows, cols, ld, stride, batch, factor, worst);
}

}  // namespace stridewise::drop_in

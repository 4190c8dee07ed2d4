#include "common/gpu/launch.h"
#include "matmul/test/differences.h"

namespace stridewise {
namespace {

constexpr int64_t kBlocks = 528;
constexpr int64_t kThreads = 256;

__global__ void Count(const float* x, const float* y, int64_t count, float tolerance,
                      Differences* found) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    if (__float_as_int(x[i]) == __float_as_int(y[i])) continue;
    const float apart = fabsf(x[i] - y[i]);
    if (tolerance > 0 && apart <= tolerance) continue;
    atomicAdd(&found->count, 1);
    atomicMax(&found->last_plus, static_cast<unsigned long long>(i + 1));
    // Not negative, so that the order of the bits is that of the values.
    atomicMax(&found->greatest_bits, __float_as_uint(apart <= 3e38F ? apart : INFINITY));
  }
}

}  // namespace

LaunchStatus CountDifferences(const float* x, const float* y, int64_t count, float tolerance,
                              Differences* found, cudaStream_t stream) {
  return Launch(Count, {kBlocks, 1, 1}, {kThreads, 1, 1}, 0, stream, x, y, count, tolerance, found);
}

}  // namespace stridewise

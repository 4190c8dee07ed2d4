// access_picture_test.cc finds the lines by the comments at their ends.

#include "common/executor/testdata/access_kernels.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

__global__ void Accesses(float2* out, const float* in) {
  __shared__ float2 pairs[kAccessThreads];
  const int thread = threadIdx.x;
  const float value = in[2 * thread + 256 * blockIdx.x];  // LINE load
  pairs[thread].x = value;                                // LINE store x
  pairs[thread].y = value;                                // LINE store y
  __syncthreads();
  if (thread % 32 < 8) {
    out[kAccessThreads * blockIdx.x + thread] = pairs[thread];  // LINE copy
  }
}

__global__ void Loop(float* out, const float* in, int rounds) {
  if (threadIdx.x >= kAccessThreads / 2) return;
  float sum = 0;
  for (int i = 0; i < rounds; ++i) sum += in[i];
  out[threadIdx.x] = sum;
}

}  // namespace

absl::Status LaunchAccesses(float* out, const float* in, cudaStream_t stream) {
  return Launch(Accesses, {kAccessBlocks}, {kAccessThreads}, 0, stream,
                reinterpret_cast<float2*>(out), in);
}

absl::Status LaunchLoop(float* out, const float* in, int rounds, cudaStream_t stream) {
  return Launch(Loop, {1}, {kAccessThreads}, 0, stream, out, in, rounds);
}

}  // namespace stridewise::executor

// Loads and stores that a GPU's compiler merges: the members of a vector, neighbours of an unrolled
// loop, neighbours of dynamic shared memory; and one that it need not repeat. And a copy that is no
// store.
#include <cuda_pipeline.h>

#include <cstdio>

constexpr int kSide = 32;

__global__ void Members(const float2* in, float* out) {
  const int i = threadIdx.x;
  out[i] = expf(in[i].x) + expf(in[i].y);  // One load of 8 bytes.
}

template <int n>
__global__ void Rows(const float* in, float* out) {
  __shared__ float tile[n][n];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * n + threadIdx.x];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < n; ++k) sum += tile[threadIdx.y][k];  // n / 4 loads of 16 bytes.
  out[threadIdx.y * n + threadIdx.x] = sum;
}

__global__ void Pairs(float* out) {
  extern __shared__ float pairs[];
  const int i = 2 * threadIdx.x;
  pairs[i] = 1;
  pairs[i + 1] = 2;  // One store of 8 bytes.
  __syncthreads();
  out[threadIdx.x] = pairs[i] - pairs[i + 1];  // One load.
}

template <int n>
__global__ void Again(float* out) {
  __shared__ float table[n];
  table[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = table[n - 1 - threadIdx.x];
  out[threadIdx.x + n] = table[n - 1 - threadIdx.x];  // No load: out is not in table.
}

__global__ void Copied(const float* in, float* out) {
  __shared__ float tile[kSide];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x + 2 * kSide] = tile[threadIdx.x];
}

int main() {
  float *in, *out;
  cudaMalloc(&in, kSide * kSide * sizeof(float));
  cudaMalloc(&out, kSide * kSide * sizeof(float));
  cudaMemset(in, 0, kSide * kSide * sizeof(float));
  Members<<<1, kSide>>>(reinterpret_cast<float2*>(in), out);
  Rows<kSide><<<1, dim3(kSide, kSide)>>>(in, out);
  Pairs<<<1, kSide, 2 * kSide * sizeof(float)>>>(out);
  Again<kSide><<<1, kSide>>>(out);
  Copied<<<1, kSide>>>(in, out);
  float last = 0;
  cudaMemcpy(&last, out + 2 * kSide - 1, sizeof(last), cudaMemcpyDeviceToHost);
  std::printf("the last is %g\n", last);
  return last == 1 ? 0 : 1;
}

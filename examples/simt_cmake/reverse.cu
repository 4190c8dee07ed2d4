// An ordinary CUDA program: reverses the numbers within each block, and checks the result.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 128;

__global__ void ReverseBlocks(int* out, const int* in, int n) {
  __shared__ int tile[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
#ifndef PLANT_A_BUG
  __syncthreads();
#endif
  const int from = kThreads - 1 - threadIdx.x;
  if (i < n) out[i] = tile[from];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i + 1;
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  ReverseBlocks<<<(n + kThreads - 1) / kThreads, kThreads>>>(out, in, n);
  std::vector<int> result(n);
  if (cudaMemcpy(result.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  for (int i = 0; i < n; ++i) {
    const int from = i / kThreads * kThreads + kThreads - 1 - i % kThreads;
    const int expected = from < n ? from + 1 : 0;
    if (result[i] != expected) {
      std::printf("number %d is %d, not %d\n", i, result[i], expected);
      return 1;
    }
  }
  std::printf("%d numbers are right\n", n);
  return 0;
}

// The simplest product of two matrices, as a first program of CUDA has it.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void Multiply(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

int main() {
  const int n = 70;
  const size_t bytes = n * n * sizeof(float);
  std::vector<float> host(n * n);
  for (int i = 0; i < n * n; ++i) host[i] = static_cast<float>(i % n);
  float *a, *b, *c;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), bytes, cudaMemcpyHostToDevice);
  Multiply<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, c, n);
  cudaMemcpy(host.data(), c, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  // Each row of the first is 0 ... n - 1, and each column of the second has one value.
  for (int i = 0; i < n * n; ++i) wrong += host[i] != static_cast<float>(n * (n - 1) / 2 * (i % n));
  std::printf("%d elements are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}

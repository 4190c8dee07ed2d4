// Planted bugs, chosen by the argument.

#include <cassert>
#include <cstdlib>

__device__ int few[4];

__global__ void Beyond(float* p) { p[threadIdx.x + 1] = 1; }
__global__ void Race(float* p) {
  __shared__ float tile[64];
  tile[threadIdx.x] = p[threadIdx.x];
  p[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void Unset(float* p, const float* q) { p[threadIdx.x] = q[threadIdx.x]; }
__global__ void Wild(float* p) { *p = 1; }
__global__ void Asserts(int n) { assert(static_cast<int>(threadIdx.x) < n); }
__global__ void BeyondVariable(int i) { few[i] = 1; }
template <typename T>
__global__ void Deduced(T* p) {
  p[64] = 1;
}

int main(int, char** argv) {
  float *p, *q;
  cudaMalloc(&p, 64 * sizeof(float));
  cudaMalloc(&q, 64 * sizeof(float));
  cudaMemset(p, 0, 64 * sizeof(float));
  float on_host = 0;
  switch (atoi(argv[1])) {
    case 1:
      Beyond<<<1, 64>>>(p);
      break;
    case 2:
      Race<<<1, 64>>>(p);
      break;
    case 3:
      Unset<<<1, 64>>>(p, q);
      break;
    case 4:
      Wild<<<1, 1>>>(&on_host);
      break;
    case 5:
      Asserts<<<1, 64>>>(63);
      break;
    case 6:
      BeyondVariable<<<1, 1>>>(4);
      break;
    case 7:
      Deduced<<<1, 1>>>(p);
      break;
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

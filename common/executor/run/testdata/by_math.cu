// What functions of <math.h> load on a GPU, in one warp. The numbers are those of nvcc 13.0's
// machine code for sm_90a.

#include <cmath>
#include <cstdio>

constexpr int kLanes = 32;

// Each loads its coefficients by three instructions of 16 bytes.
__global__ void SineAndCosine(double* x) {
  const double a = x[threadIdx.x];
  x[threadIdx.x] = sin(a) + 2 * cos(a);
}

// All but the first lane go through a loop of three loads: of digits of 2 / pi.
__global__ void LargeSine(double* x) { x[threadIdx.x] = sin(threadIdx.x * 4e9); }

// Of float only the digits: a loop of six loads, here for one half of the warp.
__global__ void LargeTangents(float* x) { x[threadIdx.x] = tanf(threadIdx.x * 7000.0f); }

// Both branches call it, each at its own place.
__global__ void InBranches(double* x) {
  if (threadIdx.x < kLanes / 2) {
    x[threadIdx.x] = sin(x[threadIdx.x]);
  } else {
    x[threadIdx.x] = 1 - sin(x[threadIdx.x] + 1);
  }
}

int main() {
  double* x;
  double last;
  cudaMalloc(&x, kLanes * sizeof(double));
  cudaMemset(x, 0, kLanes * sizeof(double));
  SineAndCosine<<<1, kLanes>>>(x);
  LargeSine<<<1, kLanes>>>(x);
  LargeTangents<<<1, kLanes>>>(reinterpret_cast<float*>(x));
  cudaMemset(x, 0, kLanes * sizeof(double));
  InBranches<<<1, kLanes>>>(x);
  cudaMemcpy(&last, x + kLanes - 1, sizeof(last), cudaMemcpyDeviceToHost);
  std::printf("the last is %g, on the host %g\n", last, 1 - sin(1.0));
  cudaFree(x);
}

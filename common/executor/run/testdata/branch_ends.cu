// What both sides of a branch end with, copies of structures, variables of the device: counts as
// nvcc 13.0 makes them.

#include <cstdio>

constexpr int kThreads = 32;

__constant__ float factors[7];

struct Pair {
  float x, y;
};

// One load and one store, of an index and a factor that are chosen.
__global__ void Chosen(float* b, const float* a, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    b[i] = a[i] * 2;
  } else {
    b[i] = a[i + n] * 3;
  }
}

__global__ void OfThree(float* b, const float* a, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    b[i] = a[i + 1] * 3;
  } else if (i < n + n / 2) {
    b[i] = a[i + n] * 2;
  } else {
    b[i] = a[i + 2 * n] * 4;
  }
}

// A store alone stays where it is,
__global__ void Alone(float* b, const float* a, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    b[i] = a[i];
  } else {
    b[i] = 0;
  }
}

// but not where nothing is to be chosen, nor two for one choice.
__global__ void Same(float* b, float* c, const float* a, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    b[i] = a[i] + a[i + 1];
    c[i] = 5;
  } else {
    b[i] = a[i] * a[i + n];
    c[i] = 5;
  }
}

// No pointer is chosen.
__global__ void OtherArray(float* b, const float* a, const float* c, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    b[i] = a[i];
  } else {
    b[i] = c[i];
  }
}

// Of shared memory for some lanes and of global memory for others, one more in each iteration:
// lanes of which each has left at another iteration go on together.
__global__ void TwoMemories(float* b, const float* a) {
  __shared__ float tile[kThreads];
  const int i = threadIdx.x;
  tile[i] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 7; ++k) {
    if (i + k >= kThreads) {
      sum += a[i + k] * factors[k];
    } else {
      sum += tile[i + k] * factors[k];
    }
  }
  b[i] = sum;
}

// Aligned to 4 bytes: two accesses.
__global__ void Pairs(Pair* b, const Pair* a) { b[threadIdx.x] = a[threadIdx.x]; }

__device__ int two[2] = {1, 2};

// Aligned to 4 bytes, too.
__global__ void OfVariable(float* b) { b[threadIdx.x] = two[0] + two[1]; }

int main() {
  float *a, *b, *c;
  cudaMallocManaged(&a, 4 * kThreads * sizeof(float));
  cudaMallocManaged(&b, 4 * kThreads * sizeof(float));
  cudaMallocManaged(&c, 4 * kThreads * sizeof(float));
  for (int i = 0; i < 4 * kThreads; ++i) a[i] = c[i] = i;
  Chosen<<<1, kThreads>>>(b, a, kThreads / 2);
  OfThree<<<1, kThreads>>>(b, a, kThreads / 2);
  Alone<<<1, kThreads>>>(b, a, kThreads / 2);
  Same<<<1, kThreads>>>(b, c, a, kThreads / 2);
  OtherArray<<<1, kThreads>>>(b, a, c, kThreads / 2);
  TwoMemories<<<1, kThreads>>>(c, a);
  Pairs<<<1, kThreads>>>(reinterpret_cast<Pair*>(b), reinterpret_cast<const Pair*>(a));
  OfVariable<<<1, 1>>>(b);
  cudaDeviceSynchronize();
  std::printf("the last is %g\n", b[2 * kThreads - 1]);
  return b[2 * kThreads - 1] == 2 * kThreads - 1 ? 0 : 1;
}

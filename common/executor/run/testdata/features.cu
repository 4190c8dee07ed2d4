// One program with what programs use: launches, symbols, memory of all kinds, printf(), groups.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                  \
  do {                                                                               \
    cudaError_t error = (call);                                                      \
    if (error != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      return 1;                                                                      \
    }                                                                                \
  } while (0)
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                               \
    }                                                                         \
  } while (0)

__constant__ float factors[2];
__device__ unsigned counter;
__device__ float table[4] = {1, 2, 3, 4};
__managed__ int managed = 5;

struct Pair {
  int a;
  double b;
};

__device__ float Twice(float x) { return 2 * x; }
__device__ float (*const kFunction)(float) = Twice;

template <typename T, int kStride>
__global__ void Scale(T* out, const T* in, int n, Pair pair = {1, 2.0}) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* tile = reinterpret_cast<T*>(bytes);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x] = Twice(in[i]) * factors[0] + table[i % 4] + pair.a;
  __syncthreads();
  if (i < n) out[i] = tile[blockDim.x - 1 - threadIdx.x];
  if (threadIdx.x == 0) {
    const unsigned before = atomicAdd(&counter, 1u);
    printf("block %u is number %u\n", blockIdx.x, before);
  }
}

template <typename T>
__global__ void AddTo(T* sums, const T* values) {
  sums[threadIdx.x] += values[threadIdx.x];
}

__global__ void Sum(int* out, const int* in) {
  __shared__ int partial[4];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const int sum = cg::reduce(warp, in[block.thread_rank()], cg::plus<int>());
  if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) *out = partial[0] + partial[1] + partial[2] + partial[3];
  assert(__popc(__ballot_sync(~0u, 1)) == 32);
}

#define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)

int main(int argc, char** argv) {
  const int n = 128;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(float)));
  CHECK(cudaMalloc((void**)&out, n * sizeof(float)));
  std::vector<float> host(n, 1.0f);
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  const float values[2] = {3, 4};
  CHECK(cudaMemcpyToSymbol(factors, values, sizeof(values)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(start, stream));
  Scale<float, 1><<<dim3(n / 32), 32, 32 * sizeof(float), stream>>>(out, in, n);
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaGetLastError());
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds > 0);
  LAUNCH(AddTo, out, in);  // T follows from the arguments.
  (*AddTo<float>)<<<1, 32>>>(out, in);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyAsync(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  EXPECT(host[0] == 6 + 4 + 1 + 2 && host[127] == 6 + 1 + 1);
  unsigned blocks = 0;
  CHECK(cudaMemcpyFromSymbol(&blocks, counter, sizeof(blocks)));
  EXPECT(blocks == 4 && managed == 5);

  int *numbers, *sum;
  CHECK(cudaMallocManaged(&numbers, n * sizeof(int)));
  CHECK(cudaHostAlloc(&sum, sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < n; ++i) numbers[i] = i;
  Sum<<<1, n>>>(sum, numbers);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*sum == n * (n - 1) / 2);

  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.major == 9 && properties.warpSize == 32);
  EXPECT(cudaMemcpy(out, host.data(), (n + 1) * sizeof(float), cudaMemcpyHostToDevice) ==
         cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  Sum<<<1, 2048>>>(sum, numbers);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  EXPECT(cudaFree(out) == cudaErrorInvalidValue);
  printf("all is as expected, %d argument\n", argc - 1);
  return argc > 1 ? atoi(argv[1]) : 0;
}

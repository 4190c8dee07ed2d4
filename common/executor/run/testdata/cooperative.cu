// Cooperative launches: programs whose blocks wait for each other, on a device that they fill.

#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK_IS(value, want)                                                                \
  do {                                                                                       \
    if ((value) != (want)) {                                                                 \
      std::printf("line %d: %s is %lld\n", __LINE__, #value, static_cast<long long>(value)); \
      ++failures;                                                                            \
    }                                                                                        \
  } while (0)

constexpr int kThreads = 96;

// Sums over the grid: of the block in shared memory, then of all blocks by the first one.
__global__ void Sum(const int* in, int count, int* sums, int* result) {
  extern __shared__ int mine[];
  const cg::grid_group grid = cg::this_grid();
  int sum = 0;
  for (unsigned long long i = grid.thread_rank(); i < count; i += grid.size()) sum += in[i];
  mine[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) total += mine[i];
    sums[blockIdx.x] = total;
  }
  cg::sync(grid);
  if (grid.thread_rank() == 0) {
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += sums[i];
    *result = total;
  }
  grid.sync();
  // Everyone has the result, and may overwrite what the first block has read.
  if (threadIdx.x == 0) sums[blockIdx.x] = *result;
}

// Many steps, each of which reads the neighbours of the last one.
template <typename T>
__global__ void Diffuse(T* a, T* b, int count, int steps) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int step = 0; step < steps; ++step) {
    const T* const from = step % 2 == 0 ? a : b;
    T* const to = step % 2 == 0 ? b : a;
    if (i < count) {
      const T left = i > 0 ? from[i - 1] : 0;
      const T right = i + 1 < count ? from[i + 1] : 0;
      to[i] = left + right;
    }
    grid.sync();
  }
}

__global__ void Members(int* out) {
  const cg::grid_group grid = cg::this_grid();
  if (threadIdx.x + threadIdx.y > 0) return;
  int* const mine = out + 8 * grid.block_rank();
  mine[0] = static_cast<int>(grid.num_blocks());
  mine[1] = static_cast<int>(grid.num_threads());
  mine[2] = static_cast<int>(grid.thread_rank());
  mine[3] = grid.is_valid() ? 1 : 0;
  mine[4] = static_cast<int>(100 * grid.group_dim().x + 10 * grid.dim_blocks().y);
}

__global__ void MuchShared(int* out) {
  __shared__ int much[10000];
  much[threadIdx.x] = 1;
  __syncthreads();
  if (blockIdx.x == 0) out[threadIdx.x] = much[threadIdx.x];
}

int main() {
  int failures = 0;
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  CHECK_IS(device.cooperativeLaunch, 1);
  int cooperative = 0;
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
  CHECK_IS(cooperative, 1);

  int per_multiprocessor = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, Sum, kThreads, 4 * kThreads);
  CHECK_IS(per_multiprocessor, 21);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, Sum, 1024, 0);
  CHECK_IS(per_multiprocessor, 2);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, Sum, 32, 0);
  CHECK_IS(per_multiprocessor, 32);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, Sum, 32, 100 << 10);
  CHECK_IS(per_multiprocessor, 2);

  // With threads that are no whole number of warps, too.
  for (const int threads : {kThreads, 33}) {
    const int count = 10007;
    int blocks = 2 * device.multiProcessorCount;
    std::vector<int> host(count);
    int want = 0;
    for (int i = 0; i < count; ++i) want += host[i] = i % 101;
    int *in, *sums, *result;
    cudaMalloc(&in, count * sizeof(int));
    cudaMalloc(&sums, blocks * sizeof(int));
    cudaMalloc(&result, sizeof(int));
    cudaMemcpy(in, host.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    int n = count;
    void* values[] = {&in, &n, &sums, &result};
    CHECK_IS(
        cudaLaunchCooperativeKernel((void*)Sum, blocks, threads, values, threads * sizeof(int), 0),
        cudaSuccess);
    std::vector<int> got(blocks);
    cudaMemcpy(got.data(), sums, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < blocks; ++i) CHECK_IS(got[i], want);
    cudaFree(in);
    cudaFree(sums);
    cudaFree(result);
  }

  {
    const int count = 301;
    int n = count;
    int steps = 7;
    long long *a, *b;
    cudaMalloc(&a, count * sizeof(long long));
    cudaMalloc(&b, count * sizeof(long long));
    std::vector<long long> x(count, 1), y(count);
    cudaMemcpy(a, x.data(), count * sizeof(long long), cudaMemcpyHostToDevice);
    void* values[] = {&a, &b, &n, &steps};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2, 3);
    config.blockDim = dim3(64);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK_IS(cudaLaunchKernelExC(&config, Diffuse<long long>, values), cudaSuccess);
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < count; ++i) {
        y[i] = (i > 0 ? x[i - 1] : 0) + (i + 1 < count ? x[i + 1] : 0);
      }
      x.swap(y);
    }
    cudaMemcpy(y.data(), b, count * sizeof(long long), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i) CHECK_IS(y[i], x[i]);
  }

  int* out;
  int host[48];
  cudaMalloc(&out, sizeof(host));
  cudaMemset(out, 0, sizeof(host));
  void* values[] = {&out};
  CHECK_IS(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(Members), dim3(2, 3),
                                       dim3(4, 5), values),
           cudaSuccess);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  CHECK_IS(host[8 * 5], 6);
  CHECK_IS(host[8 * 5 + 1], 120);
  CHECK_IS(host[8 * 5 + 2], 100);
  CHECK_IS(host[8 * 5 + 3], 1);
  CHECK_IS(host[8 * 5 + 4], 230);
  Members<<<2, 1>>>(out);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  CHECK_IS(host[3], 0);

  // More blocks than the device holds: by threads, by dynamic and by static shared memory.
  const int many = device.multiProcessorCount;
  CHECK_IS(cudaLaunchCooperativeKernel(Members, 2 * many + 1, 1024, values),
           cudaErrorCooperativeLaunchTooLarge);
  CHECK_IS(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  cudaFuncSetAttribute(Members, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10);
  CHECK_IS(cudaLaunchCooperativeKernel(Members, 2 * many + 1, 32, values, 100 << 10),
           cudaErrorCooperativeLaunchTooLarge);
  cudaMemset(out, 0, sizeof(host));
  CHECK_IS(cudaLaunchCooperativeKernel(MuchShared, 5 * many + 1, 1, values),
           cudaErrorCooperativeLaunchTooLarge);
  CHECK_IS(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  CHECK_IS(cudaDeviceSynchronize(), cudaSuccess);
  return failures == 0 ? 0 : 1;
}

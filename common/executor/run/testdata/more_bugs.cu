// More planted bugs, chosen by the argument: between blocks, and outside of launches.

#include <cooperative_groups.h>

#include <cstdlib>

__device__ volatile int flag;
__device__ int plain_flag;
__device__ int message;

// No fence before the flag is set.
__global__ void NoFence(int* out) {
  if (blockIdx.x == 0) {
    message = 7;
    flag = 1;
  } else if (flag == 1) {
    __threadfence();
    *out = message;
  }
}
// The flag is neither volatile nor atomic.
__global__ void PlainFlag(int* out) {
  if (blockIdx.x == 0) {
    message = 7;
    __threadfence();
    plain_flag = 1;
  } else if (plain_flag == 1) {
    __threadfence();
    *out = message;
  }
}
// A block reads the other's shared memory with no barrier behind the store.
__global__ void __cluster_dims__(2, 1, 1) NoClusterBarrier(int* out) {
  __shared__ int value;
  const auto cluster = cooperative_groups::this_cluster();
  value = static_cast<int>(cluster.block_rank());
  out[blockIdx.x] = *cluster.map_shared_rank(&value, 0);
  cluster.sync();
}
// A block reads what another has stored, with no barrier of the grid between them.
__global__ void NoGridBarrier(int* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<int>(blockIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[32 + blockIdx.x] = out[(blockIdx.x + 1) % gridDim.x];
  cooperative_groups::this_grid().sync();
}
// One block leaves without the barrier.
__global__ void GridBarrierOfSome(int* out) {
  if (blockIdx.x == 1) return;
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = 1;
}
// One thread of a block waits for the block alone.
__global__ void TwoBarriers(int* out) {
  if (blockIdx.x == 1 && threadIdx.x == 3) {
    __syncthreads();
  } else {
    cooperative_groups::this_grid().sync();
  }
  out[blockIdx.x] = 1;
}
__global__ void Called(int* out) { out[threadIdx.x] = 1; }

void LaunchCooperative(void (*kernel)(int*), int* out) {
  void* values[] = {&out};
  cudaLaunchCooperativeKernel(kernel, 3, 33, values);
}

void OfHost(int* out) { Called<<<1, 64>>>(out); }

int main(int, char** argv) {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(out, 0, 64 * sizeof(int));
  switch (atoi(argv[1])) {
    case 1:
      NoFence<<<2, 1>>>(out);
      break;
    case 2:
      PlainFlag<<<2, 1>>>(out);
      break;
    case 3:
      Called(out);
      break;
    case 4:
      for (;;) Called<<<1, 64>>>(out);
    case 5:
      NoClusterBarrier<<<2, 1>>>(out);
      break;
    case 6:
      LaunchCooperative(NoGridBarrier, out);
      break;
    case 7:
      LaunchCooperative(GridBarrierOfSome, out);
      break;
    case 8:
      LaunchCooperative(TwoBarriers, out);
      break;
    case 9:
      NoGridBarrier<<<1, 32>>>(out);  // Not a cooperative launch.
      break;
    case 10:
      void (*kernel)(int*) = OfHost;
      kernel<<<2, 64>>>(out);
      break;
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

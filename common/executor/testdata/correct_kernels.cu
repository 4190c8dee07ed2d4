#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "common/executor/testdata/correct_kernels.h"
#include "common/executor/testdata/correct_operations.h"

namespace stridewise::executor {
namespace {

// Every value of a warp, summed by shuffles.
__global__ void WarpSum(int* out, const int* in) {
  int value = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
  out[threadIdx.x] = value;
}

__global__ void ShuffleUpAndDown(int* out, const int* in) {
  const int value = in[threadIdx.x];
  const int up = __shfl_up_sync(~0u, value, 1, 8);
  const int down = __shfl_down_sync(~0u, value, 1, 8);
  out[threadIdx.x] = up + 1000 * down + 1000000 * __shfl_sync(~0u, value, 3, 8);
}

__global__ void Votes(int* out, const int* in) {
  const int lane = threadIdx.x % 32;
  const unsigned ballot = __ballot_sync(~0u, lane % 3 == 0);
  out[threadIdx.x] = __popc(ballot) + (__any_sync(~0u, lane == 31) ? 100 : 0) +
                     (__all_sync(~0u, lane < 31) ? 1000 : 0);
}

// Half warps that synchronise apart, then together, and shuffle each at its own pace.
__global__ void HalfWarps(int* out, const int* in) {
  __shared__ int s[kThreads];
  const int t = threadIdx.x;
  const unsigned mask = t % 32 < 16 ? 0x0000ffffu : 0xffff0000u;
  s[t] = in[t];
  __syncwarp(mask);
  int value = s[t ^ 15];
  if (t % 32 < 16) value = __shfl_xor_sync(mask, value, 15);
  __syncwarp(mask);
  s[t] = value;
  __syncwarp();
  out[t] = s[t ^ 16];
}

__global__ void TiledPartition(int* out, const int* in) {
  namespace cg = cooperative_groups;
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<4>(block);
  int value = in[block.thread_rank()];
  for (int d = 2; d > 0; d /= 2) value += tile.shfl_xor(value, d);
  block.sync();
  out[block.thread_rank()] = value + static_cast<int>(tile.thread_rank());
}

// Neighbouring bytes and halves of one word by different threads are no race.
__global__ void NarrowElements(int* out, const int* in) {
  __shared__ unsigned char bytes[kThreads];
  __shared__ unsigned short halves[kThreads];
  bytes[threadIdx.x] = static_cast<unsigned char>(in[threadIdx.x]);
  halves[threadIdx.x] = static_cast<unsigned short>(in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = bytes[threadIdx.x ^ 1] + 1000 * halves[threadIdx.x ^ 2];
}

__global__ void WideElements(int* out, const int* in) {
  __shared__ int4 s[kThreads / 4];
  if (threadIdx.x < kThreads / 4) s[threadIdx.x] = reinterpret_cast<const int4*>(in)[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x / 4].y;
}

__global__ void DynamicShared(int* out, const int* in) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[kThreads - 1 - threadIdx.x];
}

// Two stages of cp.async in flight.
__global__ void AsyncPipeline(int* out, const int* in) {
  __shared__ int s[2][64];
  const int t = threadIdx.x;
  const auto load = [&](int i) {
    __pipeline_memcpy_async(&s[i % 2][t], &in[64 * i + t], 4);
    __pipeline_commit();
  };
  load(0);
  for (int i = 0; i < 4; ++i) {
    if (i < 3) load(i + 1);
    __pipeline_wait_prior(i < 3 ? 1 : 0);
    __syncthreads();
    out[64 * i + t] = s[i % 2][63 - t];
    __syncthreads();
  }
}

__global__ void AsyncCopyWithZeros(int* out, const int* in) {
  __shared__ int4 s[kThreads];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x / 4 * 4], 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x].x + s[threadIdx.x].y + s[threadIdx.x].z + s[threadIdx.x].w;
}

__global__ void CountingBarrier(int* out, const int* in) {
  out[threadIdx.x] =
      __syncthreads_count(threadIdx.x % 5 == 0) + (__syncthreads_or(threadIdx.x == 7) ? 1000 : 0);
}

// Blocks that talk to each other by atomics.
__global__ void GlobalAtomics(int* out, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[i % kThreads], 1);
}

__global__ void SharedAtomics(int* out, const int* in) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = sum;
}

struct Three {
  int x, y, z;
};
__global__ void StructCopies(int* out, const int* in) {
  if (threadIdx.x < 85) {
    const Three three = reinterpret_cast<const Three*>(in)[threadIdx.x];
    reinterpret_cast<Three*>(out)[threadIdx.x] = three;
  }
  if (threadIdx.x == 255) out[255] = in[255];
}

// Read and then written by the same block, with a barrier between; many readers of one word.
__global__ void InPlace(int* out, const int* in) {
  const int value = out[0] + in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = value;
}

// More dynamic shared memory than static variables may have, and a static one.
__global__ void StaticBesideDynamic(int* out, const int* in) {
  extern __shared__ int many[];
  many[kThreads * 64 + threadIdx.x] = in[threadIdx.x];
  __shared__ int few[kThreads];
  few[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = many[kThreads * 64 + (threadIdx.x ^ 1)] + few[threadIdx.x ^ 2];
}

int WantUpAndDown(int i) {
  const int up = i % 8 == 0 ? i : i - 1;
  const int down = i % 8 == 7 ? i : i + 1;
  return static_cast<int>(static_cast<unsigned>(In(up)) + 1000u * In(down) +
                          1000000u * In(i / 8 * 8 + 3));
}

}  // namespace

std::vector<CorrectKernel> CorrectKernels() {
  return {
      CORRECT(WarpSum, false, 32 * In(i / 32 * 32) + 3 * 496),
      CORRECT(ShuffleUpAndDown, false, WantUpAndDown(i)),
      CORRECT(Votes, false, 11 + 100),
      CORRECT(HalfWarps, false, (i ^ 16) % 32 < 16 ? In(i ^ 16) : In(i ^ 16 ^ 15)),
      CORRECT(TiledPartition, false, 4 * In(i / 4 * 4) + 18 + i % 4),
      CORRECT(NarrowElements, false, In(i ^ 1) % 256 + 1000 * In(i ^ 2)),
      CORRECT(WideElements, false, In(i / 4 * 4 + 1)),
      CORRECT(DynamicShared, false, In(255 - i), 1, kThreads, kThreads * sizeof(int)),
      CORRECT(AsyncPipeline, false, In(i / 64 * 64 + 63 - i % 64), 1, 64),
      CORRECT(AsyncCopyWithZeros, false, 2 * In(i / 4 * 4) + 3),
      CORRECT(CountingBarrier, false, 52 + 1000),
      CORRECT(GlobalAtomics, true, 100, 100),
      CORRECT(SharedAtomics, false, 3 * 255 * 128),
      CORRECT(StructCopies, false, In(i)),
      CORRECT(InPlace, true, In(i)),
      CORRECT(StaticBesideDynamic, false, In(i ^ 1) + In(i ^ 2), 1, kThreads,
              65 * kThreads * sizeof(int)),
  };
}

}  // namespace stridewise::executor

// Features of CUDA that programs use and no kernel of this repository does, one kernel each.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <more_features.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/pipeline>

#ifndef MORE_FEATURES
#error "the macro of the command line is missing"
#endif

namespace cg = cooperative_groups;

// Some programs declare what CUDA has.
int min(int a, int b);

// Toward zero, where the nearest number is the next one.
__global__ void TowardZero(int* out) {
  const float steps[] = {__fadd_rz(1.0f, -0x1p-26f), __fsub_rz(0x1p-26f, 1.0f),
                         __fadd_rz(1.0f, 0x1.8p-24f), __fmul_rz(0x1.800002p0f, 0x1.000002p0f)};
  for (int i = 0; i < 4; ++i) out[i] = __float_as_int(steps[i]);
  out[4] = min(static_cast<int>(blockDim.x), 5);
}

// The lanes that are active: the odd ones, and the last 8.
__global__ void ActiveLanes(int* out) {
  const unsigned lane = threadIdx.x;
  if (lane % 2 == 1) {
    const cg::coalesced_group active = cg::coalesced_threads();
    out[lane] = active.size() * 1000 + active.thread_rank() * 10;
    out[lane] += active.shfl(static_cast<int>(lane), 2);  // Lane 5.
  } else {
    out[lane] = lane >= 24 ? static_cast<int>(__activemask() >> 24) : -1;
  }
}

__global__ void Partitions(int* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const auto thirds = cg::binary_partition(tile, threadIdx.x % 3 == 0);
  out[threadIdx.x] = cg::reduce(thirds, 1, cg::plus<int>());
  const auto labeled = cg::labeled_partition(tile, threadIdx.x / 10);
  out[32 + threadIdx.x] = cg::inclusive_scan(labeled, 1) * 100 + cg::exclusive_scan(tile, 2);
}

// Tiles of two and of four warps, in a block of 256; each warp comes to its tile's barriers alone.
template <int kThreads>
__global__ void TilesOfWarps(int* out) {
  const auto tile = cg::tiled_partition<kThreads>(cg::this_thread_block());
  __shared__ int values[256];
  int sum = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
  if (tile.meta_group_rank() == 0) return;  // Nobody waits for it.
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  tile.sync();
  sum += values[threadIdx.x ^ (kThreads - 1)];
  if (tile.thread_rank() == 1) out[tile.meta_group_rank()] = sum;
}

// Of 2, 4, 8 and 16 bytes.
__global__ void AtomicWidths(int* out, float4* wide) {
  __shared__ unsigned short two;
  __shared__ unsigned long long eight;
  if (threadIdx.x == 0) two = eight = 0;
  __syncthreads();
  atomicAdd(&eight, 1ull << 40);
  for (unsigned short old = 0, seen; (seen = atomicCAS(&two, old, old + 3)) != old;) old = seen;
  atomicAdd(wide, make_float4(1, 2, 3, 4));
  atomicAdd(reinterpret_cast<float2*>(wide) + 1, make_float2(10, 20));
  __syncthreads();
  if (threadIdx.x > 0) return;
  out[0] = two;
  out[1] = static_cast<int>(eight >> 40);
  const float4 before = atomicExch(wide, make_float4(5, 6, 7, 8));
  out[2] = static_cast<int>(before.x + before.w);
  out[3] = static_cast<int>(atomicCAS(wide, make_float4(5, 6, 7, 9), before).y);
  out[4] = static_cast<int>(atomicCAS(wide, make_float4(5, 6, 7, 8), before).y);
}

// Inline PTX, with the host's own assembler beside it.
__global__ void InlinePtx(int* out) {
  int lane, sum;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile(
      "{ .reg .pred p;\n\t"
      "  setp.gt.s32 p, %1, 7;\n\t"
      "  selp.s32 %0, 1, 0, p; }"
      : "=r"(sum)
      : "r"(lane));
  out[threadIdx.x] = sum * 100 + lane;
}
int OnTheHost() {
  int value = 1;
  asm volatile("addl $41, %0" : "+r"(value));
  return value;
}

__global__ void SixteenBits(int* out, __nv_bfloat162* sum) {
  const __half2 a = __float2half2_rn(1.5f);
  const __half2 b = __hfma2(a, a, __half2half2(__half(0.25f))) * a + a;  // 5.25
  __nv_bfloat162 one = __float2bfloat162_rn(1.0f);
  atomicAdd(sum, one);
  out[threadIdx.x] = static_cast<int>(100 * (__low2float(b) + __high2float(b)));
}

// Stages of copies, of which one is always in flight.
__global__ void Pipeline(int* out, const int* in) {
  __shared__ alignas(16) int stages[2][32];
  auto pipe = cuda::make_pipeline();
  const auto four = cuda::aligned_size_t<4>(sizeof(int));
  const auto load = [&](int step) {
    pipe.producer_acquire();
    cuda::memcpy_async(&stages[step % 2][threadIdx.x], &in[32 * step + threadIdx.x], four, pipe);
    pipe.producer_commit();
  };
  load(0);
  int sum = 0;
  for (int step = 0; step < 2; ++step) {
    if (step + 1 < 2) load(step + 1);
    pipe.consumer_wait();
    __syncthreads();
    sum += stages[step % 2][31 - threadIdx.x];
    __syncthreads();
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// A flag that is volatile, and not atomic: written behind a fence and read before one.
__device__ volatile int flag;
__device__ int message;
__global__ void VolatileFlag(int* out) {
  if (blockIdx.x == 0) {
    message = 7;
    __threadfence();
    flag = 1;
  } else if (flag == 1) {
    __threadfence();
    out[blockIdx.x] = message;
  }
}

// Each block adds what the next one of its cluster has, and says where it is.
__device__ void ClusterSums(int* out, int base) {
  namespace cg = cooperative_groups;
  const cg::cluster_group cluster = cg::this_cluster();
  __shared__ int value;
  if (threadIdx.x == 0) value = base + static_cast<int>(blockIdx.x);
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int* const there = cluster.map_shared_rank(&value, static_cast<int>(next));
  const int sum = value + *there;
  const bool found = cluster.query_shared_rank(there) == next;
  cluster.barrier_arrive();
  if (threadIdx.x == 0) {
    out[blockIdx.x] = found ? sum : -1;
    out[8 + blockIdx.x] = static_cast<int>(100 * cluster.num_threads() + cluster.thread_rank());
    out[16 + blockIdx.x] = static_cast<int>(10 * cluster.dim_blocks().x + cluster.block_index().x);
  }
  cluster.barrier_wait();
}
__global__ void Cluster(int* out, int base) { ClusterSums(out, base); }
// With the cluster as a part of the kernel.
template <int kBlocks>
__global__ void __cluster_dims__(kBlocks, 1, 1) FixedCluster(int* out, int base) {
  ClusterSums(out, base);
}
__cluster_dims__(2) __global__ void FixedPair(int* out, int base) { ClusterSums(out, base); }

int main(int argc, char** argv) {
  int failures = 0;
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  CHECK_IS(count, 64);
  int *in, *out, host[64];
  __nv_bfloat162* sum;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMalloc(&sum, sizeof(*sum));
  cudaMemset(sum, 0, sizeof(*sum));
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  const auto fetch = [&] { cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost); };
  cudaMemset(out, 0, sizeof(host));

  ActiveLanes<<<1, 32>>>(out);
  fetch();
  CHECK_IS(host[7], 16000 + 30 + 5);
  CHECK_IS(host[26], 0x55);
  CHECK_IS(host[4], -1);

  TowardZero<<<1, 1>>>(out);
  fetch();
  CHECK_IS(host[0], 0x3f7fffff);
  CHECK_IS(host[1], static_cast<int>(0xbf7fffff));
  CHECK_IS(host[2], 0x3f800000);
  CHECK_IS(host[3], 0x3fc00002);
  CHECK_IS(host[4], 1);

  Partitions<<<1, 32>>>(out);
  fetch();
  CHECK_IS(host[3], 11);
  CHECK_IS(host[4], 21);
  CHECK_IS(host[32 + 23], 4 * 100 + 46);

  TilesOfWarps<64><<<1, 256>>>(out);
  fetch();
  CHECK_IS(host[2], 64 * 128 + 64 * 63 / 2 + (129 ^ 63));
  TilesOfWarps<128><<<1, 256>>>(out);
  fetch();
  CHECK_IS(host[1], 128 * 128 + 128 * 127 / 2 + (129 ^ 127));

  float4* wide;
  cudaMalloc(&wide, sizeof(*wide));
  cudaMemset(wide, 0, sizeof(*wide));
  AtomicWidths<<<1, 64>>>(out, wide);
  fetch();
  CHECK_IS(host[0], 3 * 64);
  CHECK_IS(host[1], 64);
  CHECK_IS(host[2], 64 + (4 + 20) * 64);
  CHECK_IS(host[3], 6);
  CHECK_IS(host[4], 6);
  float4 kept;
  cudaMemcpy(&kept, wide, sizeof(kept), cudaMemcpyDeviceToHost);
  CHECK_IS(kept.z, (3 + 10) * 64.0f);

  InlinePtx<<<1, 32>>>(out);
  fetch();
  CHECK_IS(host[7], 7);
  CHECK_IS(host[8], 108);
  CHECK_IS(OnTheHost(), 42);

  SixteenBits<<<1, 32>>>(out, sum);
  fetch();
  CHECK_IS(host[9], 1050);
  __nv_bfloat162 added;
  cudaMemcpy(&added, sum, sizeof(added), cudaMemcpyDeviceToHost);
  CHECK_IS(__high2float(added), 32.0f);

  Pipeline<<<1, 32>>>(out, in);
  fetch();
  CHECK_IS(host[3], 28 + 60);

  VolatileFlag<<<2, 1>>>(out);
  fetch();
  CHECK_IS(host[1], 7);

  cudaStreamAttrValue hint = {};
  hint.accessPolicyWindow.base_ptr = out;
  hint.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  CHECK_IS(cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &hint),
           cudaSuccess);

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  cudaLaunchAttribute attributes[2];
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = 2;
  attributes[1].val.clusterDim.y = 1;
  attributes[1].val.clusterDim.z = 1;
  config.attrs = attributes;
  config.numAttrs = 2;
  CHECK_IS(cudaLaunchKernelEx(&config, Cluster, out, 50), cudaSuccess);
  fetch();
  CHECK_IS(host[0], 101);
  CHECK_IS(host[3], 105);
  CHECK_IS(host[8 + 1], 6400 + 32);
  CHECK_IS(host[16 + 2], 20);
  int base = 60;
  void* values[] = {&out, &base};
  CHECK_IS(cudaLaunchKernelExC(&config, Cluster, values), cudaSuccess);
  fetch();
  CHECK_IS(host[0], 121);
  CHECK_IS(host[16 + 2], 20);
  CHECK_IS(cudaLaunchKernelExC(&config, FixedCluster<2>, values), cudaSuccess);
  // Another cluster than the kernel's.
  CHECK_IS(cudaLaunchKernelExC(&config, FixedCluster<4>, values), cudaErrorInvalidConfiguration);
  CHECK_IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
  FixedCluster<4><<<4, 32>>>(out, 70);
  fetch();
  CHECK_IS(host[3], 73 + 70);
  CHECK_IS(host[8 + 3], 12800 + 96);
  CHECK_IS(host[16 + 3], 43);
  FixedPair<<<4, 32>>>(out, 80);
  fetch();
  CHECK_IS(host[3], 83 + 82);
  CHECK_IS(host[16 + 3], 21);
  FixedPair<<<3, 32>>>(out, 80);  // The grid has no whole number of clusters.
  CHECK_IS(cudaGetLastError(), cudaErrorInvalidConfiguration);

  attributes[1].val.clusterDim.x = 3;  // No divisor of the grid.
  CHECK_IS(cudaLaunchKernelEx(&config, Cluster, out, 50), cudaErrorInvalidConfiguration);

  const cudaError_t error = cudaGetLastError() == cudaErrorInvalidConfiguration
                                ? cudaDeviceSynchronize()
                                : cudaErrorUnknown;
  CHECK_IS(error, cudaSuccess);
  return failures == 0 ? 0 : 1;
}

// Thread block clusters (compute capability 9.0): blocks that run at the same time on neighbouring
// multiprocessors, and read each other's shared memory. Launched by LaunchClusters().
//
// The host executor and older GPUs have none: there a kernel may call these functions only in a
// branch that a cluster of one block does not take.

#ifndef STRIDEWISE_MATMUL_DEVICE_CLUSTER_H_
#define STRIDEWISE_MATMUL_DEVICE_CLUSTER_H_

#include <cuda_runtime.h>

#include <cstdint>

namespace stridewise {

// The most blocks of a cluster on an H200.
inline constexpr int kMaxClusterBlocks = 16;

// Waits for all threads of the cluster. What they wrote to shared memory before can be read after.
__device__ inline void SyncCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#endif
}

// Returns the value at `shared`, an address in this block's shared memory, in block `rank` of the
// cluster.
__device__ inline float LoadFromBlock([[maybe_unused]] const float* shared,
                                      [[maybe_unused]] int rank) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  uint32_t address;
  float value;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
#else
  return 0;
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_CLUSTER_H_

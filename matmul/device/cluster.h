// Thread block clusters (compute capability 9.0): blocks that run at the same time on neighbouring
// multiprocessors, and read each other's shared memory. Launched by LaunchClusters().
//
// Older GPUs have none: there a kernel may call these functions only in a branch that a cluster of
// one block does not take.

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

// The two halves of SyncCluster(). What the threads wrote before the first can be read after the
// second only where kRelease, which waits until earlier stores have been performed. A block that
// ends counts as one that has arrived.
template <bool kRelease>
__device__ inline void ArriveAtCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (kRelease) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  } else {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }
#endif
}
__device__ inline void WaitForCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Waits for all threads of the cluster, and not for their stores: for the end of a kernel, where a
// block's shared memory must stay until others have read it.
__device__ inline void MeetCluster() {
  ArriveAtCluster</*kRelease=*/false>();
  WaitForCluster();
}

// Returns the address, in the shared memory of the whole cluster, of what lies at `shared` in the
// shared memory of block `rank`.
__device__ inline uint32_t AddressInBlock([[maybe_unused]] const float* shared,
                                          [[maybe_unused]] int rank) {
  uint32_t address = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))), "r"(rank));
#endif
  return address;
}

// Loads from an address of AddressInBlock(), where the other block's threads wrote before
// SyncCluster().
__device__ inline float LoadFromBlock(const float* shared, int rank) {
  float value = 0;
  [[maybe_unused]] const uint32_t address = AddressInBlock(shared, rank);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
#endif
  return value;
}

// As LoadFromBlock(), four neighbours from a multiple of 16 bytes.
__device__ inline void LoadFourFromBlock(const float* shared, int rank, float* to) {
  [[maybe_unused]] const uint32_t address = AddressInBlock(shared, rank);
  to[0] = to[1] = to[2] = to[3] = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address)
               : "memory");
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_CLUSTER_H_

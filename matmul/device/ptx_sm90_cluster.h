// Copies by the TMA that arrive in all blocks of a cluster (cluster.h), and stores of boxes. PTX
// ISA: "mapa", "cp.async.bulk.tensor".

#ifndef STRIDEWISE_MATMUL_DEVICE_PTX_SM90_CLUSTER_H_
#define STRIDEWISE_MATMUL_DEVICE_PTX_SM90_CLUSTER_H_

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/ptx_sm90.h"

namespace stridewise {

// Returns the block's number in its cluster.
__device__ inline uint32_t ClusterRank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Arrives at the barrier of block `rank` of the cluster that has the same address as `barrier`
// here. The form with .release.cluster costs 28 % of a product's time; the reads before it are
// those of wgmma, which have ended.
__device__ inline void ArriveAt(Mbarrier& barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}\n" ::"r"(SharedAddress(&barrier)),
      "r"(rank)
      : "memory");
}

// Starts the copy of the box of `map` at (x, y, z) to the same address of each block of the cluster
// that has a bit in `blocks`, where it counts for the barrier at the same address as `barrier`.
__device__ inline void CopyBoxTo(uint16_t blocks, const CUtensorMap& map, int x, int y, int z,
                                 uint32_t to, Mbarrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(SharedAddress(&barrier)), "h"(blocks)
      : "memory");
}

// Starts the copy of neighbouring bytes, a multiple of 16, which count for `barrier`.
__device__ inline void CopyBytes(const void* from, uint32_t bytes, uint32_t to, Mbarrier& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(SharedAddress(&barrier))
      : "memory");
}
// Orders what the thread has seen in memory before copies that it starts from there.
__device__ inline void FenceForTmaOfAll() { asm volatile("fence.proxy.async;" ::: "memory"); }

// Fetches the map itself, which the first copy would otherwise wait for.
__device__ inline void PrefetchMap(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Starts the store of a box from shared memory; elements outside the matrix are not written. Before
// it, all threads that wrote the box call FenceForTma() and meet at a barrier.
__device__ inline void StoreBox(const CUtensorMap& map, int x, int y, int z, uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          &map),
      "r"(x), "r"(y), "r"(z), "r"(from)
      : "memory");
}
__device__ inline void FenceForTma() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// Ends a group of the calling thread's stores.
__device__ inline void CommitStores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until shared memory of all but the thread's last kPending groups has been read.
template <int kPending>
__device__ inline void WaitUntilStoresHaveRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
// Waits until all of the thread's groups are written.
__device__ inline void WaitForStores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// Stores four 8x8 matrices of 16-bit elements to shared memory: of matrix i lane t has in of[i] the
// elements t % 4 * 2 and the next of row t / 4, and lane 8 * i + j the address of the 16 bytes of
// row j or, where kTurned, column j.
template <bool kTurned>
__device__ inline void StoreMatrices(uint32_t to, const uint32_t (&of)[4]) {
  if constexpr (kTurned) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                 "r"(of[0]), "r"(of[1]), "r"(of[2]), "r"(of[3])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                 "r"(of[0]), "r"(of[1]), "r"(of[2]), "r"(of[3])
                 : "memory");
  }
}

// Waits for the 128 threads of a warpgroup, at one of the hardware's barriers 1 to 15.
__device__ inline void SyncWarpgroup(int barrier) {
  asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory");
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_PTX_SM90_CLUSTER_H_

// What the kernels of cluster_kernels.cu and multicast_kernels.cu write in PTX.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CLUSTER_PTX_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CLUSTER_PTX_H_

#include <cuda_runtime.h>

#include <cstdint>

namespace stridewise::executor {

#define CLUSTER_ARRIVE() asm volatile("barrier.cluster.arrive.aligned;" ::: "memory")
#define CLUSTER_ARRIVE_RELAXED() asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory")
#define CLUSTER_WAIT() asm volatile("barrier.cluster.wait.aligned;" ::: "memory")
#define CLUSTER_SYNC() \
  CLUSTER_ARRIVE();    \
  CLUSTER_WAIT()

#define LOAD_FROM(address, value) \
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory")
#define STORE_TO(address, value) \
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory")
// Stores, and adds, that count for a barrier of the block that they go to.
#define SEND_TO(address, value, barrier)                                                          \
  asm volatile(                                                                                   \
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(address), \
      "r"(value), "r"(barrier)                                                                    \
      : "memory")
#define ADD_AT(address, value, barrier)                                                 \
  asm volatile(                                                                         \
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 " \
      "[%0], %1, [%2];" ::"r"(address),                                                 \
      "r"(value), "r"(barrier)                                                          \
      : "memory")
#define EXPECT_BYTES(barrier, bytes)                                           \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"( \
                   static_cast<unsigned>(__cvta_generic_to_shared(&barrier))), \
               "r"(bytes)                                                      \
               : "memory")
#define ARRIVE_AT(address)                                                                   \
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address) \
               : "memory")
#define INIT_OF_CLUSTER(barrier, count)                                                     \
  asm volatile(                                                                             \
      "mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"( \
          static_cast<unsigned>(__cvta_generic_to_shared(&barrier))),                       \
      "r"(count))
#define WAIT_AT(address, parity)                                                            \
  asm volatile(                                                                             \
      "{.reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done" \
      " bra again;}" ::"r"(address),                                                        \
      "r"(parity)                                                                           \
      : "memory")

__device__ inline unsigned OwnAddress(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ inline unsigned ClusterAddress(const void* shared, unsigned rank) {
  unsigned address = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(OwnAddress(shared)), "r"(rank));
  return address;
}
__device__ inline unsigned OwnRank() {
  unsigned rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CLUSTER_PTX_H_

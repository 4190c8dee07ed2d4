// What kernels of compute capability 9.0 are written with: operands, barriers, bulk copies and
// wgmma as macros and small functions. Included by .cu files of this folder only.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_HOPPER_OPERATIONS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_HOPPER_OPERATIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {

inline constexpr int kWarpgroup = 128;
inline constexpr int kElements = 64;
inline constexpr int kDepth = 32;  // Of k, and bytes of a row of A or column of B.
inline constexpr int kRows = 64;
inline constexpr int kCols = 8;

__device__ inline unsigned SharedAddress(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// Operands of integers: core matrices of 8 rows of 16 bytes, two along k.
__host__ __device__ constexpr int At(int row, int k) {
  return row / 8 * 256 + k / 16 * 128 + row % 8 * 16 + k % 16;
}
__device__ inline uint64_t Descriptor(const void* tile) {
  return uint64_t{256 >> 4} << 32 | uint64_t{128 >> 4} << 16 | SharedAddress(tile) >> 4;
}
__host__ __device__ constexpr int ElementOfA(int row, int k) { return (row * 3 + k * 5) % 11 - 5; }
__host__ __device__ constexpr int ElementOfB(int col, int k, int step) {
  return (col * 7 + k * 2 + step) % 9 - 4;
}

#define WGMMA_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT() asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define PROXY_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define MULTIPLY(a, b, d)                                                              \
  asm volatile(                                                                        \
      "{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32." \
      "s8.s8 {%0, %1, %2, %3}, %4, %5, p;}"                                            \
      : "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])                         \
      : "l"(Descriptor(a)), "l"(Descriptor(b)))
#define INIT_UNFENCED(barrier, count) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress(&barrier)), "r"(count))
#define INIT(barrier, count)                                                                \
  asm volatile(                                                                             \
      "mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"( \
          SharedAddress(&barrier)),                                                         \
      "r"(count))
#define ARRIVE(barrier)                                                                  \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SharedAddress(&barrier)) \
               : "memor"                                                                 \
                 "y")
#define WAIT(barrier, parity)                                                               \
  asm volatile(                                                                             \
      "{.reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done" \
      " bra again;}" ::"r"(SharedAddress(&barrier)),                                        \
      "r"(parity)                                                                           \
      : "memory")

#define EXPECT(barrier, bytes)                                                                 \
  asm volatile(                                                                                \
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(&barrier)), \
      "r"(bytes)                                                                               \
      : "memory")
#define BULK_LOAD(to, from, bytes, barrier)                                                \
  asm volatile(                                                                            \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, " \
      "[%3];" ::"r"(SharedAddress(to)),                                                    \
      "l"(from), "r"(bytes), "r"(SharedAddress(&barrier))                                  \
      : "memory")
#define BULK_STORE(to, from, bytes)                                                     \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), \
               "r"(SharedAddress(from)), "r"(bytes)                                     \
               : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

__device__ inline void StoreA(int8_t* a) {
  for (int i = threadIdx.x; i < kRows * kDepth; i += kWarpgroup) {
    a[At(i / kDepth, i % kDepth)] = static_cast<int8_t>(ElementOfA(i / kDepth, i % kDepth));
  }
}
// As threads 0 to 127 of whoever calls it.
__device__ inline void StoreB(int8_t* b, int step) {
  for (int i = threadIdx.x % kWarpgroup; i < kCols * kDepth; i += kWarpgroup) {
    b[At(i / kDepth, i % kDepth)] = static_cast<int8_t>(ElementOfB(i / kDepth, i % kDepth, step));
  }
}

// Launches one block.
template <typename Args, typename... Params>
absl::Status RunBlock(void (*kernel)(Params...), const Args& args, int64_t threads) {
  return Launch(kernel, Grid{1}, Block{threads}, 0, args.stream, args.out, args.in);
}

// An element of a list of kernels: its name, its kernel and so on.
#define HOPPER_KERNEL(Kernel, want)                                                          \
  {                                                                                          \
#Kernel, false,                                                                          \
        [](const CorrectArgs& args) { return RunBlock(Kernel, args, 2 * kWarpgroup); }, want \
  }
#define HOPPER_BUG(Kernel, check, threads)                                                     \
  {                                                                                            \
#Kernel, Check::check, [](const BugArgs& args) { return RunBlock(Kernel, args, threads); } \
  }

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_HOPPER_OPERATIONS_H_

// Asks the L2 cache for what an epilogue reads of C, long before it does.
//
// Where beta counts, a kernel ends with loads of C that nothing hides: a store waits for its load,
// and the loads behind it, which no compiler moves before a store, wait for both. From memory each
// of these waits takes about 0.7 us, from the L2 cache a third of that. C's addresses are known when
// a tile begins, so its rows are asked for then, and arrive while the product is computed.

#ifndef STRIDEWISE_MATMUL_DEVICE_PREFETCH_C_H_
#define STRIDEWISE_MATMUL_DEVICE_PREFETCH_C_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/matrix.h"

namespace stridewise {

// Asks for the sector of an element.
template <typename T>
__device__ inline void PrefetchElement([[maybe_unused]] const T* element) {
#if defined(__CUDA_ARCH__) && !defined(STRIDEWISE_HOST_EXECUTOR)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(element));
#endif
}

// Asks for `count` > 0 neighbours. One instruction, which only compute capability 9.0 has.
template <typename T>
__device__ inline void PrefetchRow([[maybe_unused]] const T* first, [[maybe_unused]] int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(STRIDEWISE_HOST_EXECUTOR)
  // Whole units of 16 bytes: memory that has a part of one has all of it.
  constexpr uintptr_t kUnit = 16;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(first) & ~(kUnit - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(first + count) + kUnit - 1) & ~(kUnit - 1);
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin),
               "r"(static_cast<uint32_t>(end - begin)));
#endif
}

// Asks for the part of C that begins at (row, col), of at most kRows by kCols elements as far as
// they lie in C. `thread` is one of kThreads that call it.
template <int kRows, int kCols, int kThreads, typename T>
__device__ inline void PrefetchPart(const Matrix<T>& c, int64_t row, int64_t col, int thread) {
#pragma unroll
  for (int first = 0; first < kRows; first += kThreads) {
    const int64_t of_thread = row + first + thread;
    if (first + thread < kRows && of_thread < c.rows && col < c.cols) {
      PrefetchRow(c.data + of_thread * c.ld + col,
                  static_cast<int>(min(c.cols - col, int64_t{kCols})));
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_PREFETCH_C_H_

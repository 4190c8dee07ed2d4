// From a number of rows to the code that is compiled for it.

#ifndef STRIDEWISE_MATMUL_CPU_WITH_COUNT_H_
#define STRIDEWISE_MATMUL_CPU_WITH_COUNT_H_

#include <cstdint>
#include <type_traits>

#include "hwy/base.h"

namespace stridewise {

// Calls fn(std::integral_constant<int, count>()) and returns what it returns, which has one type.
// The most is asked for first: all groups but the last have it. Inlined, so that `fn` may be of any
// instruction set. REQUIRES: 0 < count <= kMost.
template <int kMost, typename Fn>
HWY_INLINE auto WithCount(int64_t count, const Fn& fn) {
  if constexpr (kMost > 1) {
    if (count < kMost) return WithCount<kMost - 1>(count, fn);
  }
  return fn(std::integral_constant<int, kMost>());
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_WITH_COUNT_H_

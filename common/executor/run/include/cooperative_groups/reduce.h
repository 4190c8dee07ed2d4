// Reductions over a tile of a warp.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_REDUCE_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_REDUCE_H_

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define SIMT_OPERATION(name, result)                         \
  template <typename T = void>                               \
  struct name {                                              \
    template <typename U>                                    \
    SIMT_INLINE U operator()(const U& a, const U& b) const { \
      return result;                                         \
    }                                                        \
  };
SIMT_OPERATION(plus, a + b)
SIMT_OPERATION(less, b < a ? b : a)
SIMT_OPERATION(greater, a < b ? b : a)
SIMT_OPERATION(bit_and, a& b)
SIMT_OPERATION(bit_or, a | b)
SIMT_OPERATION(bit_xor, a ^ b)
#undef SIMT_OPERATION

// Combines in the order of a butterfly, as the shuffles of most kernels do.
template <unsigned kSize, typename Parent, typename T, typename Operation>
static SIMT_INLINE T reduce(const thread_block_tile<kSize, Parent>& tile, T value,
                            const Operation& combine) {
#pragma unroll
  for (unsigned mask = kSize / 2; mask > 0; mask /= 2) {
    value = combine(value, tile.shfl_xor(value, mask));
  }
  return value;
}

}  // namespace cooperative_groups

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_REDUCE_H_

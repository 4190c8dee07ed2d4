// Reductions over tiles and over coalesced threads.

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

// Combines in the order of a butterfly, as the shuffles of most kernels do; several warps by way of
// shared memory.
template <unsigned kSize, typename Parent, typename T, typename Operation>
static SIMT_INLINE T reduce(const thread_block_tile<kSize, Parent>& tile, T value,
                            const Operation& combine) {
  if constexpr (kSize > 32) {
    static __shared__ T of_warp[32];
    const unsigned warp = thread_group::BlockRank() / 32;
    const T of_own = reduce(thread_block_tile<32>(), value, combine);
    if (thread_group::BlockRank() % 32 == 0) of_warp[warp] = of_own;
    tile.sync();
    const unsigned first = warp / (kSize / 32) * (kSize / 32);
    value = of_warp[first];
    for (unsigned i = 1; i < kSize / 32; ++i) value = combine(value, of_warp[first + i]);
    tile.sync();
  } else {
#pragma unroll
    for (unsigned mask = kSize / 2; mask > 0; mask /= 2) {
      value = combine(value, tile.shfl_xor(value, mask));
    }
  }
  return value;
}
// Of lanes in any number: one after the other, as all of them see it.
template <typename T, typename Operation>
static SIMT_INLINE T reduce(const coalesced_group& group, T value, const Operation& combine) {
  T result = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank) {
    result = combine(result, group.shfl(value, rank));
  }
  return result;
}

}  // namespace cooperative_groups

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_REDUCE_H_

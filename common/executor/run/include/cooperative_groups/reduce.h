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
    // As in CUDA's header: a place of 8 bytes for each warp; one warp combines what all have stored
    // and stores the result for each.
    struct alignas(8) Place {
      T value;
    };
    static __shared__ Place of_warp[32];
    constexpr unsigned kWarps = kSize / 32;
    const unsigned rank = thread_group::BlockRank();
    const T of_own = reduce(thread_block_tile<32>(), value, combine);
    if (rank % 32 == 0) of_warp[rank / 32].value = of_own;
    tile.sync();
    if (rank % kSize < kWarps) {
      T& place = of_warp[rank / kSize * kWarps + rank % kSize].value;
      place = reduce(thread_block_tile<kWarps>(), T(place), combine);
    }
    tile.sync();
    // The other warps have read the barrier meanwhile. How often depends on time; Nsight Compute
    // counts three reads of each warp on an H200, for tiles of 64, 128 and 256 threads.
    if (rank % kSize >= 32) {
      for (int read = 0; read < 3; ++read) {
        unsigned word;
        simt_asm("ld.u8 %0, [%1];" : "=r"(word) : "l"(&of_warp[rank / 32].value) : "memory");
      }
    }
    value = of_warp[rank / 32].value;
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

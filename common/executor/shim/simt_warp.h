// What the threads of a block or a warp do together: barriers, shuffles and votes.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_WARP_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_WARP_H_

#include <type_traits>

#include "simt_entry_points.h"

__attribute__((convergent)) SIMT_INLINE void __syncthreads() { simt_syncthreads(); }
SIMT_INLINE int __syncthreads_count(int predicate) { return simt_syncthreads_count(predicate); }
// Asked the other way round, so that threads which have ended do not matter.
SIMT_INLINE int __syncthreads_and(int predicate) {
  return simt_syncthreads_count(predicate == 0) == 0;
}
SIMT_INLINE int __syncthreads_or(int predicate) { return simt_syncthreads_count(predicate) != 0; }

__attribute__((convergent)) SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
  simt_syncwarp(mask);
}

enum SimtShuffleMode { kSimtFromLane, kSimtUp, kSimtDown, kSimtXor };

template <typename T>
SIMT_INLINE T SimtShuffle(unsigned mask, T value, SimtShuffleMode mode, int argument, int width) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_destructible<T>::value, "no value to shuffle");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = simt_shuffle(mask, bits, mode, argument, width);
  __builtin_memcpy(reinterpret_cast<char*>(&value), &bits, sizeof(T));
  return value;
}

template <typename T>
SIMT_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  return SimtShuffle(mask, value, kSimtFromLane, lane, width);
}
template <typename T>
SIMT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return SimtShuffle(mask, value, kSimtUp, static_cast<int>(delta), width);
}
template <typename T>
SIMT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return SimtShuffle(mask, value, kSimtDown, static_cast<int>(delta), width);
}
template <typename T>
SIMT_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  return SimtShuffle(mask, value, kSimtXor, lane_mask, width);
}

// There is no __activemask(): lanes run one after the other, so which are "active" is not defined.
SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return simt_ballot(mask, predicate);
}
SIMT_INLINE int __any_sync(unsigned mask, int predicate) {
  return simt_ballot(mask, predicate) != 0;
}
SIMT_INLINE int __all_sync(unsigned mask, int predicate) {
  return simt_ballot(mask, predicate == 0) == 0;
}

#define SIMT_REDUCE(name, T, combine)                 \
  SIMT_INLINE T name(unsigned mask, T value) {        \
    T result = value;                                 \
    bool first = true;                                \
    for (int lane = 0; lane < 32; ++lane) {           \
      if ((mask >> lane & 1) == 0) continue;          \
      const T other = __shfl_sync(mask, value, lane); \
      result = first ? other : (combine);             \
      first = false;                                  \
    }                                                 \
    return result;                                    \
  }
SIMT_REDUCE(__reduce_add_sync, unsigned, result + other)
SIMT_REDUCE(__reduce_min_sync, unsigned, result < other ? result : other)
SIMT_REDUCE(__reduce_max_sync, unsigned, result > other ? result : other)
SIMT_REDUCE(__reduce_add_sync, int, result + other)
SIMT_REDUCE(__reduce_min_sync, int, result < other ? result : other)
SIMT_REDUCE(__reduce_max_sync, int, result > other ? result : other)
SIMT_REDUCE(__reduce_and_sync, unsigned, result& other)
SIMT_REDUCE(__reduce_or_sync, unsigned, result | other)
SIMT_REDUCE(__reduce_xor_sync, unsigned, result ^ other)
#undef SIMT_REDUCE

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_WARP_H_

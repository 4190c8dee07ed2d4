// CUB's operators, and its reductions and scans of a warp, by shuffles of words as CUB makes them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_WARP_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_WARP_H_

#include <string.h>

#include "../cuda_runtime.h"

namespace cub {

struct Sum {
  template <typename T>
  SIMT_INLINE T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Max {
  template <typename T>
  SIMT_INLINE T operator()(const T& a, const T& b) const {
    return b > a ? b : a;
  }
};
struct Min {
  template <typename T>
  SIMT_INLINE T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct NullType {};

SIMT_INLINE unsigned SimtRank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
static SIMT_INLINE unsigned LaneId() { return SimtRank() % 32; }

// What `distance` lanes above have, or below for a negative one; the own value where there is none.
template <typename T>
SIMT_INLINE T SimtShuffle(unsigned mask, const T& value, int distance, int width) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  unsigned words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (int i = 0; i < kWords; ++i) {
    words[i] = distance > 0
                   ? __shfl_down_sync(mask, words[i], static_cast<unsigned>(distance), width)
                   : __shfl_up_sync(mask, words[i], static_cast<unsigned>(-distance), width);
  }
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}

template <typename T, int kThreads = 32, int kArchitecture = 0>
class WarpReduce {
 public:
  struct TempStorage {};
  SIMT_INLINE explicit WarpReduce(TempStorage&) {}

  SIMT_INLINE T Sum(T value) const { return Reduce(value, cub::Sum()); }
  SIMT_INLINE T Sum(T value, int valid) const { return Reduce(value, cub::Sum(), valid); }
  template <typename Operator>
  SIMT_INLINE T Reduce(T value, Operator combine, int valid = kThreads) const {
    const int lane = static_cast<int>(LaneId()) % kThreads;
    for (int distance = 1; distance < kThreads; distance *= 2) {
      const T other = SimtShuffle(Mask(), value, distance, kThreads);
      if (lane + distance < valid) value = combine(value, other);
    }
    return value;
  }

 private:
  static SIMT_INLINE unsigned Mask() {
    return kThreads == 32 ? 0xffffffffu
                          : ((1u << (kThreads % 32)) - 1) << (LaneId() / kThreads * kThreads);
  }
};

template <typename T, int kThreads = 32, int kArchitecture = 0>
class WarpScan {
 public:
  struct TempStorage {};
  SIMT_INLINE explicit WarpScan(TempStorage&) {}

  template <typename Operator>
  SIMT_INLINE void InclusiveScan(T value, T& to, Operator combine) const {
    const int lane = static_cast<int>(LaneId()) % kThreads;
    for (int distance = 1; distance < kThreads; distance *= 2) {
      const T other = SimtShuffle(0xffffffffu, value, -distance, kThreads);
      if (lane >= distance) value = combine(other, value);
    }
    to = value;
  }
  SIMT_INLINE void InclusiveSum(T value, T& to) const { InclusiveScan(value, to, cub::Sum()); }
  SIMT_INLINE void InclusiveSum(T value, T& to, T& aggregate) const {
    InclusiveSum(value, to);
    aggregate = __shfl_sync(0xffffffffu, to, kThreads - 1, kThreads);
  }
  template <typename Operator>
  SIMT_INLINE void ExclusiveScan(T value, T& to, T first, Operator combine) const {
    T inclusive;
    InclusiveScan(value, inclusive, combine);
    const T before = SimtShuffle(0xffffffffu, inclusive, -1, kThreads);
    to = LaneId() % kThreads == 0 ? first : combine(first, before);
  }
  SIMT_INLINE void ExclusiveSum(T value, T& to) const { ExclusiveScan(value, to, T(), cub::Sum()); }
};

}  // namespace cub

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_WARP_H_

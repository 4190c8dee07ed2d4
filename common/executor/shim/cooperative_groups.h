// Cooperative groups: the block, and tiles of a warp.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_COOPERATIVE_GROUPS_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
 public:
  static SIMT_INLINE void sync() { __syncthreads(); }
  static SIMT_INLINE unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static SIMT_INLINE unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static SIMT_INLINE unsigned num_threads() { return size(); }
  static SIMT_INLINE dim3 thread_index() { return threadIdx; }
  static SIMT_INLINE dim3 group_index() { return blockIdx; }
  static SIMT_INLINE dim3 dim_threads() { return blockDim; }
};

SIMT_INLINE thread_block this_thread_block() { return {}; }

// `kSize` neighbouring threads of a block, all of one warp.
template <unsigned kSize, typename Parent = void>
class thread_block_tile {
  static_assert(kSize >= 1 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  static SIMT_INLINE void sync() { __syncwarp(Mask()); }
  static SIMT_INLINE unsigned thread_rank() { return thread_block::thread_rank() % kSize; }
  static constexpr SIMT_INLINE unsigned size() { return kSize; }
  static constexpr SIMT_INLINE unsigned num_threads() { return kSize; }
  // Of the tiles of the block.
  static SIMT_INLINE unsigned meta_group_rank() { return thread_block::thread_rank() / kSize; }
  static SIMT_INLINE unsigned meta_group_size() {
    return (thread_block::size() + kSize - 1) / kSize;
  }

  template <typename T>
  SIMT_INLINE T shfl(T value, int rank) const {
    return __shfl_sync(Mask(), value, rank, kSize);
  }
  template <typename T>
  SIMT_INLINE T shfl_up(T value, unsigned delta) const {
    return __shfl_up_sync(Mask(), value, delta, kSize);
  }
  template <typename T>
  SIMT_INLINE T shfl_down(T value, unsigned delta) const {
    return __shfl_down_sync(Mask(), value, delta, kSize);
  }
  template <typename T>
  SIMT_INLINE T shfl_xor(T value, unsigned mask) const {
    return __shfl_xor_sync(Mask(), value, static_cast<int>(mask), kSize);
  }

  // Bit i is the predicate of the tile's thread i.
  SIMT_INLINE unsigned ballot(int predicate) const {
    return __ballot_sync(Mask(), predicate) >> FirstLane();
  }
  SIMT_INLINE int any(int predicate) const { return __any_sync(Mask(), predicate); }
  SIMT_INLINE int all(int predicate) const { return __all_sync(Mask(), predicate); }

 private:
  static SIMT_INLINE unsigned FirstLane() {
    return thread_block::thread_rank() % 32 / kSize * kSize;
  }
  static SIMT_INLINE unsigned Mask() { return 0xffffffffu >> (32 - kSize) << FirstLane(); }
};

template <unsigned kSize, typename Parent>
SIMT_INLINE thread_block_tile<kSize, Parent> tiled_partition(const Parent&) {
  return {};
}

template <typename Group>
SIMT_INLINE void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_COOPERATIVE_GROUPS_H_

// Copies of a group from global to shared memory, as CUDA's header makes them: each thread copies
// pieces of 16, 8 or 4 bytes by cp.async, or smaller ones at once.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename Group>
static SIMT_INLINE void SimtCopyPieces(const Group& group, char* to, const char* from, size_t bytes,
                                       size_t piece) {
  for (size_t i = group.thread_rank() * piece; i < bytes; i += group.size() * piece) {
    simt_cp_async(to + i, from + i, piece, 0);
  }
}

template <typename Group, typename T>
static SIMT_INLINE void memcpy_async(const Group& group, T* to, const void* from, size_t bytes) {
  const size_t all = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
  if (all % 4 == 0) {
    SimtCopyPieces(group, reinterpret_cast<char*>(to), static_cast<const char*>(from), bytes,
                   all % 16 == 0  ? 16
                   : all % 8 == 0 ? 8
                                  : 4);
  } else {
    for (size_t i = group.thread_rank(); i < bytes; i += group.size()) {
      reinterpret_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
    }
  }
  simt_cp_async_commit();
}
// In elements, of a source that may be shorter.
template <typename Group, typename T>
static SIMT_INLINE void memcpy_async(const Group& group, T* to, size_t to_count, const T* from,
                                     size_t from_count) {
  memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}

template <unsigned kStages, typename Group>
static SIMT_INLINE void wait_prior(const Group& group) {
  simt_cp_async_wait(kStages);
  group.sync();
}
template <typename Group>
static SIMT_INLINE void wait(const Group& group) {
  wait_prior<0>(group);
}

}  // namespace cooperative_groups

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_

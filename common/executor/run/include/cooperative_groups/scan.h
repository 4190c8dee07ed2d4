// inclusive_scan() and exclusive_scan() of cooperative groups: of tiles up to a warp, and of lanes.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_SCAN_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_SCAN_H_

#include "reduce.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
static SIMT_INLINE T inclusive_scan(const Group& group, T value, const Operation& combine) {
  const unsigned rank = group.thread_rank();
  for (unsigned delta = 1; delta < group.size(); delta *= 2) {
    const T before = group.shfl_up(value, delta);
    if (rank >= delta) value = combine(before, value);
  }
  return value;
}
template <typename Group, typename T>
static SIMT_INLINE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
// The first thread gets T().
template <typename Group, typename T, typename Operation>
static SIMT_INLINE T exclusive_scan(const Group& group, T value, const Operation& combine) {
  const T before = group.shfl_up(inclusive_scan(group, value, combine), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <typename Group, typename T>
static SIMT_INLINE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_SCAN_H_

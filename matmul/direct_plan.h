// How `direct` (library/direct.cu) divides C.

#ifndef STRIDEWISE_MATMUL_DIRECT_PLAN_H_
#define STRIDEWISE_MATMUL_DIRECT_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch_geometry.h"

namespace stridewise {

inline constexpr int64_t kDirectMostK = 8;
inline constexpr int64_t kDirectThreads = 128;  // Of a block.

// A block has some columns of C, each of which belongs to a thread in `rows_at_once` rows, and so
// many rows that a thread has `rows_of_thread` elements.
struct DirectPlan {
  int rows_of_thread;
  int64_t cols;
  int64_t rows_at_once;
  int64_t row_blocks;
  int64_t col_blocks;
};

inline DirectPlan PlanDirect(int64_t m, int64_t n, int64_t k) {
  DirectPlan plan;
  // Loads of a thread at once: 10, 20 or 24.
  plan.rows_of_thread = k <= 4 ? 4 : 2;
  plan.col_blocks = std::max<int64_t>(1, CeilDiv(n, kDirectThreads));
  plan.cols = std::max<int64_t>(1, CeilDiv(n, plan.col_blocks));
  plan.rows_at_once = kDirectThreads / plan.cols;
  plan.row_blocks = CeilDiv(m, plan.rows_at_once * plan.rows_of_thread);
  return plan;
}

// Returns whether `direct` takes the call. Grids have no room for more columns.
inline bool FitsDirectPlan(int64_t n, int64_t k, int64_t batch) {
  return k <= kDirectMostK && CeilDiv(n, kDirectThreads) <= kMaxGridYZ && batch <= kMaxGridYZ;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DIRECT_PLAN_H_

// How `outer` (library/outer.cu) divides C.

#ifndef STRIDEWISE_MATMUL_OUTER_PLAN_H_
#define STRIDEWISE_MATMUL_OUTER_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch_geometry.h"

namespace stridewise {

inline constexpr int kOuterMostK = 16;
inline constexpr int kOuterThreads = 128;  // Of a block.
inline constexpr int kOuterMostRows = 64;  // Of a block.

// A row of a block's part of C belongs to `lanes` neighbouring threads, each with `lane_cols`
// columns that lie `lanes` apart.
struct OuterPlan {
  int lanes;
  int lane_cols;
  int rows_of_block;  // At most kOuterMostRows.
  int64_t row_blocks;
  int64_t col_blocks;
};

// Returns blocks with rows enough that the device runs about all blocks at the same time.
inline OuterPlan PlanOuter(int64_t m, int64_t n, int64_t batch, int multiprocessors) {
  constexpr int64_t kResident = 12;  // Blocks on a multiprocessor; fewer where k is above 8.
  OuterPlan plan;
  plan.lanes = n <= 32 ? 8 : 32;
  plan.lane_cols = n <= 8 ? 1 : 4;
  const int rows_at_once = kOuterThreads / plan.lanes;
  plan.col_blocks = CeilDiv(n, int64_t{plan.lanes} * plan.lane_cols);
  const int64_t blocks = CeilDiv(m, rows_at_once) * plan.col_blocks * batch;
  const int64_t passes = std::clamp<int64_t>(CeilDiv(blocks, kResident * multiprocessors), 1,
                                             kOuterMostRows / rows_at_once);
  plan.rows_of_block = static_cast<int>(passes) * rows_at_once;
  plan.row_blocks = CeilDiv(m, plan.rows_of_block);
  return plan;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_OUTER_PLAN_H_

// How `brief_matvec` (library/brief_matvec.cu) divides a batch of matrix-vector products.

#ifndef STRIDEWISE_MATMUL_BRIEF_MATVEC_PLAN_H_
#define STRIDEWISE_MATMUL_BRIEF_MATVEC_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"

namespace stridewise {

// Of a block: where X is K-major, and where it is MN-major.
inline constexpr int kBriefRowsThreads = 256;
inline constexpr int kLogBriefColumnsThreads = 9;
inline constexpr int kBriefColumnsThreads = 1 << kLogBriefColumnsThreads;

// The results are those of C = y * X. Where X is K-major, 2^log_lanes lanes share `rows` rows of X;
// where it is MN-major, a block has 2^log_cols columns.
struct BriefMatVecPlan {
  int rows = 1;
  int log_lanes = 0;
  int log_cols = 0;
  int loads = 0;       // Of a thread from each row or column at once.
  int64_t groups = 0;  // Of rows, or columns, of one product.
  int64_t blocks = 0;  // Of the batch.
  int64_t rounds = 0;  // Of loads of a thread.
  double us = 0;       // Predicted.
};

// What a call takes if X is K-major, by the rows of X and the loads of each that a thread has at
// once: microseconds for a block of each multiprocessor and round of loads. With more forms the
// best of them would be no more than 0.4 % faster.
struct BriefRowsForm {
  int rows, loads;
  int resident;  // Blocks on a multiprocessor.
  double block_round;
};
inline constexpr BriefRowsForm kBriefRowsForms[] = {
    {1, 4, 6, 0.0439}, {2, 4, 5, 0.0741}, {4, 1, 6, 0}};
// The same if it is MN-major: loads of a thread at once.
struct BriefColumnsForm {
  int loads;
  int resident;
};
inline constexpr BriefColumnsForm kBriefColumnsForms[] = {{2, 4}, {4, 4}, {16, 3}};

// Returns whether `brief_matvec` takes products of that number of results.
inline bool FitsBriefMatVecPlan(int64_t cols, int64_t batch) {
  return cols <= INT32_MAX && batch <= INT32_MAX && cols * batch <= INT32_MAX;
}

// Returns whether neighbours of X along k lie together. A single column without gaps is a row.
inline bool BriefMatVecIsKMajor(const MatMulArgs& args) {
  const bool is_row = args.m == 1;
  const bool k_major = is_row ? args.b.transposed : !args.a.transposed;
  return k_major || (std::max(args.m, args.n) == 1 && (is_row ? args.b.ld : args.a.ld) == 1);
}

// Returns the division that is predicted to be the fastest, by constants that were fitted to 1100
// times of 112 products on an H100. `cols`: of X.
inline BriefMatVecPlan PlanBriefMatVec(int64_t cols, int64_t k, int64_t batch, bool k_major,
                                       const DeviceModel& device) {
  BriefMatVecPlan best;
  const auto consider = [&](BriefMatVecPlan plan, int resident, auto us) {
    const int64_t of_each = CeilDiv(plan.blocks, device.multiprocessors);
    plan.us = us(static_cast<double>(of_each), static_cast<double>(CeilDiv(of_each, resident)),
                 static_cast<double>(plan.rounds));
    if (best.loads == 0 || plan.us < best.us) best = plan;
  };
  if (k_major) {
    constexpr int kLeastLogLanes = 2;  // A lane for each of four rows to store.
    constexpr int kMostLogLanes = 8;
    static_assert(1 << kMostLogLanes == kBriefRowsThreads, "at most all of a block's");
    for (const BriefRowsForm& form : kBriefRowsForms) {
      BriefMatVecPlan plan;
      plan.rows = form.rows;
      plan.loads = form.loads;
      plan.groups = CeilDiv(cols, form.rows);
      for (plan.log_lanes = kLeastLogLanes; plan.log_lanes <= kMostLogLanes; ++plan.log_lanes) {
        const int64_t lanes = int64_t{1} << plan.log_lanes;
        plan.blocks = CeilDiv(plan.groups * batch, kBriefRowsThreads / lanes);
        plan.rounds = std::max<int64_t>(1, CeilDiv(k, lanes * form.loads));
        consider(plan, form.resident, [&](double of_each, double waves, double rounds) {
          constexpr int kLogWarp = 5;
          return 5.945 + 0.414 * (rounds - 1) + 0.193 * (waves - 1) * rounds +
                 of_each * (0.0673 + form.block_round * rounds) +
                 (plan.log_lanes > kLogWarp ? 0.346 : 0);  // The warps' sums.
        });
        if (lanes >= k) break;
      }
    }
    return best;
  }
  for (const BriefColumnsForm& form : kBriefColumnsForms) {
    BriefMatVecPlan plan;
    plan.loads = form.loads;
    plan.groups = cols;
    for (plan.log_cols = 0; plan.log_cols < kLogBriefColumnsThreads; ++plan.log_cols) {
      const int log_groups = kLogBriefColumnsThreads - plan.log_cols;
      plan.blocks = CeilDiv(cols * batch, int64_t{1} << plan.log_cols);
      plan.rounds = std::max<int64_t>(1, CeilDiv(k, int64_t{form.loads} << log_groups));
      consider(plan, form.resident, [&](double of_each, double waves, double rounds) {
        // Fewer than eight neighbours are a part of a sector.
        const double sectors = 8.0 / static_cast<double>(std::min(8, 1 << plan.log_cols));
        return 5.724 + waves * (0.056 + 0.206 * rounds) + 0.0297 * log_groups +
               of_each * (0.0429 + rounds * form.loads * (0.0762 + 0.0086 * (sectors - 1)));
      });
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_BRIEF_MATVEC_PLAN_H_

// What two ranks exchange in a transpose of a matrix that is spread over them: which of its indices
// they have in common, and how these lie in memory.

#ifndef STRIDEWISE_TRANSPOSE_DISTRIBUTED_PAIRS_H_
#define STRIDEWISE_TRANSPOSE_DISTRIBUTED_PAIRS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/communicator.h"
#include "transpose/transpose.h"

namespace stridewise {

// Neighbouring local indices.
struct Run {
  int64_t first = 0;
  int64_t count = 0;
};

// Some of a part's indices of one dimension, ascending.
struct Selection {
  std::vector<Run> runs;
  int64_t count = 0;  // Of all runs.
};

// Runs of one length, equally far apart. `packed` is the number of selected indices before them.
struct RunGroup {
  int64_t first = 0;
  int64_t count = 0;   // Of a run.
  int64_t stride = 0;  // From one run to the next; at least `count`.
  int64_t runs = 0;
  int64_t packed = 0;
};

// Returns the indices of a part of `mine` that a part of `theirs` owns in its layout of the same
// dimension. Goes from block to block.
Selection CommonIndices(const BlockCyclicDimension& mine, int64_t part,
                        const BlockCyclicDimension& theirs, int64_t their_part);

// Returns `count` of the selected indices from number `first` on, or those that there are.
Selection Slice(const Selection& selection, int64_t first, int64_t count);

// Returns the runs as few groups: one, and one for what is cut at each end, where blocks are equal.
std::vector<RunGroup> GroupRuns(const Selection& selection);

// Runs that two selections of the same indices have in common: where each begins in the one and in
// the other, equally far apart in each.
struct SharedRunGroup {
  int64_t first = 0;
  int64_t stride = 0;
  int64_t other_first = 0;
  int64_t other_stride = 0;
  int64_t count = 0;  // Of a run.
  int64_t runs = 0;
};

// Returns the groups of two selections of equally many indices, whose i-th ones belong together.
std::vector<SharedRunGroup> GroupSharedRuns(const Selection& selection, const Selection& other);

// What a rank and its partner exchange: elements of `in` to be sent, elements of `out` to come.
struct ExchangedPair {
  int partner = 0;
  Selection rows;
  Selection cols;
  Selection out_rows;
  Selection out_cols;
};

// Returns step `step` of 0 to size - 1: rank r meets rank (step - r) mod size, so that all pairs
// meet once and no rank waits for two.
ExchangedPair PairOfStep(const BlockCyclicLayout& in_layout, const BlockCyclicLayout& out_layout,
                         int rank, int size, int step);

// The same where the elements keep their rows and columns, and only change their layout.
ExchangedPair RedistributedPairOfStep(const BlockCyclicLayout& in_layout,
                                      const BlockCyclicLayout& out_layout, int rank, int size,
                                      int step);

// Returns InvalidArgument, naming the argument, for layouts or parts that do not fit each other or
// the communicator, or have a batch.
absl::Status CheckTransposedParts(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                  const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                                  const Communicator& communicator);
absl::Status CheckRedistributedParts(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                     const BlockCyclicLayout& out_layout,
                                     const MutableMatrixView& out,
                                     const Communicator& communicator);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISTRIBUTED_PAIRS_H_

// Merges loads from shared memory as ptxas does: of neighbouring addresses into one of 8 or 16
// bytes, where it knows that the first is aligned.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_MERGE_LOADS_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_MERGE_LOADS_H_

#include <vector>

#include "absl/types/span.h"
#include "common/executor/access_record.h"

namespace stridewise::executor {

// Returns the requests with those loads from shared memory merged that a warp issues between the
// same two barriers, from addresses that follow each other in each of its lanes. A merged load has
// at most `most_bytes`, 4, 8 or 16, in a lane, is aligned to its size, and takes the place of its
// first. The others keep their order.
std::vector<AccessRequest> MergeSharedLoads(absl::Span<const AccessRequest> requests,
                                            int most_bytes);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_MERGE_LOADS_H_

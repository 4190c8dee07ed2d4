// From what the lanes of a warp did, each on its own, to what the warp issues together.
//
// The host executor runs lanes one after the other; a GPU runs them in step, and where they part it
// runs each side up to the point where both must pass again. That point is the immediate
// post-dominator of the branch (Fung et al., Dynamic Warp Formation, 2007), found here in the
// control-flow graph that the lanes' events show. Grouping events by (site, occurrence) instead is
// wrong as soon as lanes part: iteration 2 of one lane is not iteration 2 of another.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RECONVERGENCE_H_
#define STRIDEWISE_COMMON_EXECUTOR_RECONVERGENCE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

// One instruction or basic block as the warp issues it: lane i takes part when bit i of `lanes` is
// set, with address[i].
using IssueSink =
    absl::FunctionRef<void(Site site, uint32_t lanes, const uint64_t address[kWarpLanes])>;

struct ReplaySummary {
  bool divergent = false;           // Not all lanes with events took one path.
  uint64_t divergent_branches = 0;  // Times that lanes which were together parted.
};

// Calls `sink` for everything that the warp issues, in order. At most 32 lanes; a lane without
// events takes no part. Linear in the number of events, times the number of lanes where they part.
ReplaySummary ReplayWarp(absl::Span<const LaneTrace> lanes, IssueSink sink);

// Whether all lanes that have events have the same ones, in the same order.
bool SamePath(absl::Span<const LaneTrace> lanes);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RECONVERGENCE_H_

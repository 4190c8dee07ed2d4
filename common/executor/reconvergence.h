// Merges the event traces of a warp's lanes into the instructions that the warp issues.
//
// The host executor runs lanes one after the other. A GPU runs them together, and where they
// diverge it runs each side up to the reconvergence point: the immediate post-dominator of the
// branch (Fung et al., Dynamic Warp Formation, 2007), found here in the control-flow graph of the
// lanes' events. Grouping events by (site, occurrence) instead is wrong once lanes diverge:
// iteration 2 of one lane is not iteration 2 of another.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RECONVERGENCE_H_
#define STRIDEWISE_COMMON_EXECUTOR_RECONVERGENCE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

// Receives one instruction or basic block as the warp issues it: lane i is active when bit i of
// `lanes` is set, with address[i].
using IssueSink =
    absl::FunctionRef<void(Site site, uint32_t lanes, const uint64_t address[kWarpLanes])>;

struct ReplaySummary {
  bool divergent = false;           // Whether lanes with events took different paths.
  uint64_t divergent_branches = 0;  // The number of times that lanes diverged.
};

// Calls `sink` for everything that the warp issues, in order. At most 32 lanes; a lane without
// events is never active. Linear in the number of events, and times the number of lanes where they
// diverge.
ReplaySummary ReplayWarp(absl::Span<const LaneTrace> lanes, IssueSink sink);

// Returns whether all lanes that have events have the same ones, in the same order.
bool SamePath(absl::Span<const LaneTrace> lanes);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RECONVERGENCE_H_

// Builds the control-flow graph of a warp from the paths of its lanes, and finds where they meet.

#ifndef STRIDEWISE_COMMON_EXECUTOR_CONTROL_FLOW_H_
#define STRIDEWISE_COMMON_EXECUTOR_CONTROL_FLOW_H_

#include <unordered_map>
#include <vector>

#include "absl/types/span.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

// The sites before the first and after the last event of every lane.
inline constexpr Site kTraceStart = 0;
inline constexpr Site kTraceEnd = ~Site{0};

// Lists the successors of node v in graph[v]; nodes are numbered from 0.
using Graph = std::vector<std::vector<int>>;

// Returns, for each node, its immediate dominator: the closest other node on all paths to it from
// `root`, or `root` itself for the root (Cooper, Harvey and Kennedy, A Simple, Fast Dominance
// Algorithm, 2001). REQUIRES: every node is reachable from `root`.
std::vector<int> ImmediateDominators(const Graph& graph, int root);

class ControlFlow {
 public:
  // Lanes without events add nothing to the graph.
  explicit ControlFlow(absl::Span<const LaneTrace> lanes);

  // Returns the first place (PlaceOf()) that all paths from one to the end have in common: its
  // immediate post-dominator. REQUIRES: `place` is that of a site in a trace, or kTraceStart.
  Site MeetingPoint(Site place) const;

 private:
  int NodeOf(Site place);
  void AddPath(const LaneTrace& lane);

  std::unordered_map<Site, int> node_of_;
  std::vector<Site> place_of_;
  Graph successors_;
  std::vector<int> meeting_point_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_CONTROL_FLOW_H_

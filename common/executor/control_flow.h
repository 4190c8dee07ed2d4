// The control-flow graph that the lanes of a warp show, and where paths through it meet again.

#ifndef STRIDEWISE_COMMON_EXECUTOR_CONTROL_FLOW_H_
#define STRIDEWISE_COMMON_EXECUTOR_CONTROL_FLOW_H_

#include <unordered_map>
#include <vector>

#include "absl/types/span.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

// Stand before the first and behind the last event of every lane.
inline constexpr Site kTraceStart = 0;
inline constexpr Site kTraceEnd = ~Site{0};

// Nodes are numbers from 0; graph[v] has the successors of v.
using Graph = std::vector<std::vector<int>>;

// For each node the closest other node that is on all paths to it from `root` (Cooper, Harvey and
// Kennedy, A Simple, Fast Dominance Algorithm, 2001). The root's is itself; every node has to be
// reachable from it.
std::vector<int> ImmediateDominators(const Graph& graph, int root);

class ControlFlow {
 public:
  // Lanes without events show nothing.
  explicit ControlFlow(absl::Span<const LaneTrace> lanes);

  // The first site that all paths from `site` to the end have in common, its immediate
  // post-dominator. REQUIRES: `site` is in a trace or kTraceStart.
  Site MeetingPoint(Site site) const;

 private:
  int NodeOf(Site site);
  void AddPath(const LaneTrace& lane);

  std::unordered_map<Site, int> node_of_;
  std::vector<Site> site_of_;
  Graph successors_;
  std::vector<int> meeting_point_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_CONTROL_FLOW_H_

#include "common/executor/control_flow.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stridewise::executor {
namespace {

constexpr int kNone = -1;

// Returns all nodes reachable from `root`, each after those that a depth-first search found from
// it.
std::vector<int> PostOrder(const Graph& graph, int root) {
  std::vector<int> order;
  std::vector<bool> seen(graph.size());
  std::vector<std::pair<int, size_t>> path = {{root, 0}};  // Nodes and their next successors.
  seen[root] = true;
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == graph[node].size()) {
      order.push_back(node);
      path.pop_back();
      continue;
    }
    const int successor = graph[node][next++];
    if (seen[successor]) continue;
    seen[successor] = true;
    path.emplace_back(successor, 0);
  }
  return order;
}

Graph Reversed(const Graph& graph) {
  Graph reversed(graph.size());
  for (size_t node = 0; node < graph.size(); ++node) {
    for (const int successor : graph[node]) reversed[successor].push_back(static_cast<int>(node));
  }
  return reversed;
}

}  // namespace

std::vector<int> ImmediateDominators(const Graph& graph, int root) {
  const Graph predecessors = Reversed(graph);
  const std::vector<int> order = PostOrder(graph, root);
  std::vector<int> rank(graph.size());
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int>(i);

  std::vector<int> dominator(graph.size(), kNone);
  dominator[root] = root;
  // Dominators have higher ranks: climb from both nodes, the lower one first, until they meet.
  const auto common = [&](int a, int b) {
    while (a != b) {
      if (rank[a] < rank[b]) {
        a = dominator[a];
      } else {
        b = dominator[b];
      }
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      if (*node == root) continue;
      int best = kNone;
      for (const int predecessor : predecessors[*node]) {
        if (dominator[predecessor] == kNone) continue;  // Not reached yet in the first round.
        best = best == kNone ? predecessor : common(best, predecessor);
      }
      changed |= dominator[*node] != best;
      dominator[*node] = best;
    }
  }
  return dominator;
}

ControlFlow::ControlFlow(absl::Span<const LaneTrace> lanes) {
  for (const LaneTrace& lane : lanes) {
    if (lane.count > 0) AddPath(lane);
  }
  meeting_point_ = ImmediateDominators(Reversed(successors_), NodeOf(kTraceEnd));
}

int ControlFlow::NodeOf(Site place) {
  const auto [entry, is_new] = node_of_.try_emplace(place, static_cast<int>(place_of_.size()));
  if (is_new) {
    place_of_.push_back(place);
    successors_.emplace_back();
  }
  return entry->second;
}

void ControlFlow::AddPath(const LaneTrace& lane) {
  int node = NodeOf(kTraceStart);
  for (size_t i = 0; i <= lane.count; ++i) {
    const Site place = i < lane.count ? PlaceOf(lane.events[i].site) : kTraceEnd;
    // Nearly every step repeats an earlier one, and nodes have few successors: comparing with them
    // first saves the hash.
    const std::vector<int>& known = successors_[node];
    const auto edge = std::find_if(known.begin(), known.end(),
                                   [&](int successor) { return place_of_[successor] == place; });
    if (edge != known.end()) {
      node = *edge;
      continue;
    }
    const int successor = NodeOf(place);
    successors_[node].push_back(successor);
    node = successor;
  }
}

Site ControlFlow::MeetingPoint(Site place) const {
  return place_of_[meeting_point_[node_of_.find(place)->second]];
}

}  // namespace stridewise::executor

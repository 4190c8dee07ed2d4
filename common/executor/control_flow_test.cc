#include "common/executor/control_flow.h"

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "common/executor/trace.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

// Which nodes a walk from `root` gets to without entering `removed`.
std::vector<bool> Reachable(const Graph& graph, int root, int removed) {
  std::vector<bool> reached(graph.size());
  std::vector<int> todo;
  if (root != removed) todo.push_back(root);
  while (!todo.empty()) {
    const int node = todo.back();
    todo.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    for (const int successor : graph[node]) {
      if (successor != removed) todo.push_back(successor);
    }
  }
  return reached;
}

// By definition: a dominates b when b cannot be reached without a. The immediate dominator is the
// one that all others dominate.
std::vector<int> DominatorsByDefinition(const Graph& graph, int root) {
  const int n = static_cast<int>(graph.size());
  std::vector<std::vector<bool>> without(n);
  for (int node = 0; node < n; ++node) without[node] = Reachable(graph, root, node);
  std::vector<int> immediate(n, root);
  for (int node = 0; node < n; ++node) {
    for (int a = 0; a < n; ++a) {
      if (a == node || without[a][node]) continue;
      if (!without[immediate[node]][a]) immediate[node] = a;
    }
  }
  return immediate;
}

TEST(ImmediateDominators, AreThoseOfTheDefinition) {
  std::mt19937 random(3);
  for (int repetition = 0; repetition < 500; ++repetition) {
    const int n = 1 + static_cast<int>(random() % 12);
    Graph graph(n);
    // A random tree makes all nodes reachable; further edges go anywhere.
    for (int node = 1; node < n; ++node) graph[random() % node].push_back(node);
    for (size_t edges = random() % (2 * graph.size()); edges > 0; --edges) {
      graph[random() % n].push_back(static_cast<int>(random() % n));
    }
    EXPECT_EQ(ImmediateDominators(graph, 0), DominatorsByDefinition(graph, 0)) << repetition;
  }
}

// One letter a site.
Site SiteOf(char letter) {
  if (letter == '^') return kTraceStart;
  if (letter == '$') return kTraceEnd;
  return MakeSite(letter, EventKind::kBasicBlock, 0);
}

TEST(ControlFlow, FindsWhereLanesMeet) {
  const struct {
    const char* name;
    std::vector<std::string> lanes;
    std::string sites;
    std::string meeting_points;
  } cases[] = {
      {"straight", {"AB", "AB"}, "^AB", "AB$"},
      {"if", {"ABC", "AC"}, "^ABC", "ACC$"},
      {"if and else", {"ABD", "ACD"}, "^ABCD", "ADDD$"},
      {"loop", {"HBHBHX", "HX"}, "^HBX", "HXH$"},
      {"loop that tests at its end", {"BBBX", "BX"}, "^BX", "BX$"},
      {"if in a loop", {"HABHAHX", "HX"}, "^HABX", "HXHH$"},
      {"different starts", {"ACD", "BCD", "CD"}, "^ABC", "CCCD"},
      {"early exit", {"A", "ABC"}, "^ABC", "A$C$"},
      {"different ends", {"AB", "AC"}, "^ABC", "A$$$"},
      {"a lane without events", {"", "AB"}, "^AB", "AB$"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::vector<Event>> events;
    for (const std::string& lane : c.lanes) {
      events.emplace_back();
      for (const char letter : lane) events.back().push_back({SiteOf(letter), 0});
    }
    std::vector<LaneTrace> traces;
    for (const auto& lane : events) traces.push_back({lane.data(), lane.size()});
    const ControlFlow flow(traces);
    for (size_t i = 0; i < c.sites.size(); ++i) {
      EXPECT_EQ(flow.MeetingPoint(SiteOf(c.sites[i])), SiteOf(c.meeting_points[i])) << c.sites[i];
    }
  }
}

}  // namespace
}  // namespace stridewise::executor

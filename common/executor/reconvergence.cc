#include "common/executor/reconvergence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/executor/control_flow.h"

namespace stridewise::executor {
namespace {

// The number of events to compare between lanes before issuing them: large enough to spread the
// cost of switching lanes, small enough for the events to remain in the first-level cache.
constexpr size_t kStretch = 16;

int LowestLane(uint32_t lanes) { return __builtin_ctz(lanes); }

// The replay of one warp's traces. A set of lanes is a mask with bit i for lane i.
class Replay {
 public:
  Replay(absl::Span<const LaneTrace> lanes, IssueSink sink) : traces_(lanes), sink_(sink) {
    for (size_t i = 0; i < lanes.size(); ++i) {
      next_[i] = lanes[i].events;
      left_[i] = lanes[i].count;
    }
  }

  uint64_t Run() {
    uint32_t lanes = 0;
    for (size_t i = 0; i < traces_.size(); ++i) {
      if (left_[i] > 0) lanes |= uint32_t{1} << i;
    }
    if (lanes != 0) RunTogether(lanes, kTraceEnd);
    return divergent_branches_;
  }

 private:
  // Runs lanes that have converged up to the next `until` of each. That place is on all paths from
  // here to the end of the trace, so that no lane can miss it.
  void RunTogether(uint32_t lanes, Site until) {
    Site last = kTraceStart;
    for (;;) {
      const size_t agreed = Agreed(lanes, until);
      if (agreed > 0) last = Issue(lanes, agreed);
      if (!SameNext(lanes)) RunApart(lanes, PartAfter(last));
      if (Next(LowestLane(lanes)) == until) return;
    }
  }

  // Runs lanes that have diverged, group by group, until all have reached `until`.
  void RunApart(uint32_t lanes, Site until) {
    while (lanes != 0) {
      const Site next = Next(LowestLane(lanes));
      uint32_t group = 0;
      for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const int lane = LowestLane(rest);
        if (Next(lane) == next) group |= uint32_t{1} << lane;
      }
      lanes &= ~group;
      RunTogether(group, until);  // Returns at once if the group is there already.
    }
  }

  // Returns the number of events, up to kStretch, that the lanes have in common before they diverge
  // or reach `until`.
  size_t Agreed(uint32_t lanes, Site until) const {
    const int leader = LowestLane(lanes);
    const Event* const first = next_[leader];
    size_t agreed = std::min(kStretch, left_[leader]);
    for (size_t i = 0; i < agreed; ++i) {
      if (PlaceOf(first[i].site) == until) agreed = i;
    }
    for (uint32_t rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1) {
      const int lane = LowestLane(rest);
      const Event* const other = next_[lane];
      agreed = std::min(agreed, left_[lane]);
      if (agreed == kStretch) {  // Of a fixed length, and hardly ever different: without branches.
        Site difference = 0;
        for (size_t i = 0; i < kStretch; ++i) difference |= other[i].site ^ first[i].site;
        if (difference == 0) continue;
      }
      for (size_t i = 0; i < agreed; ++i) {
        if (PlaceOf(other[i].site) != PlaceOf(first[i].site)) agreed = i;
      }
    }
    return agreed;
  }

  // Issues the next `count` events, whose places the lanes have in common, and returns the last
  // one's place. An access to shared memory for some lanes and to global memory for others is two.
  Site Issue(uint32_t lanes, size_t count) {
    const Event* const first = next_[LowestLane(lanes)];
    for (size_t i = 0; i < count; ++i) {
      const Site site = first[i].site;
      uint32_t same = lanes;
      if (SiteKind(site) != EventKind::kBasicBlock) {
        for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
          const int lane = LowestLane(rest);
          address_[lane] = next_[lane][i].address;
          if (next_[lane][i].site != site) same &= ~(uint32_t{1} << lane);
        }
      }
      sink_(site, same, address_);
      if (same != lanes) sink_(next_[LowestLane(lanes & ~same)][i].site, lanes & ~same, address_);
    }
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int lane = LowestLane(rest);
      next_[lane] += count;
      left_[lane] -= count;
    }
    return PlaceOf(first[count - 1].site);
  }

  // Counts a divergence after the place, and returns where the lanes reconverge.
  Site PartAfter(Site place) {
    ++divergent_branches_;
    // Warps whose lanes never diverge, which are most, need no graph.
    if (!control_flow_) control_flow_.emplace(traces_);
    return control_flow_->MeetingPoint(place);
  }

  // Returns the place of the lane's next event.
  Site Next(int lane) const { return left_[lane] == 0 ? kTraceEnd : PlaceOf(next_[lane]->site); }

  bool SameNext(uint32_t lanes) const {
    const Site next = Next(LowestLane(lanes));
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      if (Next(LowestLane(rest)) != next) return false;
    }
    return true;
  }

  const absl::Span<const LaneTrace> traces_;
  const IssueSink sink_;
  const Event* next_[kWarpLanes] = {};  // The next event of each lane.
  size_t left_[kWarpLanes] = {};        // The number of events that each lane has left.
  uint64_t address_[kWarpLanes] = {};
  std::optional<ControlFlow> control_flow_;
  uint64_t divergent_branches_ = 0;
};

}  // namespace

ReplaySummary ReplayWarp(absl::Span<const LaneTrace> lanes, IssueSink sink) {
  ReplaySummary summary;
  summary.divergent_branches = Replay(lanes, sink).Run();
  summary.divergent = summary.divergent_branches > 0;
  return summary;
}

bool SamePath(absl::Span<const LaneTrace> lanes) {
  const LaneTrace* first = nullptr;
  for (const LaneTrace& lane : lanes) {
    if (lane.count == 0) continue;
    if (first == nullptr) first = &lane;
    if (!std::equal(first->events, first->events + first->count, lane.events,
                    lane.events + lane.count,
                    [](const Event& a, const Event& b) { return a.site == b.site; })) {
      return false;
    }
  }
  return true;
}

}  // namespace stridewise::executor

// From the events of lanes to those of warps: what a worker counts and records.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/executor/reconvergence.h"
#include "common/executor/worker.h"

namespace stridewise::executor {

namespace {

constexpr size_t kMaxEvents = size_t{1} << 24;

}  // namespace

// Replays the events since the last replay as the GPU would have issued them.
void Worker::Replay(Warp* warp) {
  const uint32_t active = warp->trace.Active();
  if (active == 0) return;
  if (warp->trace.Together()) {
    ReplayTogether(*warp, active);
  } else {
    const absl::Span<const LaneTrace> traces = warp->trace.Traces();
    const ReplaySummary summary = ReplayWarp(
        traces, [this, warp](Site site, uint32_t lanes, const uint64_t address[kWarpLanes]) {
          profile_.Count(site, lanes, address);
          if (blocks_[warp->rank].recorded) Record(*warp, site, lanes, address);
        });
    for (const LaneTrace& trace : traces) profile_.events += trace.count;
    profile_.divergent_branches += summary.divergent_branches;
    warp->divergent |= summary.divergent;
  }
  warp->trace.Clear();
  if (context_->cooperative) warp->trace.FreeMuchRoom();
}

// Replays a warp whose active lanes all have the same path: what ReplayWarp() finds there, sooner.
void Worker::ReplayTogether(const Warp& warp, uint32_t lanes) {
  const absl::Span<const Site> path = warp.trace.path();
  const uint64_t* from[kWarpLanes] = {};
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    from[__builtin_ctz(rest)] = warp.trace.addresses(__builtin_ctz(rest));
  }
  uint64_t address[kWarpLanes] = {};
  uint64_t blocks = 0;
  size_t accesses = 0;
  for (const Site site : path) {
    if (SiteKind(site) == EventKind::kBasicBlock) {
      ++blocks;
      continue;
    }
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      address[__builtin_ctz(rest)] = from[__builtin_ctz(rest)][accesses];
    }
    ++accesses;
    profile_.Count(site, lanes, address);
    if (blocks_[warp.rank].recorded) Record(warp, site, lanes, address);
  }
  const uint64_t active = __builtin_popcount(lanes);
  profile_.issued_blocks += blocks;
  profile_.issued_block_lanes += blocks * active;
  profile_.events += path.size() * active;
}

void Worker::Record(const Warp& warp, Site site, uint32_t lanes,
                    const uint64_t address[kWarpLanes]) {
  if (SiteKind(site) == EventKind::kBasicBlock || lanes == 0) return;
  if (accesses_.requests.size() >= context_->options->max_recorded_requests) {
    ++accesses_.left_out;
    return;
  }
  AccessRequest request;
  request.site = site;
  const RunningBlock& block = blocks_[warp.rank];
  const SimtIndex& grid = context_->grid;
  request.block = (uint64_t{block.index.z} * grid.y + block.index.y) * grid.x + block.index.x;
  request.warp = warp.first % block_lanes_ / kWarpLanes;
  request.barriers = block.barriers_passed;
  request.lanes = lanes;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) request.offset[lane] = static_cast<int64_t>(address[lane]);
  }
  accesses_.requests.push_back(request);
}

}  // namespace stridewise::executor

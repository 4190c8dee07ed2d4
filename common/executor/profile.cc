#include "common/executor/profile.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "common/executor/coalescer.h"

namespace stridewise::executor {
namespace {

double Ratio(uint64_t numerator, uint64_t denominator) {
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

}  // namespace

void MemoryCounters::Add(const MemoryCounters& other) {
  requests += other.requests;
  lanes += other.lanes;
  requested_bytes += other.requested_bytes;
  distinct_bytes += other.distinct_bytes;
  sectors += other.sectors;
  lines += other.lines;
  ideal_sectors += other.ideal_sectors;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  max_wavefronts = std::max(max_wavefronts, other.max_wavefronts);
}

bool MemoryCounters::operator==(const MemoryCounters& other) const {
  const auto fields = [](const MemoryCounters& c) {
    return std::tie(c.requests, c.lanes, c.requested_bytes, c.distinct_bytes, c.sectors, c.lines,
                    c.ideal_sectors, c.wavefronts, c.ideal_wavefronts, c.max_wavefronts);
  };
  return fields(*this) == fields(other);
}

double MemoryCounters::SectorEfficiency() const {
  return sectors == 0 ? 1 : Ratio(distinct_bytes, sectors * kSectorBytes);
}

double MemoryCounters::SectorsPerRequest() const {
  return requests == 0 ? 0 : Ratio(sectors, requests);
}

double MemoryCounters::WavefrontsPerRequest() const {
  return requests == 0 ? 0 : Ratio(wavefronts, requests);
}

void Profile::Count(Site site, uint32_t lanes, const uint64_t address[kWarpLanes]) {
  if (lanes == 0) return;
  const EventKind kind = SiteKind(site);
  const uint64_t active = __builtin_popcount(lanes);
  if (kind == EventKind::kBasicBlock) {
    ++issued_blocks;
    issued_block_lanes += active;
    return;
  }

  const int bytes = SiteBytes(site);
  MemoryCounters& counters = sites[site];
  ++counters.requests;
  counters.lanes += active;
  counters.requested_bytes += active * bytes;
  if (IsShared(kind)) {
    const bool store = kind != EventKind::kSharedLoad;
    const SharedCost cost = CoalesceShared(address, lanes, bytes, store);
    counters.distinct_bytes += cost.distinct_bytes;
    counters.wavefronts += cost.wavefronts;
    counters.ideal_wavefronts += cost.ideal_wavefronts;
    counters.max_wavefronts = std::max(counters.max_wavefronts, cost.wavefronts);
  } else {
    const GlobalCost cost = CoalesceGlobal(address, lanes, bytes);
    counters.distinct_bytes += cost.distinct_bytes;
    counters.sectors += cost.sectors;
    counters.lines += cost.lines;
    counters.ideal_sectors += cost.ideal_sectors;
  }
}

MemoryCounters Profile::Total(EventKind kind) const {
  MemoryCounters total;
  for (const auto& [site, counters] : sites) {
    if (SiteKind(site) == kind) total.Add(counters);
  }
  return total;
}

void Profile::Add(const Profile& other) {
  for (const auto& [site, counters] : other.sites) sites[site].Add(counters);
  warps += other.warps;
  divergent_warps += other.divergent_warps;
  divergent_branches += other.divergent_branches;
  barriers += other.barriers;
  events += other.events;
  issued_blocks += other.issued_blocks;
  issued_block_lanes += other.issued_block_lanes;
}

bool Profile::operator==(const Profile& other) const {
  const auto fields = [](const Profile& p) {
    return std::tie(p.sites, p.warps, p.divergent_warps, p.divergent_branches, p.barriers, p.events,
                    p.issued_blocks, p.issued_block_lanes);
  };
  return fields(*this) == fields(other);
}

}  // namespace stridewise::executor

#include "common/executor/predict/replay.h"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "common/executor/coalescer.h"
#include "common/executor/predict/cache.h"
#include "common/executor/predict/store_combiner.h"

namespace stridewise::executor {
namespace {

constexpr double kRegisterBytes = 128;  // That a multiprocessor loads to registers in a cycle.

// A buffer's place in an address space in which no two buffers share a line.
uint64_t AddressOf(const AccessRequest& request, int lane) {
  return (static_cast<uint64_t>(request.buffer + 1) << 44) +
         static_cast<uint64_t>(request.offset[lane]);
}

// The sectors of a request to global memory, each with a bit for each byte that is accessed.
std::map<uint64_t, uint32_t> SectorsOf(const AccessRequest& request, int bytes) {
  std::map<uint64_t, uint32_t> sectors;
  const uint32_t mask = bytes == kSectorBytes ? ~0u : (1u << bytes) - 1;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if ((request.lanes >> lane & 1) == 0) continue;
    const uint64_t address = AddressOf(request, lane);
    sectors[address / kSectorBytes] |= mask << (address % kSectorBytes);
  }
  return sectors;
}

double Tags(const std::map<uint64_t, uint32_t>& sectors) {
  double tags = 0;
  uint64_t last = UINT64_MAX;
  for (const auto& [sector, bytes] : sectors) {
    const uint64_t line = sector / (kLineBytes / kSectorBytes);
    tags += line != last;
    last = line;
  }
  return tags;
}

// Cycles in which a load's values come to registers: lanes that read the same get a copy each.
double CyclesToRegisters(const AccessRequest& request) {
  const auto lanes = static_cast<double>(std::bitset<kWarpLanes>(request.lanes).count());
  return lanes * SiteBytes(request.site) / kRegisterBytes;
}

// A request with when it is issued.
struct Issued {
  uint64_t wave;
  uint64_t turn;
  const AccessRequest* request;
};

std::vector<Issued> InOrderOfIssue(absl::Span<const AccessRequest> requests,
                                   const ReplayOptions& options) {
  std::map<std::pair<uint64_t, int>, uint64_t> turns;
  std::map<uint64_t, uint64_t> blocks_of;  // By multiprocessor: its blocks so far.
  std::map<uint64_t, uint64_t> wave_of;    // By block.
  std::vector<Issued> all;
  for (const AccessRequest& request : requests) {
    const auto [wave, is_new] = wave_of.emplace(request.block, 0);
    if (is_new) {
      wave->second = blocks_of[request.block % options.multiprocessors]++ / options.resident_blocks;
    }
    all.push_back({wave->second, turns[{request.block, request.warp}]++, &request});
  }
  std::stable_sort(all.begin(), all.end(), [](const Issued& a, const Issued& b) {
    return std::tie(a.wave, a.turn) < std::tie(b.wave, b.turn);
  });
  return all;
}

// Where a load is served from, the nearest first.
enum class Level { kL1, kL2, kDram };

// Rounds of loads: a barrier ends one, and so do `loads_together` loads. A load of what the warp
// has just stored waits until L2 has the store, which is a round of its own.
class Rounds {
 public:
  explicit Rounds(int loads_together) : loads_together_(loads_together) {}

  void Store(const AccessRequest& request, const std::map<uint64_t, uint32_t>& sectors) {
    std::set<uint64_t>& stored = open_[{request.block, request.warp}].stored;
    stored.clear();
    for (const auto& [sector, bytes] : sectors) stored.insert(sector);
  }

  void Load(const AccessRequest& request, const std::map<uint64_t, uint32_t>& sectors,
            Level level) {
    if (loads_together_ == 0) return;
    Round& round = open_[{request.block, request.warp}];
    if (std::any_of(sectors.begin(), sectors.end(),
                    [&](const auto& sector) { return round.stored.count(sector.first) != 0; })) {
      totals_[Quantity::kL2Rounds] += 1;
      round.stored.clear();
    }
    if (round.loads == loads_together_ || round.barriers != request.barriers) {
      Close(round);
      round.barriers = request.barriers;
      round.loads = 0;
      round.slowest = Level::kL1;
    }
    ++round.loads;
    round.slowest = std::max(round.slowest, level);
  }

  Totals Finish() {
    for (const auto& [warp, round] : open_) Close(round);
    open_.clear();
    return totals_;
  }

 private:
  struct Round {
    int barriers = 0;
    int loads = 0;
    Level slowest = Level::kL1;
    std::set<uint64_t> stored;  // The sectors of the warp's last store.
  };

  void Close(const Round& round) {
    if (round.loads == 0) return;
    totals_[round.slowest == Level::kL1   ? Quantity::kL1Rounds
            : round.slowest == Level::kL2 ? Quantity::kL2Rounds
                                          : Quantity::kDramRounds] += 1;
  }

  const int loads_together_;
  std::map<std::pair<uint64_t, int>, Round> open_;  // By block and warp.
  Totals totals_;
};

// Counts requests as they pass the caches of the sampled multiprocessors.
class Memory {
 public:
  explicit Memory(const ReplayOptions& options)
      : options_(options), l2_(options.l2_bytes), rounds_(options.loads_together) {}

  void Issue(const AccessRequest& request, Totals* site) {
    const EventKind kind = SiteKind(request.site);
    if (IsShared(kind)) {
      Shared(request, kind, site);
      return;
    }
    const std::map<uint64_t, uint32_t> sectors = SectorsOf(request, SiteBytes(request.site));
    if (kind == EventKind::kGlobalLoad) {
      Load(request, sectors, site);
      return;
    }
    Store(request, sectors, kind, site);
  }

  Totals FinishRounds() { return rounds_.Finish(); }

 private:
  SectorCache& L1Of(const AccessRequest& request) {
    return l1_.try_emplace(request.block % options_.multiprocessors, options_.l1_bytes)
        .first->second;
  }

  static void Shared(const AccessRequest& request, EventKind kind, Totals* site) {
    uint64_t offsets[kWarpLanes];
    std::copy(request.offset.begin(), request.offset.end(), offsets);
    const bool is_load = kind == EventKind::kSharedLoad;
    const SharedCost cost =
        CoalesceShared(offsets, request.lanes, SiteBytes(request.site), !is_load);
    (*site)[Quantity::kSharedRequests] += 1;
    (*site)[Quantity::kSharedWavefronts] += cost.wavefronts;
    (*site)[Quantity::kBankConflicts] += cost.wavefronts - cost.ideal_wavefronts;
    (*site)[Quantity::kSharedCycles] +=
        std::max<double>(cost.wavefronts, is_load ? CyclesToRegisters(request) : 0);
  }

  void Load(const AccessRequest& request, const std::map<uint64_t, uint32_t>& sectors,
            Totals* site) {
    const double tags = Tags(sectors);
    (*site)[Quantity::kLoadRequests] += 1;
    (*site)[Quantity::kLoadTags] += tags;
    (*site)[Quantity::kLoadCycles] += std::max(tags, CyclesToRegisters(request));
    (*site)[Quantity::kLoadSectors] += static_cast<double>(sectors.size());
    SectorCache& l1 = L1Of(request);
    Level level = Level::kL1;
    for (const auto& [sector, read] : sectors) {
      if (l1.Touch(sector)) continue;
      level = std::max(level, Level::kL2);
      (*site)[Quantity::kL2LoadSectors] += 1;
      if (l2_.Touch(sector)) continue;
      level = Level::kDram;
      (*site)[Quantity::kDramLoadSectors] += 1;
    }
    rounds_.Load(request, sectors, level);
    combiner_.Load(request, sectors);
  }

  void Store(const AccessRequest& request, const std::map<uint64_t, uint32_t>& sectors,
             EventKind kind, Totals* site) {
    SectorCache& l1 = L1Of(request);
    rounds_.Store(request, sectors);
    (*site)[Quantity::kStoreRequests] += 1;
    (*site)[Quantity::kStoreTags] += Tags(sectors);
    const std::map<uint64_t, uint32_t> combined = combiner_.Store(request, sectors);
    for (const auto& [sector, written] : sectors) {
      l1.Remove(sector);
      l2_.Touch(sector);
      const uint32_t before = combined.at(sector);
      if (kind == EventKind::kGlobalAtomic) {
        (*site)[Quantity::kAtomicSectors] += 1;
      } else if (written == ~0u) {
        (*site)[Quantity::kFullStoreSectors] += 1;
      } else if (before == 0) {
        (*site)[Quantity::kPartialStoreSectors] += 1;
      } else if (before != ~0u && (before | written) == ~0u) {
        (*site)[Quantity::kPartialStoreSectors] -= 1;
        (*site)[Quantity::kFullStoreSectors] += 1;
      }
    }
  }

  const ReplayOptions options_;
  std::map<uint64_t, SectorCache> l1_;  // By multiprocessor.
  SectorCache l2_;
  Rounds rounds_;
  StoreCombiner combiner_;
};

}  // namespace

ReplayCounts Replay(absl::Span<const AccessRequest> requests, const ReplayOptions& options) {
  ReplayCounts counts;
  Memory memory(options);
  for (const Issued& issued : InOrderOfIssue(requests, options)) {
    memory.Issue(*issued.request, &counts.sites[issued.request->site]);
  }
  counts.rounds = memory.FinishRounds();
  return counts;
}

}  // namespace stridewise::executor

#include "common/executor/predict/demand.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "common/executor/access_record.h"
#include "common/executor/coalescer.h"
#include "common/executor/predict/cache.h"

namespace stridewise::executor {
namespace {

// Loads of a warp that are in flight together where nothing makes it wait: compilers unroll short
// loops about so far.
constexpr int kLoadsTogether = 8;

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

// A request with when it is issued: warps of the blocks that are resident together issue their n-th
// requests together.
struct Issued {
  uint64_t wave;
  uint64_t turn;
  const AccessRequest* request;
};

std::vector<Issued> InOrderOfIssue(const AccessRecord& record, uint64_t multiprocessors,
                                   uint64_t resident) {
  std::map<std::pair<uint64_t, int>, uint64_t> turns;
  std::map<uint64_t, uint64_t> blocks_of;  // By multiprocessor: its blocks so far.
  std::map<uint64_t, uint64_t> wave_of;    // By block.
  std::vector<Issued> all;
  for (const AccessRequest& request : record.requests) {
    const auto [wave, is_new] = wave_of.emplace(request.block, 0);
    if (is_new) wave->second = blocks_of[request.block % multiprocessors]++ / resident;
    all.push_back({wave->second, turns[{request.block, request.warp}]++, &request});
  }
  std::stable_sort(all.begin(), all.end(), [](const Issued& a, const Issued& b) {
    return std::tie(a.wave, a.turn) < std::tie(b.wave, b.turn);
  });
  return all;
}

// Rounds of loads: a barrier ends one, and so do kLoadsTogether loads.
double LoadRounds(const AccessRecord& record) {
  struct Warp {
    int barriers = -1;
    int loads = 0;
  };
  std::map<std::pair<uint64_t, int>, Warp> warps;
  double rounds = 0;
  for (const AccessRequest& request : record.requests) {
    if (SiteKind(request.site) != EventKind::kGlobalLoad) continue;
    Warp& warp = warps[{request.block, request.warp}];
    if (warp.barriers != request.barriers || warp.loads == kLoadsTogether) {
      warp = {request.barriers, 0};
      ++rounds;
    }
    ++warp.loads;
  }
  return rounds;
}

// Counts requests as they pass the caches of the sampled multiprocessors.
class Memory {
 public:
  Memory(const MachineModel& machine, double l1_bytes, double l2_bytes)
      : multiprocessors_(machine.multiprocessors), l1_bytes_(l1_bytes), l2_(l2_bytes) {}

  void Issue(const AccessRequest& request, Totals* site) {
    const EventKind kind = SiteKind(request.site);
    const int bytes = SiteBytes(request.site);
    if (IsShared(kind)) {
      uint64_t offsets[kWarpLanes];
      std::copy(request.offset.begin(), request.offset.end(), offsets);
      const bool store = kind != EventKind::kSharedLoad;
      (*site)[Quantity::kSharedRequests] += 1;
      const SharedCost cost = CoalesceShared(offsets, request.lanes, bytes, store);
      (*site)[Quantity::kSharedWavefronts] += cost.wavefronts;
      (*site)[Quantity::kBankConflicts] += cost.wavefronts - cost.ideal_wavefronts;
      return;
    }
    const std::map<uint64_t, uint32_t> sectors = SectorsOf(request, bytes);
    if (kind == EventKind::kGlobalLoad) {
      Load(request, sectors, site);
      return;
    }
    (*site)[Quantity::kStoreRequests] += 1;
    (*site)[Quantity::kStoreTags] += Tags(sectors);
    for (const auto& [sector, written] : sectors) {
      l2_.Touch(sector);
      if (kind == EventKind::kGlobalAtomic) {
        (*site)[Quantity::kAtomicSectors] += 1;
      } else {
        (*site)[written == ~0u ? Quantity::kFullStoreSectors : Quantity::kPartialStoreSectors] += 1;
      }
    }
  }

 private:
  void Load(const AccessRequest& request, const std::map<uint64_t, uint32_t>& sectors,
            Totals* site) {
    (*site)[Quantity::kLoadRequests] += 1;
    (*site)[Quantity::kLoadTags] += Tags(sectors);
    (*site)[Quantity::kLoadSectors] += static_cast<double>(sectors.size());
    SectorCache& l1 = l1_.try_emplace(request.block % multiprocessors_, l1_bytes_).first->second;
    for (const auto& [sector, read] : sectors) {
      if (l1.Touch(sector)) continue;
      (*site)[Quantity::kL2LoadSectors] += 1;
      if (!l2_.Touch(sector)) (*site)[Quantity::kDramLoadSectors] += 1;
    }
  }

  const uint64_t multiprocessors_;
  const double l1_bytes_;
  std::map<uint64_t, SectorCache> l1_;  // By multiprocessor.
  SectorCache l2_;
};

constexpr absl::string_view kNames[kQuantities] = {"warps",
                                                   "barriers",
                                                   "basic_blocks",
                                                   "load_rounds",
                                                   "load_requests",
                                                   "load_tags",
                                                   "load_sectors",
                                                   "l2_load_sectors",
                                                   "dram_load_sectors",
                                                   "store_requests",
                                                   "store_tags",
                                                   "full_store_sectors",
                                                   "partial_store_sectors",
                                                   "atomic_sectors",
                                                   "shared_requests",
                                                   "shared_wavefronts",
                                                   "bank_conflicts",
                                                   "fused_multiply_adds"};

}  // namespace

absl::string_view QuantityName(Quantity quantity) { return kNames[static_cast<int>(quantity)]; }

void Totals::Add(const Totals& other, double factor) {
  for (int i = 0; i < kQuantities; ++i) values_[i] += factor * other.values_[i];
}

void Demand::Add(const Demand& other, double factor) {
  totals.Add(other.totals, factor);
  for (const auto& [site, part] : other.sites) sites[site].Add(part, factor);
  launches += factor * other.launches;
  blocks += factor * other.blocks;
  block_threads = other.block_threads;
  shared_bytes = other.shared_bytes;
  resident_blocks = other.resident_blocks;
  fp64 = other.fp64;
  read_buffer_bytes += factor * other.read_buffer_bytes;
  written_buffer_bytes += factor * other.written_buffer_bytes;
}

std::vector<uint64_t> SampleBlocks(const MachineModel& machine, uint64_t blocks, int most) {
  std::vector<uint64_t> sample;
  if (blocks <= static_cast<uint64_t>(most)) {
    for (uint64_t i = 0; i < blocks; ++i) sample.push_back(i);
    return sample;
  }
  const uint64_t sms = machine.multiprocessors;
  const uint64_t turns = (blocks + sms - 1) / sms;
  const uint64_t taken = std::min<uint64_t>(turns, std::max(1, most / 2));
  const uint64_t first = (turns - taken) / 2;
  const uint64_t columns = std::min<uint64_t>(sms, std::max<uint64_t>(1, most / taken));
  for (uint64_t turn = first; turn < first + taken; ++turn) {
    for (uint64_t column = 0; column < columns; ++column) {
      const uint64_t block = turn * sms + column * sms / columns;
      if (block < blocks) sample.push_back(block);
    }
  }
  return sample;
}

int ResidentBlocks(const MachineModel& machine, int64_t block_threads, size_t shared_bytes,
                   int registers) {
  const int64_t warps = CeilDiv(block_threads, kWarpLanes);
  int64_t blocks = std::min<int64_t>(machine.max_blocks, machine.max_warps / warps);
  if (shared_bytes > 0) {
    const auto block_bytes = static_cast<double>(shared_bytes + machine.shared_reserved_bytes);
    blocks = std::min(blocks, static_cast<int64_t>(machine.shared_bytes / block_bytes));
  }
  if (registers > 0) {
    const int64_t a_warp = CeilDiv(registers, 8) * 8 * kWarpLanes;
    blocks = std::min(blocks, machine.registers / a_warp / warps);
  }
  return static_cast<int>(std::max<int64_t>(blocks, 1));
}

Demand DemandOf(const LaunchReport& launch, const MachineModel& machine) {
  Demand demand;
  demand.launches = 1;
  demand.blocks = static_cast<double>(launch.grid.x * launch.grid.y * launch.grid.z);
  demand.block_threads = static_cast<double>(launch.block.x * launch.block.y * launch.block.z);
  demand.shared_bytes = static_cast<double>(launch.shared_bytes);
  const int resident = ResidentBlocks(machine, static_cast<int64_t>(demand.block_threads),
                                      launch.shared_bytes, /*registers=*/0);
  demand.resident_blocks = resident;

  // The blocks that ran: each has at least one warp, and all have the same number.
  const double warps = std::ceil(demand.block_threads / kWarpLanes);
  const double ran = static_cast<double>(launch.profile.warps) / warps;
  if (ran == 0) return demand;
  const double scale = demand.blocks / ran;
  std::set<uint64_t> multiprocessors;
  for (const AccessRequest& request : launch.accesses.requests) {
    multiprocessors.insert(request.block % machine.multiprocessors);
  }
  // The part of the L2 that the sampled blocks have: that of their multiprocessors.
  const double busy = std::min<double>(machine.multiprocessors, demand.blocks);
  const double part = std::min(1.0, static_cast<double>(multiprocessors.size()) / busy);
  const double l1 =
      machine.l1_caches_global
          ? machine.l1_bytes - (machine.l1_holds_shared ? resident * demand.shared_bytes : 0)
          : 0;
  Memory memory(machine, l1, machine.l2_bytes * part);
  for (const Issued& issued : InOrderOfIssue(launch.accesses, machine.multiprocessors, resident)) {
    memory.Issue(*issued.request, &demand.sites[issued.request->site]);
  }

  std::set<int> read, written;
  for (const AccessRequest& request : launch.accesses.requests) {
    if (IsShared(SiteKind(request.site))) continue;
    (SiteKind(request.site) == EventKind::kGlobalLoad ? read : written).insert(request.buffer);
  }
  for (const int b : read) demand.read_buffer_bytes += launch.accesses.buffers[b].bytes;
  for (const int b : written) demand.written_buffer_bytes += launch.accesses.buffers[b].bytes;

  // Requests that were not recorded are taken to be as the others.
  const auto recorded = static_cast<double>(launch.accesses.requests.size());
  const double record_scale =
      recorded == 0 ? 0 : scale * (1 + static_cast<double>(launch.accesses.left_out) / recorded);
  std::map<Site, Totals> scaled;
  for (const auto& [site, part_of_site] : demand.sites) {
    scaled[site].Add(part_of_site, record_scale);
    demand.totals.Add(scaled[site]);
  }
  demand.sites = std::move(scaled);
  demand.totals[Quantity::kWarps] = demand.blocks * warps;
  demand.totals[Quantity::kBarriers] = scale * static_cast<double>(launch.profile.barriers);
  demand.totals[Quantity::kBasicBlocks] = scale * static_cast<double>(launch.profile.issued_blocks);
  demand.totals[Quantity::kLoadRounds] = record_scale * LoadRounds(launch.accesses);
  return demand;
}

}  // namespace stridewise::executor

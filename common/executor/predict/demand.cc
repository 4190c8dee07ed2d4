#include "common/executor/predict/demand.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "common/executor/access_record.h"
#include "common/executor/predict/merge_loads.h"
#include "common/executor/predict/replay.h"

namespace stridewise::executor {
namespace {

constexpr absl::string_view kNames[kQuantities] = {
    "warps",           "barriers",           "basic_blocks",
    "instructions",    "l1_rounds",          "l2_rounds",
    "dram_rounds",     "shared_rounds",      "load_requests",
    "load_tags",       "load_cycles",        "load_sectors",
    "l2_load_sectors", "dram_load_sectors",  "store_requests",
    "store_tags",      "full_store_sectors", "partial_store_sectors",
    "atomic_sectors",  "shared_requests",    "shared_wavefronts",
    "shared_cycles",   "bank_conflicts",     "fused_multiply_adds",
};

// Sums over one launch that say how often the loops of its kernel ran.
struct LoopCounts {
  double warps = 0;
  double barriers = 0;      // That warps passed.
  double global_loads = 0;  // Instructions of warps.
  double shared_bytes = 0;  // That a lane loads, over all loads of all warps.
};

// How often warps ran a loop that does `a_turn` each time, where `others` is what other code did.
double TurnsOf(double all, double others, double a_turn) {
  return a_turn == 0 ? 0 : std::max(0.0, all - others) / a_turn;
}

void CountInstructions(const CompiledKernel& compiled, const LoopCounts& counts, Totals* totals) {
  const CompiledLoop& inner = compiled.inner;
  const CompiledLoop& outer = compiled.outer;
  const double outer_turns = outer.barriers > 0
                                 ? TurnsOf(counts.barriers, 0, outer.barriers)
                                 : TurnsOf(counts.global_loads, 0, outer.global_loads);
  const double inner_turns =
      inner.shared_bytes > 0
          ? TurnsOf(counts.shared_bytes, outer_turns * outer.shared_bytes, inner.shared_bytes)
          : TurnsOf(counts.global_loads, outer_turns * outer.global_loads, inner.global_loads);
  (*totals)[Quantity::kInstructions] = counts.warps * compiled.instructions +
                                       inner_turns * inner.instructions +
                                       outer_turns * outer.instructions;
  (*totals)[Quantity::kFusedMultiplyAdds] =
      inner_turns * inner.multiply_adds + outer_turns * outer.multiply_adds;
  (*totals)[Quantity::kSharedRounds] =
      inner_turns * inner.shared_rounds + outer_turns * outer.shared_rounds;
}

double SharedBytes(absl::Span<const AccessRequest> requests) {
  double bytes = 0;
  for (const AccessRequest& request : requests) {
    if (SiteKind(request.site) == EventKind::kSharedLoad) bytes += SiteBytes(request.site);
  }
  return bytes;
}

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

Demand DemandOf(const LaunchReport& launch, const MachineModel& machine,
                const CompiledKernel* compiled) {
  const bool has_loop = compiled != nullptr && compiled->has_loop();
  Demand demand;
  demand.launches = 1;
  demand.blocks = static_cast<double>(launch.grid.x * launch.grid.y * launch.grid.z);
  demand.block_threads = static_cast<double>(launch.block.x * launch.block.y * launch.block.z);
  demand.shared_bytes = static_cast<double>(launch.shared_bytes);
  const int resident =
      ResidentBlocks(machine, static_cast<int64_t>(demand.block_threads), launch.shared_bytes,
                     compiled == nullptr ? 0 : compiled->registers);
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
  ReplayOptions options;
  options.multiprocessors = machine.multiprocessors;
  options.resident_blocks = resident;
  if (machine.l1_caches_global) {
    options.l1_bytes =
        machine.l1_bytes - (machine.l1_holds_shared ? resident * demand.shared_bytes : 0);
  }
  options.l2_bytes = machine.l2_bytes * part;
  if (has_loop) options.loads_together = compiled->loads_together;
  const ReplayCounts counts =
      has_loop
          ? Replay(MergeSharedLoads(launch.accesses.requests, compiled->shared_load_bytes), options)
          : Replay(launch.accesses.requests, options);

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
  for (const auto& [site, totals] : counts.sites) {
    demand.sites[site].Add(totals, record_scale);
    demand.totals.Add(demand.sites[site]);
  }
  demand.totals.Add(counts.rounds, record_scale);
  demand.totals[Quantity::kWarps] = demand.blocks * warps;
  demand.totals[Quantity::kBarriers] = scale * static_cast<double>(launch.profile.barriers);
  demand.totals[Quantity::kBasicBlocks] = scale * static_cast<double>(launch.profile.issued_blocks);
  if (has_loop) {
    CountInstructions(*compiled,
                      {demand.totals[Quantity::kWarps], demand.totals[Quantity::kBarriers] * warps,
                       demand.totals[Quantity::kLoadRequests],
                       record_scale * SharedBytes(launch.accesses.requests)},
                      &demand.totals);
  }
  return demand;
}

}  // namespace stridewise::executor

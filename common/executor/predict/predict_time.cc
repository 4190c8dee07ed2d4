#include "common/executor/predict/predict_time.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/executor/coalescer.h"

namespace stridewise::executor {
namespace {

constexpr int kStations = static_cast<int>(Limiter::kLatency);
// The stations that are of a memory instruction; the others are of the whole kernel.
constexpr int kMemoryStations = static_cast<int>(Limiter::kIssue);

using Cycles = std::array<double, kStations>;

// What a launch asks of the memory stations, in units of each: bytes, bytes, cycles, cycles.
std::array<double, kMemoryStations> MemoryWork(const Totals& t, const CommonRates& rates) {
  return {kSectorBytes * (t[Quantity::kDramLoadSectors] + t[Quantity::kFullStoreSectors] +
                          t[Quantity::kPartialStoreSectors] + t[Quantity::kAtomicSectors]),
          kSectorBytes * (t[Quantity::kL2LoadSectors] + t[Quantity::kFullStoreSectors] +
                          rates.partial_store_cost *
                              (t[Quantity::kPartialStoreSectors] + t[Quantity::kAtomicSectors])),
          rates.load_tag_cycles * t[Quantity::kLoadCycles] +
              rates.store_tag_cycles * t[Quantity::kStoreTags],
          t[Quantity::kSharedCycles]};
}

double ReadBytes(const Demand& d) {
  return std::min(kSectorBytes * d.totals[Quantity::kDramLoadSectors], d.read_buffer_bytes);
}

// Bytes to and from DRAM: no buffer crosses twice, and a part of what is written stays in L2.
double DramBytes(const Demand& d, const MachineModel& machine, const CommonRates& rates) {
  const Totals& t = d.totals;
  const double written =
      std::min(kSectorBytes * (t[Quantity::kFullStoreSectors] + t[Quantity::kPartialStoreSectors] +
                               t[Quantity::kAtomicSectors]),
               d.written_buffer_bytes);
  return ReadBytes(d) + written - rates.written_that_stays * std::min(written, machine.l2_bytes);
}

// Instructions of all warps: those of compiled code, or an estimate from clang's basic blocks.
double InstructionsOf(const Totals& t, const CommonRates& rates) {
  if (t[Quantity::kInstructions] > 0) return t[Quantity::kInstructions];
  return t[Quantity::kFusedMultiplyAdds] + t[Quantity::kLoadRequests] +
         t[Quantity::kStoreRequests] + t[Quantity::kSharedRequests] +
         rates.instructions_of_a_block * t[Quantity::kBasicBlocks];
}

// Cycles of a multiprocessor at each station, for one warp, where `busy` multiprocessors share what
// is the whole GPU's.
Cycles ServiceOfWarp(const Demand& d, const MachineModel& m, const CommonRates& rates,
                     double busy) {
  const Totals& t = d.totals;
  const double warps = t[Quantity::kWarps];
  const auto work = MemoryWork(t, rates);
  const double dram_bytes_per_cycle = m.dram_gbps / m.clock_ghz * rates.dram_efficiency;
  const double l2_bytes_per_cycle =
      std::min(rates.l2_bytes_per_cycle_and_sm, m.l2_bytes_per_cycle / busy);
  const double multiply_adds = t[Quantity::kFusedMultiplyAdds];
  const double instructions = InstructionsOf(t, rates);
  const double units = d.fp64 ? m.fp64_lanes : m.fp32_lanes;
  Cycles cycles;
  cycles[static_cast<int>(Limiter::kDram)] = DramBytes(d, m, rates) / (dram_bytes_per_cycle / busy);
  cycles[static_cast<int>(Limiter::kL2)] = work[1] / l2_bytes_per_cycle;
  cycles[static_cast<int>(Limiter::kL1)] = work[2];
  cycles[static_cast<int>(Limiter::kShared)] = work[3];
  cycles[static_cast<int>(Limiter::kIssue)] =
      std::max(instructions / m.schedulers, multiply_adds * kWarpLanes / units);
  cycles[static_cast<int>(Limiter::kBlocks)] = d.blocks / (m.blocks_per_cycle / busy);
  for (double& c : cycles) c /= warps;
  return cycles;
}

// Cycles that a warp waits for loads, by where the slowest of those that it waits for together is
// served from. Of what the sample took from DRAM, other blocks have brought a part to L2; but those
// that run at the same time, the `first` fraction of all, wait for DRAM together.
double LoadLatency(const Demand& d, const MachineModel& m, double first) {
  const Totals& t = d.totals;
  const double sampled = kSectorBytes * t[Quantity::kDramLoadSectors];
  const double from_dram =
      sampled == 0 ? 0 : t[Quantity::kDramRounds] * std::max(ReadBytes(d) / sampled, first);
  const double from_l2 = t[Quantity::kL2Rounds] + t[Quantity::kDramRounds] - from_dram;
  return (from_dram * m.dram_latency_cycles + from_l2 * m.l2_latency_cycles +
          t[Quantity::kL1Rounds] * m.l1_latency_cycles +
          t[Quantity::kSharedRounds] * m.shared_latency_cycles) /
         t[Quantity::kWarps];
}

// Mean value analysis: cycles from the start of a warp to its end at each station, where `warps`
// are there and each also spends `latency` elsewhere. A station takes the same time for each warp,
// so that on the average half of it is left of the one that a warp finds being served; and no
// station serves more than one at a time. With `one_unit` L1 and shared memory serve one request at
// a time between them.
Cycles Residence(const Cycles& service, double latency, int warps, bool one_unit) {
  constexpr int kL1 = static_cast<int>(Limiter::kL1), kShared = static_cast<int>(Limiter::kShared);
  Cycles residence = service;
  Cycles queue = {};
  double throughput = 0;  // Warps in a cycle.
  const auto waiting = [&](int k) { return queue[k] - throughput * service[k] / 2; };
  Cycles most = service;  // What keeps a station busy for a warp.
  if (one_unit) most[kL1] = most[kShared] = service[kL1] + service[kShared];
  const auto slowest = static_cast<int>(std::max_element(most.begin(), most.end()) - most.begin());
  for (int n = 1; n <= warps; ++n) {
    // A queue that L1 and shared memory have in common is in front of both.
    const double other_of_l1 = one_unit ? waiting(kShared) : 0;
    const double other_of_shared = one_unit ? waiting(kL1) : 0;
    for (int k = 0; k < kStations; ++k) residence[k] = service[k] * (1 + waiting(k));
    residence[kL1] += service[kL1] * other_of_l1;
    residence[kShared] += service[kShared] * other_of_shared;
    const double whole = std::accumulate(residence.begin(), residence.end(), latency);
    const double missing = n * most[slowest] - whole;
    if (missing > 0) residence[slowest] += missing;
    const double cycles = std::max(whole, n * most[slowest]);
    throughput = cycles == 0 ? 0 : n / cycles;
    for (int k = 0; k < kStations; ++k) queue[k] = throughput * residence[k];
  }
  return residence;
}

void ShareAmongSites(const Demand& demand, const CommonRates& rates, Prediction* prediction) {
  const auto all = MemoryWork(demand.totals, rates);
  for (const auto& [site, totals] : demand.sites) {
    const auto own = MemoryWork(totals, rates);
    double ms = 0;
    for (int k = 0; k < kMemoryStations; ++k) {
      if (all[k] > 0) ms += prediction->ms_of[k] * own[k] / all[k];
    }
    prediction->ms_of_site[site] = ms;
  }
}

}  // namespace

absl::string_view LimiterName(Limiter limiter) {
  static constexpr absl::string_view kNames[kLimiters] = {
      "DRAM", "L2", "L1", "shared memory", "issue", "block starts", "latency", "launch"};
  return kNames[static_cast<int>(limiter)];
}

Limiter Prediction::limiter() const {
  return static_cast<Limiter>(std::max_element(ms_of.begin(), ms_of.end()) - ms_of.begin());
}

double Prediction::share() const { return ms == 0 ? 0 : (*this)[limiter()] / ms; }

Prediction PredictTime(const Demand& demand, const MachineModel& machine,
                       const CommonRates& rates) {
  Prediction prediction;
  const double launch_ms = std::max(1.0, demand.launches) * machine.launch_us / 1e3;
  prediction.ms = launch_ms;
  prediction.ms_of[static_cast<int>(Limiter::kLaunch)] = launch_ms;
  const double warps = demand.totals[Quantity::kWarps];
  if (demand.blocks == 0 || warps == 0) return prediction;

  const double most_blocks = std::ceil(demand.blocks / machine.multiprocessors);
  const double busy = demand.blocks / most_blocks;
  const double block_warps = warps / demand.blocks;
  const Cycles service = ServiceOfWarp(demand, machine, rates, busy);
  const double resident = std::min(demand.resident_blocks, most_blocks);
  const double latency = LoadLatency(demand, machine, resident / most_blocks) +
                         machine.block_cycles +
                         // A warp that is alone in its block waits for nobody.
                         machine.barrier_cycles * (1 - 1 / block_warps) *
                             demand.totals[Quantity::kBarriers] / demand.blocks;
  // At a barrier, and at the end of a block, warps wait for those of their block that come last.
  const double in_step = rates.others_in_step * std::max(0.0, block_warps - 1);
  Cycles waits;
  for (int k = 0; k < kStations; ++k) {
    waits[k] = k == static_cast<int>(Limiter::kBlocks) ? 0 : in_step * service[k];
  }
  const double elsewhere = std::accumulate(waits.begin(), waits.end(), latency);
  const int together = static_cast<int>(std::max(1.0, std::round(resident * block_warps)));
  const Cycles residence = Residence(service, elsewhere, together, machine.l1_holds_shared);

  // The rounds in which a multiprocessor runs its warps, `together` at a time.
  const double turns = most_blocks * block_warps / together;
  const double ms_per_cycle = turns / (machine.clock_ghz * 1e6);
  for (int k = 0; k < kStations; ++k) {
    prediction.ms_of[k] = ms_per_cycle * (residence[k] + waits[k]);
  }
  prediction.ms_of[static_cast<int>(Limiter::kLatency)] = ms_per_cycle * latency;
  prediction.ms = std::accumulate(prediction.ms_of.begin(), prediction.ms_of.end(), 0.0);
  ShareAmongSites(demand, rates, &prediction);
  return prediction;
}

}  // namespace stridewise::executor

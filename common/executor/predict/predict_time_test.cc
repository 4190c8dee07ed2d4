// Cases that can be computed by hand.

#include "common/executor/predict/predict_time.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/executor/executor.h"
#include "common/executor/predict/demand.h"
#include "common/executor/predict/machine_model.h"
#include "common/executor/trace.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

const MachineModel& H200() { return **FindMachine("--machine", "h200"); }

Site SiteAt(uintptr_t pc, EventKind kind) { return MakeSite(pc, kind, /*log2_bytes=*/2); }

// A report of `blocks` blocks of one warp, all recorded. Each runs `requests`, in which a global
// offset counts from the block's own 128 bytes.
struct LaneStride {
  uintptr_t pc;
  EventKind kind;
  int64_t stride;  // In bytes, from lane to lane.
};

LaunchReport Launch(int64_t blocks, const std::vector<LaneStride>& requests) {
  LaunchReport launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {32, 1, 1};
  launch.profile.warps = static_cast<uint64_t>(blocks);
  const size_t bytes = static_cast<size_t>(blocks) * 128;
  launch.accesses.buffers = {{"in", bytes}, {"out", bytes}};
  for (int64_t block = 0; block < blocks; ++block) {
    for (const LaneStride& r : requests) {
      AccessRequest request;
      request.site = SiteAt(r.pc, r.kind);
      request.block = static_cast<uint64_t>(block);
      request.lanes = ~0u;
      request.buffer =
          IsShared(r.kind) ? AccessRequest::kShared : (r.kind == EventKind::kGlobalStore ? 1 : 0);
      for (int lane = 0; lane < kWarpLanes; ++lane) {
        request.offset[lane] = r.stride * lane + (IsShared(r.kind) ? 0 : block * 128);
      }
      launch.accesses.requests.push_back(request);
    }
  }
  return launch;
}

const std::vector<LaneStride> kCopy = {{1, EventKind::kGlobalLoad, 4},
                                       {2, EventKind::kGlobalStore, 4}};

TEST(Demand, CountsACopyByHand) {
  const Demand demand = DemandOf(Launch(1000, kCopy), H200());
  EXPECT_EQ(demand.totals[Quantity::kWarps], 1000);
  EXPECT_EQ(demand.totals[Quantity::kLoadTags], 1000);
  EXPECT_EQ(demand.totals[Quantity::kLoadSectors], 4000);
  EXPECT_EQ(demand.totals[Quantity::kDramLoadSectors], 4000);
  EXPECT_EQ(demand.totals[Quantity::kFullStoreSectors], 4000);
  EXPECT_EQ(demand.totals[Quantity::kPartialStoreSectors], 0);
  EXPECT_EQ(demand.totals[Quantity::kDramRounds], 1000);
  EXPECT_EQ(demand.totals[Quantity::kL2Rounds], 0);
  EXPECT_EQ(demand.totals[Quantity::kInstructions], 0);  // Nobody knows.
  EXPECT_EQ(demand.read_buffer_bytes, 128000);
  EXPECT_EQ(demand.written_buffer_bytes, 128000);
}

TEST(Demand, ScalesASampleToTheGrid) {
  LaunchReport launch = Launch(100, kCopy);
  launch.grid.x = 300;
  EXPECT_EQ(DemandOf(launch, H200()).totals[Quantity::kLoadSectors], 1200);
}

TEST(Demand, CachesKeepWhatFitsAndNoMore) {
  // The second load of a warp reads what the first did.
  const std::vector<LaneStride> twice = {{1, EventKind::kGlobalLoad, 128},
                                         {2, EventKind::kGlobalLoad, 128}};
  MachineModel machine = H200();
  const Demand cached = DemandOf(Launch(1, twice), machine);
  EXPECT_EQ(cached.totals[Quantity::kLoadSectors], 64);
  EXPECT_EQ(cached.totals[Quantity::kL2LoadSectors], 32);
  machine.l1_bytes = 31 * 128;  // A line too few: the oldest leaves just before it is read again.
  EXPECT_EQ(DemandOf(Launch(1, twice), machine).totals[Quantity::kL2LoadSectors], 64);
  EXPECT_EQ(DemandOf(Launch(1, twice), machine).totals[Quantity::kDramLoadSectors], 32);
}

TEST(Demand, TellsPartialStoresFromWholeOnes) {
  const Demand demand = DemandOf(Launch(1, {{1, EventKind::kGlobalStore, 128}}), H200());
  EXPECT_EQ(demand.totals[Quantity::kPartialStoreSectors], 32);
  EXPECT_EQ(demand.totals[Quantity::kFullStoreSectors], 0);
}

TEST(ResidentBlocks, IsTheTightestOfItsLimits) {
  EXPECT_EQ(ResidentBlocks(H200(), 32, 0, 0), 32);         // Blocks.
  EXPECT_EQ(ResidentBlocks(H200(), 1024, 0, 0), 2);        // Warps.
  EXPECT_EQ(ResidentBlocks(H200(), 256, 64 << 10, 0), 3);  // Shared memory: 65 KB of 228.
  EXPECT_EQ(ResidentBlocks(H200(), 256, 0, 128), 2);       // Registers: 128 * 256 of 65536.
}

TEST(SampleBlocks, TakesAllOfASmallGridAndAFewMultiprocessorsOfALargeOne) {
  EXPECT_EQ(SampleBlocks(H200(), 3, 48), (std::vector<uint64_t>{0, 1, 2}));
  const std::vector<uint64_t> sample = SampleBlocks(H200(), 132 * 1000, 48);
  EXPECT_EQ(sample.size(), 48u);
  for (const uint64_t block : sample) EXPECT_TRUE(block % 132 == 0 || block % 132 == 66) << block;
}

TEST(PredictTime, AnEmptyKernelCostsTheLaunch) {
  const Prediction prediction = PredictTime(Demand(), H200());
  EXPECT_DOUBLE_EQ(prediction.ms, H200().launch_us / 1e3);
  EXPECT_EQ(prediction.limiter(), Limiter::kLaunch);
  EXPECT_DOUBLE_EQ(prediction.share(), 1);
}

// A machine on which nothing but DRAM takes time.
MachineModel OnlyDram() {
  MachineModel machine = H200();
  machine.l2_bytes_per_cycle = 1e12;
  machine.dram_latency_cycles = machine.l2_latency_cycles = machine.l1_latency_cycles = 0;
  machine.block_cycles = machine.barrier_cycles = 0;
  machine.blocks_per_cycle = 1e12;
  machine.launch_us = 0;
  machine.schedulers = 1000000000;
  return machine;
}

TEST(PredictTime, ACopyTakesItsBytesOverTheRate) {
  CommonRates rates;
  rates.dram_efficiency = 1;
  rates.written_that_stays = 0;
  rates.load_tag_cycles = rates.store_tag_cycles = 0;
  rates.l2_bytes_per_cycle_and_sm = 1e12;
  const Demand demand = DemandOf(Launch(132 * 64, kCopy), OnlyDram());
  const Prediction prediction = PredictTime(demand, OnlyDram(), rates);
  const double ms = 132 * 64 * 256 / (H200().dram_gbps * 1e6);
  EXPECT_NEAR(prediction.ms, ms, 1e-6 * ms);
  EXPECT_EQ(prediction.limiter(), Limiter::kDram);
  EXPECT_NEAR(prediction.share(), 1, 1e-6);
}

TEST(PredictTime, ConflictsOf32WaysAreInTheirLineAlone) {
  std::vector<LaneStride> requests = kCopy;
  requests.push_back({3, EventKind::kSharedStore, 4});
  requests.push_back({4, EventKind::kSharedLoad, 128});
  const Demand demand = DemandOf(Launch(132 * 256, requests), H200());
  EXPECT_EQ(demand.totals[Quantity::kSharedWavefronts], 33 * 132 * 256);
  EXPECT_EQ(demand.totals[Quantity::kBankConflicts], 31 * 132 * 256);
  EXPECT_EQ(demand.sites.at(SiteAt(4, EventKind::kSharedLoad))[Quantity::kBankConflicts],
            31 * 132 * 256);
  EXPECT_EQ(demand.sites.at(SiteAt(3, EventKind::kSharedStore))[Quantity::kBankConflicts], 0);
  MachineModel machine = H200();
  machine.blocks_per_cycle = 1e12;
  machine.launch_us = 0;
  Demand resident = demand;
  resident.resident_blocks = 256;  // Enough to hide latency.
  const Prediction prediction = PredictTime(resident, machine);
  EXPECT_EQ(prediction.limiter(), Limiter::kShared);
  const double shared = prediction[Limiter::kShared];
  EXPECT_NEAR(prediction.ms_of_site.at(SiteAt(4, EventKind::kSharedLoad)), shared * 32 / 33,
              1e-9 * shared);
  // 33 wavefronts a warp, one a cycle, on each of 132 multiprocessors: it cannot be faster.
  EXPECT_GE(prediction.ms * 1e6 * machine.clock_ghz, 33 * 256);
}

TEST(PredictTime, PartsAddUp) {
  const Prediction prediction = PredictTime(DemandOf(Launch(5000, kCopy), H200()), H200());
  double sum = 0;
  for (const double ms : prediction.ms_of) sum += ms;
  EXPECT_DOUBLE_EQ(prediction.ms, sum);
}

TEST(PredictTime, MoreMultiprocessorsAreNeverSlower) {
  for (const int64_t blocks : {1, 7, 133, 2000}) {
    const Demand demand = DemandOf(Launch(blocks, kCopy), H200());
    MachineModel machine = H200();
    double least = 1e9;
    for (int n = 1; n <= 300; ++n) {
      machine.multiprocessors = n;
      const double ms = PredictTime(demand, machine).ms;
      // Each assumes that all multiprocessors want what they share at once, which costs more of
      // them a little where there is hardly any work.
      EXPECT_LE(ms, least * 1.05) << blocks << " blocks on " << n;
      least = std::min(least, ms);
    }
  }
}

TEST(PredictTime, MoreWorkIsNeverFaster) {
  for (int q = 0; q < kQuantities; ++q) {
    const Quantity quantity = static_cast<Quantity>(q);
    // More warps hide more latency, and sectors that L1 or L2 lack are not more sectors.
    if (quantity == Quantity::kWarps || quantity == Quantity::kLoadSectors) continue;
    Demand demand = DemandOf(Launch(2000, kCopy), H200());
    demand.totals[Quantity::kInstructions] = 1e5;  // Instead of an estimate.
    const double before = PredictTime(demand, H200()).ms;
    demand.totals[quantity] += 4000;
    EXPECT_GE(PredictTime(demand, H200()).ms, before) << QuantityName(quantity);
  }
}

// Two requests to L1 and two to shared memory of each warp, and nothing else that takes time.
TEST(PredictTime, L1AndSharedMemoryAreOneUnitWhereTheyShareTheirBytes) {
  MachineModel machine = OnlyDram();
  machine.dram_gbps = 1e12;
  Demand demand = DemandOf(Launch(132 * 64, kCopy), machine);
  demand.totals[Quantity::kStoreTags] = 0;
  demand.totals[Quantity::kLoadCycles] = demand.totals[Quantity::kSharedCycles] = 132 * 64 * 2;
  demand.resident_blocks = 64;
  CommonRates rates;
  rates.load_tag_cycles = 1;
  rates.l2_bytes_per_cycle_and_sm = 1e12;
  const double one_unit = PredictTime(demand, machine, rates).ms;
  machine.l1_holds_shared = false;
  const double two_units = PredictTime(demand, machine, rates).ms;
  const double cycles = machine.clock_ghz * 1e6;
  EXPECT_NEAR(one_unit * cycles, 64 * 4, 1e-3);  // One after the other.
  EXPECT_GE(two_units * cycles, 64 * 2 - 1e-3);  // At the same time.
  EXPECT_LT(two_units, 0.6 * one_unit);
}

// However many warps there are, no station serves more than one at a time.
TEST(PredictTime, AStationIsNeverFasterThanItsService) {
  for (const double resident : {1, 2, 3, 8, 32, 64}) {
    Demand demand = DemandOf(Launch(132 * 64, kCopy), OnlyDram());
    demand.resident_blocks = resident;
    demand.totals[Quantity::kStoreTags] = demand.totals[Quantity::kLoadCycles] = 0;
    const Prediction prediction = PredictTime(demand, OnlyDram());
    Demand alone = demand;
    alone.resident_blocks = 1;
    const Prediction one = PredictTime(alone, OnlyDram());
    EXPECT_GE(prediction.ms, one[Limiter::kDram] * (1 - 1e-9)) << resident;
  }
}

TEST(PredictTime, AWarpAloneInItsBlockWaitsForNobodyAtABarrier) {
  Demand demand = DemandOf(Launch(132, kCopy), H200());
  const double without = PredictTime(demand, H200()).ms;
  demand.totals[Quantity::kBarriers] = 132 * 10;
  EXPECT_DOUBLE_EQ(PredictTime(demand, H200()).ms, without);
  demand.totals[Quantity::kWarps] *= 2;  // Two warps in each block.
  const double barriers = PredictTime(demand, H200())[Limiter::kLatency];
  demand.totals[Quantity::kBarriers] = 0;
  const double ms = 10 * H200().barrier_cycles / 2 / (H200().clock_ghz * 1e6);
  EXPECT_NEAR(barriers - PredictTime(demand, H200())[Limiter::kLatency], ms, 1e-6 * ms);
}

TEST(PredictTime, BlocksThatRunTogetherWaitForDramTogether) {
  Demand demand = DemandOf(Launch(132, kCopy), H200());
  const double own = PredictTime(demand, H200())[Limiter::kLatency];
  demand.read_buffer_bytes = 128;  // All of them read the same line.
  EXPECT_DOUBLE_EQ(PredictTime(demand, H200())[Limiter::kLatency], own);
  Demand late = DemandOf(Launch(132 * 10, kCopy), H200());
  late.resident_blocks = 1;
  const double all_from_dram = PredictTime(late, H200())[Limiter::kLatency];
  late.read_buffer_bytes = 128;  // Nine tenths of the blocks find it in L2.
  const double ms =
      9 * (H200().dram_latency_cycles - H200().l2_latency_cycles) / (H200().clock_ghz * 1e6);
  EXPECT_NEAR(all_from_dram - PredictTime(late, H200())[Limiter::kLatency], ms, 1e-6 * ms);
}

TEST(FindMachine, NamesAllMachinesForABadName) {
  const auto machine = FindMachine("--machine", "h300");
  EXPECT_EQ(machine.status().message(),
            "--machine: 'h300' is not allowed; allowed is one of h200, rtx3080, gtx770m, "
            "tegra_x1, m2090");
}

}  // namespace
}  // namespace stridewise::executor

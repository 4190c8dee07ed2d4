// Requests by hand: where loads are served from, how long a warp waits, which loads are merged.

#include "common/executor/predict/replay.h"

#include <cstdint>
#include <vector>

#include "common/executor/access_record.h"
#include "common/executor/predict/merge_loads.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

// A request of the lanes in `lanes`, of which lane l begins at first + l * stride.
AccessRequest Request(EventKind kind, int bytes, int64_t first, int64_t stride,
                      uint32_t lanes = ~0u) {
  AccessRequest request;
  unsigned log2 = 0;
  while (1 << log2 < bytes) ++log2;
  request.site = MakeSite(1, kind, log2);
  request.lanes = lanes;
  request.buffer = IsShared(kind) ? AccessRequest::kShared : 0;
  for (int lane = 0; lane < kWarpLanes; ++lane) request.offset[lane] = first + stride * lane;
  return request;
}

AccessRequest Load(int64_t first) { return Request(EventKind::kGlobalLoad, 4, first, 4); }
AccessRequest Store(int64_t first) { return Request(EventKind::kGlobalStore, 4, first, 4); }
AccessRequest SharedLoad(int64_t first, int64_t stride = 0) {
  return Request(EventKind::kSharedLoad, 4, first, stride);
}

ReplayOptions Options(int loads_together) {
  ReplayOptions options;
  options.l1_bytes = 1 << 16;
  options.l2_bytes = 1 << 20;
  options.loads_together = loads_together;
  return options;
}

Totals SumOf(const std::vector<AccessRequest>& requests, int loads_together = 8) {
  const ReplayCounts counts = Replay(requests, Options(loads_together));
  Totals all = counts.rounds;
  for (const auto& [site, totals] : counts.sites) all.Add(totals);
  return all;
}

TEST(Replay, AStoreTakesItsSectorsOutOfL1) {
  EXPECT_EQ(SumOf({Load(0), Load(0)})[Quantity::kL2LoadSectors], 4);
  EXPECT_EQ(SumOf({Load(0), Store(0), Load(0)})[Quantity::kL2LoadSectors], 8);
  EXPECT_EQ(SumOf({Load(0), Store(128), Load(0)})[Quantity::kL2LoadSectors], 4);
  EXPECT_EQ(SumOf({Load(0), Store(0), Load(0)})[Quantity::kDramLoadSectors], 4);  // L2 has it.
}

TEST(Replay, ARoundIsAsLongAsItsSlowestLoad) {
  const struct {
    std::vector<AccessRequest> requests;
    int loads_together;
    double l1, l2, dram;
  } kCases[] = {
      {{}, 8, 0, 0, 0},
      {{Load(0), Load(128), Load(256)}, 8, 0, 0, 1},
      {{Load(0), Load(0), Load(0)}, 8, 0, 0, 1},
      {{Load(0), Load(0), Load(0)}, 2, 1, 0, 1},
      {{Load(0), Load(0), Load(0)}, 1, 2, 0, 1},
      {{Load(0), Load(0), Load(0)}, 0, 0, 0, 0},  // Copies that nobody waits for.
      // What was stored comes from L2, and only once the store is there.
      {{Store(0), Load(0)}, 1, 0, 2, 0},
      {{Store(0), Load(0), Load(0)}, 1, 1, 2, 0},
      {{Store(128), Load(0)}, 1, 0, 0, 1},
  };
  for (const auto& c : kCases) {
    const Totals totals = SumOf(c.requests, c.loads_together);
    EXPECT_EQ(totals[Quantity::kL1Rounds], c.l1) << &c - kCases;
    EXPECT_EQ(totals[Quantity::kL2Rounds], c.l2) << &c - kCases;
    EXPECT_EQ(totals[Quantity::kDramRounds], c.dram) << &c - kCases;
  }
}

TEST(Replay, ABarrierEndsARound) {
  AccessRequest after = Load(128);
  after.barriers = 1;
  EXPECT_EQ(SumOf({Load(0), after})[Quantity::kDramRounds], 2);
}

TEST(Replay, ALoadBringsAtMost128BytesToRegistersInACycle) {
  EXPECT_EQ(SumOf({Load(0)})[Quantity::kLoadCycles], 1);
  // Each lane gets a copy of the 8 bytes that all of them read: 256 in all.
  EXPECT_EQ(SumOf({Request(EventKind::kGlobalLoad, 8, 0, 0)})[Quantity::kLoadCycles], 2);
  EXPECT_EQ(SumOf({Request(EventKind::kGlobalLoad, 8, 0, 0, 1)})[Quantity::kLoadCycles], 1);
  EXPECT_EQ(SumOf({Request(EventKind::kGlobalLoad, 4, 0, 128)})[Quantity::kLoadCycles], 32);
  EXPECT_EQ(SumOf({Request(EventKind::kSharedLoad, 16, 0, 0)})[Quantity::kSharedCycles], 4);
  EXPECT_EQ(SumOf({Request(EventKind::kSharedLoad, 16, 0, 0)})[Quantity::kSharedWavefronts], 2);
  EXPECT_EQ(SumOf({SharedLoad(0, 128)})[Quantity::kSharedCycles], 32);
  EXPECT_EQ(SumOf({Request(EventKind::kSharedStore, 4, 0, 4)})[Quantity::kSharedCycles], 1);
}

// Warps that each load and then store, all of one block. Lane l of warp w loads from
// load_warp * w + load_lane * l, and so with stores.
Totals SumOfCopies(int warps, int64_t load_warp, int64_t load_lane, int64_t store_warp,
                   int64_t store_lane) {
  std::vector<AccessRequest> requests;
  for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
    for (int warp = 0; warp < warps; ++warp) {
      const bool load = kind == EventKind::kGlobalLoad;
      requests.push_back(Request(kind, 4, warp * (load ? load_warp : store_warp),
                                 load ? load_lane : store_lane, 0xffffu));
      requests.back().warp = warp;
      requests.back().buffer = load ? 0 : 1;
    }
  }
  return SumOf(requests);
}

TEST(Replay, CombinesStoresOfWarpsThatWaitedForTheSameSectors) {
  const struct {
    int warps;
    int64_t load_warp, load_lane, store_warp, store_lane;
    double partial, full;
  } kCases[] = {
      {1, 4, 1024, 4, 1024, 16, 0},
      {2, 4, 1024, 4, 1024, 16, 0},     // Columns side by side, of 16 rows: two reach L2 as one.
      {4, 4, 1024, 4, 1024, 32, 0},     // The third is too late for the first, not for the fourth.
      {2, 1024, 4, 4, 1024, 32, 0},     // From a row each: they do not come together.
      {2, 4, 1024, 2048, 4, 0, 4},      // Whole sectors need no other.
      {2, 4, 1024, 1024, 4096, 32, 0},  // To sectors of their own.
  };
  for (const auto& c : kCases) {
    const Totals totals =
        SumOfCopies(c.warps, c.load_warp, c.load_lane, c.store_warp, c.store_lane);
    EXPECT_EQ(totals[Quantity::kPartialStoreSectors], c.partial) << &c - kCases;
    EXPECT_EQ(totals[Quantity::kFullStoreSectors], c.full) << &c - kCases;
  }
}

TEST(Replay, StoresThatFillASectorTogetherWriteItWhole) {
  // Two warps, each with half of every sector of two rows.
  std::vector<AccessRequest> requests = {Load(0), Load(0), Store(0), Store(0)};
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].warp = static_cast<int>(i % 2);
    requests[i].lanes = i < 2 ? ~0u : i % 2 == 0 ? 0x0f0f0f0fu : 0xf0f0f0f0u;
  }
  const Totals totals = SumOf(requests);
  EXPECT_EQ(totals[Quantity::kPartialStoreSectors], 0);
  EXPECT_EQ(totals[Quantity::kFullStoreSectors], 4);
}

std::vector<int> BytesOfMerged(const std::vector<AccessRequest>& requests, int most_bytes) {
  std::vector<int> bytes;
  for (const AccessRequest& request : MergeSharedLoads(requests, most_bytes)) {
    bytes.push_back(SiteBytes(request.site));
  }
  return bytes;
}

TEST(MergeSharedLoads, MergesNeighboursUpToTheWidth) {
  const std::vector<AccessRequest> row = {SharedLoad(0), SharedLoad(4), SharedLoad(8),
                                          SharedLoad(12), SharedLoad(16)};
  EXPECT_EQ(BytesOfMerged(row, 16), (std::vector<int>{16, 4}));
  EXPECT_EQ(BytesOfMerged(row, 8), (std::vector<int>{8, 8, 4}));
  EXPECT_EQ(BytesOfMerged(row, 4), (std::vector<int>{4, 4, 4, 4, 4}));
  EXPECT_EQ(BytesOfMerged(row, 0), (std::vector<int>{4, 4, 4, 4, 4}));
}

TEST(MergeSharedLoads, ReachesOverLoadsFromElsewhere) {
  // A row of one tile and a column of another, as products read them.
  std::vector<AccessRequest> requests;
  for (int i = 0; i < 4; ++i) {
    requests.push_back(SharedLoad(i * 4));
    requests.push_back(SharedLoad(4096 + i * 128, 4));
  }
  EXPECT_EQ(BytesOfMerged(requests, 16), (std::vector<int>{16, 4, 4, 4, 4}));
}

TEST(MergeSharedLoads, LeavesWhatACompilerCannotMerge) {
  AccessRequest after = SharedLoad(4), other_warp = SharedLoad(4), fewer_lanes = SharedLoad(4);
  after.barriers = 1;
  other_warp.warp = 1;
  fewer_lanes.lanes = 1;
  EXPECT_EQ(BytesOfMerged({SharedLoad(0), after}, 8).size(), 2u);
  EXPECT_EQ(BytesOfMerged({SharedLoad(0), other_warp}, 8).size(), 2u);
  EXPECT_EQ(BytesOfMerged({SharedLoad(0), fewer_lanes}, 8).size(), 2u);
  EXPECT_EQ(BytesOfMerged({SharedLoad(4), SharedLoad(8)}, 8).size(), 2u);  // Not aligned.
  EXPECT_EQ(BytesOfMerged({SharedLoad(0, 4), SharedLoad(4, 4)}, 8).size(), 2u);
  EXPECT_EQ(BytesOfMerged({Load(0), Load(4)}, 8).size(), 2u);  // Of global memory.
}

}  // namespace
}  // namespace stridewise::executor

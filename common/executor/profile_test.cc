#include "common/executor/profile.h"

#include <cstdint>
#include <functional>
#include <vector>

#include "common/executor/trace.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};

void Count(Profile* profile, uintptr_t pc, EventKind kind, uint32_t lanes, uint64_t stride) {
  uint64_t address[kWarpLanes];
  for (int lane = 0; lane < kWarpLanes; ++lane) address[lane] = stride * lane;
  profile->Count(MakeSite(pc, kind, 2), lanes, address);
}

MemoryCounters AllFields(uint64_t factor) {
  MemoryCounters c;
  c.requests = 1 * factor;
  c.lanes = 2 * factor;
  c.requested_bytes = 3 * factor;
  c.distinct_bytes = 4 * factor;
  c.sectors = 5 * factor;
  c.lines = 6 * factor;
  c.ideal_sectors = 7 * factor;
  c.wavefronts = 8 * factor;
  c.ideal_wavefronts = 9 * factor;
  c.max_wavefronts = static_cast<uint32_t>(10 * factor);
  return c;
}

TEST(Profile, CountsGlobalRequests) {
  Profile profile;
  Count(&profile, 100, EventKind::kGlobalLoad, kAll, 4);
  Count(&profile, 100, EventKind::kGlobalLoad, 0xff, 32);
  const MemoryCounters c = profile.sites.at(MakeSite(100, EventKind::kGlobalLoad, 2));
  EXPECT_EQ(c.requests, 2);
  EXPECT_EQ(c.lanes, 40);
  EXPECT_EQ(c.requested_bytes, 160);
  EXPECT_EQ(c.distinct_bytes, 160);
  EXPECT_EQ(c.sectors, 4 + 8);
  EXPECT_EQ(c.lines, 1 + 2);
  EXPECT_EQ(c.ideal_sectors, 4 + 1);
  EXPECT_EQ(c.wavefronts, 0);
  EXPECT_EQ(c.ideal_wavefronts, 0);
  EXPECT_EQ(c.max_wavefronts, 0);
  EXPECT_DOUBLE_EQ(c.SectorEfficiency(), 160.0 / (12 * 32));
  EXPECT_EQ(c.SectorsPerRequest(), 6);
}

TEST(Profile, CountsSharedRequests) {
  Profile profile;
  Count(&profile, 100, EventKind::kSharedLoad, kAll, 128);
  Count(&profile, 100, EventKind::kSharedLoad, kAll, 0);
  const MemoryCounters c = profile.sites.at(MakeSite(100, EventKind::kSharedLoad, 2));
  EXPECT_EQ(c.requests, 2);
  EXPECT_EQ(c.lanes, 64);
  EXPECT_EQ(c.requested_bytes, 256);
  EXPECT_EQ(c.distinct_bytes, 132);
  EXPECT_EQ(c.wavefronts, 33);
  EXPECT_EQ(c.ideal_wavefronts, 2);
  EXPECT_EQ(c.max_wavefronts, 32);
  EXPECT_EQ(c.bank_conflicts(), 31);
  EXPECT_EQ(c.WavefrontsPerRequest(), 16.5);
  EXPECT_EQ(c.sectors, 0);
  EXPECT_EQ(c.lines, 0);
  EXPECT_EQ(c.ideal_sectors, 0);
}

TEST(Profile, SharedStoresDoNotPairLanes) {
  const uint64_t address[kWarpLanes] = {};
  const struct {
    EventKind kind;
    uint64_t wavefronts;
  } cases[] = {{EventKind::kSharedLoad, 1}, {EventKind::kSharedStore, 2}};
  for (const auto& c : cases) {
    Profile profile;
    profile.Count(MakeSite(100, c.kind, 3), kAll, address);
    EXPECT_EQ(profile.Total(c.kind).wavefronts, c.wavefronts);
  }
}

TEST(Profile, CountsBasicBlocksApart) {
  Profile profile;
  Count(&profile, 100, EventKind::kBasicBlock, kAll, 0);
  Count(&profile, 100, EventKind::kBasicBlock, 0x7, 0);
  EXPECT_EQ(profile.issued_blocks, 2);
  EXPECT_EQ(profile.issued_block_lanes, 35);
  EXPECT_TRUE(profile.sites.empty());
}

TEST(Profile, NoLanesAreNoRequest) {
  Profile profile;
  Count(&profile, 100, EventKind::kGlobalLoad, 0, 4);
  Count(&profile, 100, EventKind::kBasicBlock, 0, 4);
  EXPECT_EQ(profile, Profile());
}

TEST(Profile, TotalSumsTheSitesOfOneKind) {
  const EventKind kinds[] = {EventKind::kGlobalLoad,   EventKind::kGlobalStore,
                             EventKind::kGlobalAtomic, EventKind::kSharedLoad,
                             EventKind::kSharedStore,  EventKind::kSharedAtomic,
                             EventKind::kSharedCopy};
  Profile profile;
  uint64_t requests = 0;
  for (const EventKind kind : kinds) {
    ++requests;  // A different number of each kind, all at two places.
    for (uint64_t i = 0; i < requests; ++i) {
      Count(&profile, 100, kind, kAll, 4);
      Count(&profile, 200, kind, kAll, 4);
    }
  }
  EXPECT_EQ(profile.sites.size(), 14);
  requests = 0;
  for (const EventKind kind : kinds) {
    ++requests;
    const MemoryCounters total = profile.Total(kind);
    const bool shared = kind >= EventKind::kSharedLoad;
    EXPECT_EQ(total.requests, 2 * requests);
    EXPECT_EQ(total.sectors, shared ? 0 : 8 * requests);
    EXPECT_EQ(total.wavefronts, shared ? 2 * requests : 0);
  }
  EXPECT_EQ(Profile().Total(EventKind::kGlobalLoad), MemoryCounters());
}

TEST(MemoryCounters, RatiosOfNothing) {
  const MemoryCounters none;
  EXPECT_EQ(none.SectorEfficiency(), 1);
  EXPECT_EQ(none.SectorsPerRequest(), 0);
  EXPECT_EQ(none.WavefrontsPerRequest(), 0);
}

TEST(MemoryCounters, AddSumsAllFieldsAndKeepsTheWorst) {
  MemoryCounters sum = AllFields(3);
  sum.Add(AllFields(2));
  MemoryCounters expected = AllFields(5);
  expected.max_wavefronts = 30;
  EXPECT_EQ(sum, expected);
}

TEST(MemoryCounters, EqualityLooksAtEveryField) {
  const std::vector<std::function<void(MemoryCounters*)>> changes = {
      [](MemoryCounters* c) { ++c->requests; },
      [](MemoryCounters* c) { ++c->lanes; },
      [](MemoryCounters* c) { ++c->requested_bytes; },
      [](MemoryCounters* c) { ++c->distinct_bytes; },
      [](MemoryCounters* c) { ++c->sectors; },
      [](MemoryCounters* c) { ++c->lines; },
      [](MemoryCounters* c) { ++c->ideal_sectors; },
      [](MemoryCounters* c) { ++c->wavefronts; },
      [](MemoryCounters* c) { ++c->ideal_wavefronts; },
      [](MemoryCounters* c) { ++c->max_wavefronts; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    MemoryCounters changed = AllFields(1);
    changes[i](&changed);
    EXPECT_FALSE(changed == AllFields(1)) << i;
  }
  EXPECT_EQ(AllFields(1), AllFields(1));
}

// Two profiles with a site in common and one each of its own.
Profile Some() {
  Profile profile;
  Count(&profile, 100, EventKind::kGlobalLoad, kAll, 4);
  Count(&profile, 200, EventKind::kSharedLoad, kAll, 128);
  Count(&profile, 300, EventKind::kBasicBlock, kAll, 0);
  profile.warps = 1;
  profile.divergent_warps = 2;
  profile.divergent_branches = 3;
  profile.barriers = 4;
  profile.events = 5;
  return profile;
}

Profile Other() {
  Profile profile;
  Count(&profile, 200, EventKind::kSharedLoad, kAll, 8);
  Count(&profile, 400, EventKind::kGlobalStore, 0xff, 64);
  Count(&profile, 300, EventKind::kBasicBlock, 1, 0);
  profile.warps = 10;
  profile.divergent_warps = 20;
  profile.divergent_branches = 30;
  profile.barriers = 40;
  profile.events = 50;
  return profile;
}

TEST(Profile, AddIsCommutativeAndSumsEverything) {
  Profile sum = Some();
  sum.Add(Other());
  Profile reversed = Other();
  reversed.Add(Some());
  EXPECT_EQ(sum, reversed);

  EXPECT_EQ(sum.sites.size(), 3);
  const MemoryCounters both = sum.Total(EventKind::kSharedLoad);
  EXPECT_EQ(both.requests, 2);
  EXPECT_EQ(both.wavefronts, 32 + 2);
  EXPECT_EQ(both.max_wavefronts, 32);
  EXPECT_EQ(sum.warps, 11);
  EXPECT_EQ(sum.divergent_warps, 22);
  EXPECT_EQ(sum.divergent_branches, 33);
  EXPECT_EQ(sum.barriers, 44);
  EXPECT_EQ(sum.events, 55);
  EXPECT_EQ(sum.issued_blocks, 2);
  EXPECT_EQ(sum.issued_block_lanes, 33);

  Profile unchanged = Some();
  unchanged.Add(Profile());
  EXPECT_EQ(unchanged, Some());
}

TEST(Profile, EqualityLooksAtEveryField) {
  const std::vector<std::function<void(Profile*)>> changes = {
      [](Profile* p) { ++p->sites.begin()->second.requests; },
      [](Profile* p) { p->sites.erase(p->sites.begin()); },
      [](Profile* p) { ++p->warps; },
      [](Profile* p) { ++p->divergent_warps; },
      [](Profile* p) { ++p->divergent_branches; },
      [](Profile* p) { ++p->barriers; },
      [](Profile* p) { ++p->events; },
      [](Profile* p) { ++p->issued_blocks; },
      [](Profile* p) { ++p->issued_block_lanes; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Profile changed = Some();
    changes[i](&changed);
    EXPECT_FALSE(changed == Some()) << i;
  }
  EXPECT_EQ(Some(), Some());
}

}  // namespace
}  // namespace stridewise::executor

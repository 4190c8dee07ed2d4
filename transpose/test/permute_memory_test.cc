// What the kernels of Permute() do to memory, on the host executor: the counts that their speed
// depends on.

#include <algorithm>
#include <cstdint>

#include "common/executor/profile.h"
#include "gtest/gtest.h"
#include "transpose/permute.h"
#include "transpose/permute_blocks_plan.h"
#include "transpose/permute_flat_plan.h"
#include "transpose/permute_joined_plan.h"
#include "transpose/permute_plan.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/test/permute_executor_fixture.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace executor {
LaunchStatus PermuteBlocks(const PermuteArgs& args);
LaunchStatus PermuteFlat(const PermuteArgs& args);
LaunchStatus PermuteInterleave(const PermuteArgs& args);
LaunchStatus PermuteJoined(const PermuteArgs& args);
LaunchStatus PermuteRowBytes(const PermuteArgs& args);
LaunchStatus PermuteTiles(const PermuteArgs& args);
}  // namespace executor

namespace {

using executor::EventKind;

class PermuteMemoryTest : public PermuteExecutorFixture {
 protected:
  // Runs the kernel on the canonical form of the case and checks the result.
  template <typename Kernel>
  executor::Profile ProfileOf(const PermuteCase& c, Kernel kernel) {
    SCOPED_TRACE(testing::Message() << c);
    RunWith(c, [&](const PermuteArgs& canonical) {
      vectors_ = static_cast<double>(Elements(canonical) * canonical.element_bytes) / 512;
      return kernel(canonical);
    });
    const auto& launches = executor_->launches();
    return launches.empty() ? executor::Profile() : launches.back().profile;
  }

  executor::Profile FlatProfileOf(const PermuteCase& c) {
    return ProfileOf(c, [](PermuteArgs args) {
      PermuteFlatLimits limits = FlatLimitsFor(args);
      limits.least_bytes = limits.most_bytes;  // As a large tensor's tiles.
      args.flat_limits = &limits;
      EXPECT_TRUE(IsFlat(args));
      return executor::PermuteFlat(args);
    });
  }
  executor::Profile TileProfileOf(const PermuteCase& c) {
    return ProfileOf(c, [](PermuteArgs args) {
      PermuteTileLimits limits;
      limits.least_bytes = limits.most_bytes;
      args.limits = &limits;
      return executor::PermuteTiles(args);
    });
  }

  executor::Profile JoinedProfileOf(const PermuteCase& c) {
    return ProfileOf(c, [](PermuteArgs args) {
      PermuteJoinedLimits limits;
      limits.least_bytes = limits.most_bytes;
      args.joined_limits = &limits;
      EXPECT_TRUE(CanJoinColumns(args));
      return executor::PermuteJoined(args);
    });
  }
  executor::Profile RowBytesProfileOf(const PermuteCase& c) {
    return ProfileOf(c, [](const PermuteArgs& args) {
      EXPECT_TRUE(KeepsRowsOfBytes(args));
      return executor::PermuteRowBytes(args);
    });
  }

  executor::Profile BlocksProfileOf(const PermuteCase& c) {
    return ProfileOf(c, [](PermuteArgs args) {
      PermuteBlocksLimits limits;
      limits.blocks_of_device = 1;
      args.blocks_limits = &limits;
      EXPECT_TRUE(HasBlocks(args));
      return executor::PermuteBlocks(args);
    });
  }

  // Of 512 bytes, which a warp stores at once.
  double OfVectors(uint64_t count) const { return static_cast<double>(count) / vectors_; }

  double vectors_ = 0;
};

// A warp's store costs about as long as it touches cache lines, and a sector more for each that it
// has in part. 512 bytes in whole lines are 4 lines and 16 sectors; runs that begin anywhere share
// lines. permute_tile's runs of `out` end where a dimension does.
TEST_F(PermuteMemoryTest, FlatTilesStoreFewLinesAndWholeSectors) {
  const struct {
    PermuteCase c;
    double most_lines;
    double most_sectors;
    double least_tile_lines;
  } cases[] = {
      {{{197, 9, 3, 10, 18}, {4, 2, 3, 1, 0}, 1}, 9.5, 18.5, 20},
      {{{14, 123, 16, 126}, {3, 2, 1, 0}, 1}, 9.5, 18.5, 11},
      {{{3, 11, 21, 18, 48, 7}, {0, 5, 4, 1, 3, 2}, 2}, 8.5, 17.5, 11},
      {{{4, 128, 16, 96}, {2, 3, 1, 0}, 2}, 5, 16, 10},
      {{{1, 6, 4, 52, 16, 29}, {0, 5, 4, 3, 1, 2}, 8}, 5, 16, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.c);
    const auto stores = FlatProfileOf(c.c).Total(EventKind::kGlobalStore);
    EXPECT_LE(OfVectors(stores.lines), c.most_lines);
    EXPECT_LE(OfVectors(stores.sectors), c.most_sectors);
    const auto tile_stores = TileProfileOf(c.c).Total(EventKind::kGlobalStore);
    EXPECT_GE(OfVectors(tile_stores.lines), c.least_tile_lines);
  }
}

// Where rows begin is loaded two to sixteen places at a time, and neighbouring vectors lie in
// different banks. Elements of 1 and 2 bytes are gathered one by one, from rows that begin
// anywhere.
TEST_F(PermuteMemoryTest, FlatGathersHaveFewConflicts) {
  const struct {
    PermuteCase c;
    double most_requests;
    double most_wavefronts;
  } cases[] = {
      {{{197, 9, 3, 10, 18}, {4, 2, 3, 1, 0}, 1}, 40, 95},
      {{{14, 123, 16, 126}, {3, 2, 1, 0}, 1}, 40, 55},
      {{{3, 11, 21, 18, 48, 7}, {0, 5, 4, 1, 3, 2}, 2}, 20, 30},
      {{{4, 128, 16, 96}, {2, 3, 1, 0}, 2}, 17, 20},
      {{{1, 6, 4, 52, 16, 29}, {0, 5, 4, 3, 1, 2}, 8}, 9, 12},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.c);
    const auto loads = FlatProfileOf(c.c).Total(EventKind::kSharedLoad);
    EXPECT_LE(OfVectors(loads.requests), c.most_requests);
    EXPECT_LE(OfVectors(loads.wavefronts), c.most_wavefronts);
  }
}

// What the threads of a warp gather at the same time is chosen by counting, so that loads wait for
// fewer banks than with four neighbouring vectors of eight rows.
TEST_F(PermuteMemoryTest, ChosenLanesHaveFewConflicts) {
  const struct {
    PermuteCase c;
    double most_share;  // Of the wavefronts without the choice.
  } cases[] = {
      {{{12, 8, 48, 8, 12}, {2, 0, 4, 1, 3}, 1}, 0.9},
      {{{41, 6, 196, 14}, {1, 3, 2, 0}, 1}, 0.8},
      {{{4, 3, 2048, 8}, {1, 0, 3, 2}, 2}, 1},
      {{{25, 3, 3, 56, 8, 4}, {5, 1, 3, 2, 0, 4}, 2}, 1},
  };
  for (const auto& c : cases) {
    uint64_t wavefronts[2] = {};
    for (const bool lanes : {false, true}) {
      wavefronts[lanes ? 1 : 0] = ProfileOf(c.c,
                                            [lanes](PermuteArgs args) {
                                              PermuteTileLimits limits;
                                              limits.least_bytes = limits.most_bytes;
                                              limits.lanes = lanes;
                                              args.limits = &limits;
                                              return executor::PermuteTiles(args);
                                            })
                                      .Total(EventKind::kSharedLoad)
                                      .wavefronts;
    }
    EXPECT_LE(static_cast<double>(wavefronts[1]), c.most_share * static_cast<double>(wavefronts[0]))
        << c.c;
  }
}

// Few rows of which columns are joined are stored as long parts, and gathered from rows that begin
// in different banks: permute_tile stores as few lines, with up to seven times the conflicts.
TEST_F(PermuteMemoryTest, JoinedColumnsHaveFewConflicts) {
  const struct {
    PermuteCase c;
    double most_lines;
    double most_wavefronts;
  } cases[] = {
      {{{5, 6, 24, 8, 23, 28}, {1, 4, 2, 5, 3, 0}, 1}, 5.7, 56},
      {{{16, 32, 16, 64}, {1, 0, 3, 2}, 1}, 4, 40},
      {{{60, 8, 9, 63}, {1, 2, 3, 0}, 1}, 5, 62},
      {{{23, 7, 40, 30}, {1, 2, 3, 0}, 2}, 5, 52},
      {{{25, 74, 3, 64}, {1, 2, 3, 0}, 2}, 5, 53},
      {{{11, 6, 5, 480}, {1, 2, 3, 0}, 4}, 5, 15},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.c);
    const executor::Profile profile = JoinedProfileOf(c.c);
    const auto stores = profile.Total(EventKind::kGlobalStore);
    const auto loads = profile.Total(EventKind::kSharedLoad);
    EXPECT_LE(OfVectors(stores.lines), c.most_lines);
    EXPECT_LE(OfVectors(stores.sectors), 17);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kGlobalLoad).sectors), 22);
    EXPECT_LE(OfVectors(loads.wavefronts), c.most_wavefronts);
    const auto tile_loads = TileProfileOf(c.c).Total(EventKind::kSharedLoad);
    EXPECT_LE(loads.wavefronts, tile_loads.wavefronts + tile_loads.wavefronts / 4);
  }
}

// Odd rows of bytes are stored as whole vectors, and all that is in shared memory is where rows
// begin. permute_tile loads bytes from there one at a time, in conflicts: 120 to 410 wavefronts.
TEST_F(PermuteMemoryTest, RowsOfBytesAreShiftedInRegisters) {
  for (const PermuteCase& c :
       {PermuteCase{{35, 9, 1469}, {1, 0, 2}, 1}, PermuteCase{{35, 9, 5, 195}, {1, 0, 2, 3}, 2}}) {
    SCOPED_TRACE(testing::Message() << c);
    const executor::Profile profile = RowBytesProfileOf(c);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kGlobalStore).sectors), 16.1);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kGlobalStore).requests), 1.05);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kGlobalLoad).requests), 2.7);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kSharedLoad).wavefronts), 2.5);
    const auto tile_loads = TileProfileOf(c).Total(EventKind::kSharedLoad);
    EXPECT_GE(OfVectors(tile_loads.wavefronts), 120);
  }
}

// Blocks are stored as whole vectors, wherever in `in` they lie.
TEST_F(PermuteMemoryTest, BlocksAreStoredAsVectors) {
  for (const PermuteCase& c : {PermuteCase{{16, 24, 3, 43}, {1, 0, 3, 2}, 1},
                               PermuteCase{{13, 6, 41, 15, 14}, {2, 1, 0, 4, 3}, 1},
                               PermuteCase{{31, 46, 10, 6}, {1, 0, 3, 2}, 2}}) {
    SCOPED_TRACE(testing::Message() << c);
    const executor::Profile profile = BlocksProfileOf(c);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kGlobalStore).lines), 5);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kGlobalStore).requests), 1.1);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kGlobalLoad).sectors), 20.5);
    EXPECT_LE(OfVectors(profile.Total(EventKind::kSharedLoad).wavefronts), 105);
  }
}

// Planes are loaded, and the result is stored, as whole vectors and sectors. What passes through
// shared memory does so without conflicts, and no block waits.
TEST_F(PermuteMemoryTest, InterleavedPlanesAreWholeVectors) {
  const PermuteCase patches = {{4, 3, 7, 32, 7, 32}, {0, 2, 4, 3, 5, 1}, 2};
  const executor::Profile profile = ProfileOf(patches, [](const PermuteArgs& args) {
    EXPECT_EQ(InterleavedBytes(args), 16);
    return executor::PermuteInterleave(args);
  });
  for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
    EXPECT_EQ(profile.Total(kind).SectorEfficiency(), 1);
    EXPECT_NEAR(OfVectors(profile.Total(kind).requests), 1, 0.05);
  }
  EXPECT_NEAR(OfVectors(profile.Total(EventKind::kGlobalStore).lines), 4, 0.1);
  for (const EventKind kind : {EventKind::kSharedLoad, EventKind::kSharedStore}) {
    EXPECT_EQ(profile.Total(kind).bank_conflicts(), 0u);
    EXPECT_NEAR(OfVectors(profile.Total(kind).requests), 1, 0.05);
  }
  EXPECT_EQ(profile.barriers, 0u);
}

}  // namespace
}  // namespace stridewise

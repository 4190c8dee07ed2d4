// What tile_vector and tile_ragged do to memory, on the host executor: whole sectors on both sides,
// and few bank conflicts whatever the leading dimensions.

#include <cstdint>

#include "common/base/case_random.h"
#include "common/executor/profile.h"
#include "gtest/gtest.h"
#include "transpose/test/executor_fixture.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

using executor::EventKind;

using TransposeTilesMemoryTest = TransposeOnExecutorTest;

// 512 bytes a warp on both sides and in shared memory. Of pieces of 4 bytes, of which a warp stores
// 32, two are in each bank.
TEST_F(TransposeTilesMemoryTest, VectorsAreWholeSectorsWithoutConflicts) {
  const struct {
    int64_t element_bytes;
    int64_t extent;
    double store_wavefronts;
  } cases[] = {{1, 512, 1},  {1, 2048, 2}, {2, 512, 1}, {4, 512, 2},
               {4, 1152, 4}, {8, 512, 2},  {16, 512, 4}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.extent << ", " << c.element_bytes << " bytes");
    const executor::Profile profile =
        ProfileOf("tile_vector", {c.extent, c.extent, 0}, c.element_bytes);
    for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
      EXPECT_EQ(profile.Total(kind).SectorEfficiency(), 1);
      EXPECT_EQ(profile.Total(kind).SectorsPerRequest(), 16);
    }
    EXPECT_EQ(profile.Total(EventKind::kSharedLoad).bank_conflicts(), 0u);
    EXPECT_EQ(profile.Total(EventKind::kSharedLoad).WavefrontsPerRequest(), 4);
    EXPECT_EQ(profile.Total(EventKind::kSharedStore).WavefrontsPerRequest(), c.store_wavefronts);
  }
}

// Rows that start anywhere are loaded in chunks of 16 bytes, of which at most the two at the ends
// of a tile's row are needed in part. Out rows of whole sectors are stored as whole sectors.
TEST_F(TransposeTilesMemoryTest, RaggedRowsAreMovedInWholeSectors) {
  for (const int64_t element_bytes : {1, 2, 4, 8}) {
    for (const int64_t more : {0, 1, 2, 3, 4, 5, 8, 12, 15}) {
      const executor::Profile profile =
          ProfileOf("tile_ragged", {512, 512 + more, 0}, element_bytes);
      const auto load = profile.Total(EventKind::kGlobalLoad);
      EXPECT_GE(load.SectorEfficiency(), 0.9) << more << ", " << element_bytes;
      EXPECT_GE(load.SectorsPerRequest(), 13) << more << ", " << element_bytes;
      EXPECT_EQ(profile.Total(EventKind::kGlobalStore).SectorEfficiency(), 1)
          << more << ", " << element_bytes;
    }
  }
}

// Elements of 1 and 2 bytes are gathered one by one and must not conflict, unless eight vectors of
// a warp begin in one bank (rows that are whole chunks, or of bytes an odd number of halves of
// them): then at most two may be in one bank, or four where all rows of bytes begin with a chunk.
// With 4 and 8 bytes four may be in one bank: their gathers take at most a quarter of the shared
// memory's time. By default, each element size takes a quarter of all pairs of extents.
TEST_F(TransposeTilesMemoryTest, GathersOfSmallElementsHaveFewConflicts) {
  constexpr int64_t kExtents[] = {256, 257, 258, 259, 260, 264, 269, 271};
  int64_t number = 0;
  for (const int64_t element_bytes : {1, 2, 4, 8}) {
    ++number;
    for (const int64_t rows : kExtents) {
      ++number;
      for (const int64_t cols : kExtents) {
        if (number++ % CaseCount(4, 1) != 0) continue;
        const bool whole_chunks = cols * element_bytes % 16 == 0;
        const bool in_one_bank = whole_chunks || (element_bytes == 1 && cols % 8 == 0);
        const double most = element_bytes >= 4 || (element_bytes == 1 && whole_chunks) ? 4
                            : in_one_bank                                              ? 2
                                                                                       : 1.3;
        const executor::Profile profile = ProfileOf("tile_ragged", {rows, cols, 0}, element_bytes);
        EXPECT_LE(profile.Total(EventKind::kSharedLoad).WavefrontsPerRequest(), most)
            << rows << "x" << cols << ", " << element_bytes << " bytes";
      }
    }
  }
}

}  // namespace
}  // namespace stridewise

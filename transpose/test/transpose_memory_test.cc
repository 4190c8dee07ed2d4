// What each copy and transpose does to memory at 256 x 256, as counts that follow from its access
// pattern: lost coalescing or padding fails here, whatever it costs in time.

#include <cstdint>
#include <string>
#include <vector>

#include "common/executor/executor.h"
#include "common/executor/profile.h"
#include "common/gpu/launch_geometry.h"
#include "gtest/gtest.h"
#include "transpose/registry.h"
#include "transpose/test/executor_fixture.h"

namespace stridewise {
namespace {

using executor::EventKind;

constexpr int64_t kExtent = 256;
// The number of loads, and of stores: a warp moves 32 elements at a time, and every warp is full.
constexpr uint64_t kRequests = kExtent * kExtent / 32;

// Returns the sectors of 32 bytes that a warp touches which moves `elements` neighbours in each of
// `rows` rows, each of which starts at a multiple of its size or of 32 bytes.
int64_t Sectors(int64_t rows, int64_t elements, int64_t element_bytes = 4) {
  return rows * CeilDiv(elements * element_bytes, 32);
}

struct MemoryCase {
  const char* kernel;
  Block block;
  int64_t element_bytes;
  // Averages over requests.
  int64_t load_sectors;
  int64_t store_sectors;
  int64_t shared_load_wavefronts;  // 0: no shared memory.
  int64_t shared_store_wavefronts;
};

constexpr Block k16x16 = {16, 16};
constexpr Block k32x8 = {32, 8};
constexpr Block k8x32 = {8, 32};
constexpr Block k32x16 = {32, 16};
constexpr Block k32x32 = {32, 32};

// A warp of a 16x16 block is 2 rows of 16 threads; of 32x8, a row of 32; of 8x32, 4 rows of 8.
// Along rows it takes that number of rows with that number of neighbours, along columns the two are
// exchanged.
const MemoryCase kGlobalMemory[] = {
    {"copy_row", k16x16, 4, Sectors(2, 16), Sectors(2, 16), 0, 0},
    {"copy_row", k32x8, 4, Sectors(1, 32), Sectors(1, 32), 0, 0},
    {"copy_row", k8x32, 4, Sectors(4, 8), Sectors(4, 8), 0, 0},
    {"copy_col", k16x16, 4, Sectors(16, 2), Sectors(16, 2), 0, 0},
    {"copy_col", k32x8, 4, Sectors(32, 1), Sectors(32, 1), 0, 0},
    {"copy_col", k8x32, 4, Sectors(8, 4), Sectors(8, 4), 0, 0},
    {"naive_row", k16x16, 4, Sectors(2, 16), Sectors(16, 2), 0, 0},
    {"naive_row", k32x8, 4, Sectors(1, 32), Sectors(32, 1), 0, 0},
    {"naive_row", k8x32, 4, Sectors(4, 8), Sectors(8, 4), 0, 0},
    {"naive_col", k16x16, 4, Sectors(16, 2), Sectors(2, 16), 0, 0},
    {"naive_col", k32x8, 4, Sectors(32, 1), Sectors(1, 32), 0, 0},
    {"naive_col", k8x32, 4, Sectors(8, 4), Sectors(4, 8), 0, 0},
    // Neither the number of elements a thread nor the order of blocks changes what a warp touches.
    {"unroll4_row", k16x16, 4, Sectors(2, 16), Sectors(16, 2), 0, 0},
    {"unroll4_row", k32x8, 4, Sectors(1, 32), Sectors(32, 1), 0, 0},
    {"unroll4_col", k16x16, 4, Sectors(16, 2), Sectors(2, 16), 0, 0},
    {"unroll4_col", k32x8, 4, Sectors(32, 1), Sectors(1, 32), 0, 0},
    {"diagonal_row", k16x16, 4, Sectors(2, 16), Sectors(16, 2), 0, 0},
    {"diagonal_row", k32x8, 4, Sectors(1, 32), Sectors(32, 1), 0, 0},
    {"diagonal_col", k16x16, 4, Sectors(16, 2), Sectors(2, 16), 0, 0},
    {"diagonal_col", k32x8, 4, Sectors(32, 1), Sectors(1, 32), 0, 0},
    // Larger elements fill more of the sectors; the strided side costs the same for all.
    {"naive_row", k32x8, 1, Sectors(1, 32, 1), Sectors(32, 1, 1), 0, 0},
    {"naive_row", k32x8, 2, Sectors(1, 32, 2), Sectors(32, 1, 2), 0, 0},
    {"naive_row", k32x8, 8, Sectors(1, 32, 8), Sectors(32, 1, 8), 0, 0},
    {"naive_row", k32x8, 16, Sectors(1, 32, 16), Sectors(32, 1, 16), 0, 0},
    {"naive_col", k16x16, 1, Sectors(16, 2, 1), Sectors(2, 16, 1), 0, 0},
    {"naive_col", k16x16, 2, Sectors(16, 2, 2), Sectors(2, 16, 2), 0, 0},
    {"naive_col", k16x16, 8, Sectors(16, 2, 8), Sectors(2, 16, 8), 0, 0},
    {"naive_col", k16x16, 16, Sectors(16, 2, 16), Sectors(2, 16, 16), 0, 0},
};

// Both global sides are rows. Shared memory has 32 banks of 4 bytes: wavefronts are the most
// elements that a warp wants from one bank.
const MemoryCase kSharedMemory[] = {
    // Rows on both sides.
    {"copy_shared", k32x8, 4, Sectors(1, 32), Sectors(1, 32), 1, 1},
    {"copy_shared_square", k32x32, 4, Sectors(1, 32), Sectors(1, 32), 1, 1},
    // A column of a tile whose rows are 32 long lies in one bank.
    {"tile_square", k32x32, 4, Sectors(1, 32), Sectors(1, 32), 32, 1},
    {"tile_store_conflicts", k32x32, 4, Sectors(1, 32), Sectors(1, 32), 1, 32},
    // With rows of 33, element (x, y) lies in bank (33 x + y) % 32 = (x + y) % 32.
    {"tile_square_padded", k32x32, 4, Sectors(1, 32), Sectors(1, 32), 1, 1},
    {"tile_unrolled", k32x8, 4, Sectors(1, 32), Sectors(1, 32), 1, 1},
    // In bank y ^ x, which for any y is a permutation of x.
    {"tile_swizzled", k32x8, 4, Sectors(1, 32), Sectors(1, 32), 1, 1},
    {"tile_persistent", k32x8, 4, Sectors(1, 32), Sectors(1, 32), 1, 1},
    // Two columns, y and y + 1, of 16 rows of 32: in two banks.
    {"tile_rectangular", k32x16, 4, Sectors(1, 32), Sectors(2, 16), 16, 1},
    // With rows of 34, in banks 2 x + y and 2 x + y + 1: the even and the odd ones.
    {"tile_rectangular_padded", k32x16, 4, Sectors(1, 32), Sectors(2, 16), 1, 1},
    // Two columns of 16 rows of 64: in two banks.
    {"tile_unroll2_dynamic", k32x16, 4, Sectors(1, 32), Sectors(2, 16), 16, 1},
    // With rows of 65, in banks x + y and x + y + 1: all but the ends are wanted twice.
    {"tile_unroll2_padded_dynamic", k32x16, 4, Sectors(1, 32), Sectors(2, 16), 2, 1},
    // With rows of 66, as with 34 above.
    {"tile_unroll2_padded2_dynamic", k32x16, 4, Sectors(1, 32), Sectors(2, 16), 1, 1},

    // Rows of 32 bytes are 8 banks apart: a column lies in 4 of the 32. Of 64 bytes: in 2.
    {"tile_square", k32x32, 1, Sectors(1, 32, 1), Sectors(1, 32, 1), 8, 1},
    {"tile_square", k32x32, 2, Sectors(1, 32, 2), Sectors(1, 32, 2), 16, 1},
    // Elements of 8 bytes go by half-warps and those of 16 by quarter-warps. Unpadded, all 32
    // elements of a column still go one by one; a row takes its 256 or 512 bytes.
    {"tile_square", k32x32, 8, Sectors(1, 32, 8), Sectors(1, 32, 8), 32, 2},
    {"tile_square", k32x32, 16, Sectors(1, 32, 16), Sectors(1, 32, 16), 32, 4},
    {"tile_store_conflicts", k32x32, 1, Sectors(1, 32, 1), Sectors(1, 32, 1), 1, 8},
    {"tile_store_conflicts", k32x32, 2, Sectors(1, 32, 2), Sectors(1, 32, 2), 1, 16},
    {"tile_store_conflicts", k32x32, 8, Sectors(1, 32, 8), Sectors(1, 32, 8), 2, 32},
    {"tile_store_conflicts", k32x32, 16, Sectors(1, 32, 16), Sectors(1, 32, 16), 4, 32},
    {"tile_square_padded", k32x32, 8, Sectors(1, 32, 8), Sectors(1, 32, 8), 2, 2},
    {"tile_square_padded", k32x32, 16, Sectors(1, 32, 16), Sectors(1, 32, 16), 4, 4},
    // Swizzling has no conflicts at any size.
    {"tile_swizzled", k32x8, 1, Sectors(1, 32, 1), Sectors(1, 32, 1), 1, 1},
    {"tile_swizzled", k32x8, 2, Sectors(1, 32, 2), Sectors(1, 32, 2), 1, 1},
    {"tile_swizzled", k32x8, 8, Sectors(1, 32, 8), Sectors(1, 32, 8), 2, 2},
    {"tile_swizzled", k32x8, 16, Sectors(1, 32, 16), Sectors(1, 32, 16), 4, 4},
};

class TransposeMemoryTest : public TransposeOnExecutorTest {
 protected:
  executor::LaunchReport ReportAt(const std::string& kernel, const Block& block,
                                  int64_t element_bytes) {
    return ReportOf(kernel, {kExtent, kExtent, 0}, element_bytes, block);
  }
  executor::Profile ProfileAt(const std::string& kernel, const Block& block,
                              int64_t element_bytes) {
    return ReportAt(kernel, block, element_bytes).profile;
  }
  void ExpectCosts(const MemoryCase& c);
};

void TransposeMemoryTest::ExpectCosts(const MemoryCase& c) {
  SCOPED_TRACE(testing::Message() << c.kernel << " " << c.block.x << "x" << c.block.y << ", "
                                  << c.element_bytes << " bytes");
  const executor::Profile profile = ProfileAt(c.kernel, c.block, c.element_bytes);
  const executor::MemoryCounters load = profile.Total(EventKind::kGlobalLoad);
  const executor::MemoryCounters store = profile.Total(EventKind::kGlobalStore);
  EXPECT_EQ(load.requests, kRequests);
  EXPECT_EQ(store.requests, kRequests);
  EXPECT_EQ(load.sectors, kRequests * c.load_sectors);
  EXPECT_EQ(store.sectors, kRequests * c.store_sectors);

  const executor::MemoryCounters shared_load = profile.Total(EventKind::kSharedLoad);
  const executor::MemoryCounters shared_store = profile.Total(EventKind::kSharedStore);
  EXPECT_EQ(shared_load.requests, c.shared_load_wavefronts == 0 ? 0 : kRequests);
  EXPECT_EQ(shared_store.requests, c.shared_store_wavefronts == 0 ? 0 : kRequests);
  EXPECT_EQ(shared_load.wavefronts, kRequests * c.shared_load_wavefronts);
  EXPECT_EQ(shared_store.wavefronts, kRequests * c.shared_store_wavefronts);
}

TEST_F(TransposeMemoryTest, SectorsOfAWarpsRowsAndColumns) {
  for (const MemoryCase& c : kGlobalMemory) ExpectCosts(c);
}

TEST_F(TransposeMemoryTest, WavefrontsOfATilesRowsAndColumns) {
  for (const MemoryCase& c : kSharedMemory) ExpectCosts(c);
}

// What a launch holds and waits for, with elements of 4 bytes in the default block.
struct FootprintCase {
  const char* kernel;
  int64_t elements_a_thread;
  int64_t barriers;  // Those of all blocks.
  int64_t shared_bytes;
};

// Returns the tiles of rows x cols in the matrix.
constexpr int64_t Tiles(int64_t rows, int64_t cols) { return kExtent * kExtent / rows / cols; }

const FootprintCase kFootprints[] = {
    {"copy_row", 1, 0, 0},
    {"copy_col", 1, 0, 0},
    {"naive_row", 1, 0, 0},
    {"naive_col", 1, 0, 0},
    {"unroll4_row", 4, 0, 0},
    {"unroll4_col", 4, 0, 0},
    {"diagonal_row", 1, 0, 0},
    {"diagonal_col", 1, 0, 0},
    {"copy_shared", 4, Tiles(32, 32), 32 * 33 * 4},
    {"copy_shared_square", 1, Tiles(32, 32), 32 * 33 * 4},
    {"tile_square", 1, Tiles(32, 32), 32 * 32 * 4},
    {"tile_store_conflicts", 1, Tiles(32, 32), 32 * 32 * 4},
    {"tile_square_padded", 1, Tiles(32, 32), 32 * 33 * 4},
    {"tile_rectangular", 1, Tiles(16, 32), 16 * 32 * 4},
    {"tile_rectangular_padded", 1, Tiles(16, 32), 16 * 34 * 4},
    {"tile_unroll2_dynamic", 2, Tiles(16, 64), 16 * 64 * 4},
    {"tile_unroll2_padded_dynamic", 2, Tiles(16, 64), 16 * 65 * 4},
    {"tile_unroll2_padded2_dynamic", 2, Tiles(16, 64), 16 * 66 * 4},
    {"tile_unrolled", 4, Tiles(32, 32), 32 * 33 * 4},
    {"tile_swizzled", 4, Tiles(32, 32), 32 * 32 * 4},
    // 32 blocks, eight on each of the small device's multiprocessors, take all tiles, with two
    // barriers for each.
    {"tile_persistent", 4 * Tiles(32, 32) / 32, 2 * Tiles(32, 32), 32 * 32 * 4},
};

TEST_F(TransposeMemoryTest, ThreadsBarriersAndSharedMemory) {
  for (const FootprintCase& c : kFootprints) {
    const executor::LaunchReport report =
        ReportAt(c.kernel, FindTransposeImplementation(c.kernel)->default_block, 4);
    EXPECT_EQ(report.profile.warps * c.elements_a_thread, kRequests) << c.kernel;
    EXPECT_EQ(report.profile.barriers, c.barriers) << c.kernel;
    EXPECT_EQ(report.shared_bytes, c.shared_bytes) << c.kernel;
  }
}

// In the studies' words: 16x16 blocks store with 25 % efficiency, 32x8 with 12.5 %, 8x32 with 50 %.
TEST_F(TransposeMemoryTest, EfficiencyOfStridedStores) {
  for (const auto& [block, efficiency] :
       std::vector<std::pair<Block, double>>{{k16x16, 0.25}, {k32x8, 0.125}, {k8x32, 0.5}}) {
    const executor::Profile profile = ProfileAt("naive_row", block, 4);
    EXPECT_EQ(profile.Total(EventKind::kGlobalLoad).SectorEfficiency(), 1);
    EXPECT_EQ(profile.Total(EventKind::kGlobalStore).SectorEfficiency(), efficiency);
  }
}

// Padded by one byte, a tile has rows of 33 bytes: 32 elements of a column are each 8 banks and a
// quarter further. From the start of a bank that is a different bank for each; from within one, the
// last comes round to the bank of the first, and takes a second wavefront. Elements of two bytes
// likewise, 16 banks and a half further.
TEST_F(TransposeMemoryTest, OneElementOfPaddingIsTooLittleForSmallOnes) {
  for (const int64_t element_bytes : {1, 2}) {
    const int64_t in_a_bank = 4 / element_bytes;
    const uint64_t columns_in_one = kRequests / in_a_bank;
    const uint64_t columns_in_two = kRequests - columns_in_one;
    for (const char* kernel : {"tile_square_padded", "tile_unrolled"}) {
      const executor::Profile profile =
          ProfileAt(kernel, FindTransposeImplementation(kernel)->default_block, element_bytes);
      EXPECT_EQ(profile.Total(EventKind::kSharedLoad).wavefronts,
                columns_in_one + 2 * columns_in_two)
          << kernel << ", " << element_bytes << " bytes";
      EXPECT_EQ(profile.Total(EventKind::kSharedStore).wavefronts, kRequests);
    }
  }
}

}  // namespace
}  // namespace stridewise

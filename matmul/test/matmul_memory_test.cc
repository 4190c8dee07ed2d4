// What each matmul kernel does to memory at 128 x 128 x 128, as counts that follow from its access
// pattern: a lost coalescing fails here, whatever it costs in time.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/executor/executor.h"
#include "common/executor/profile.h"
#include "common/gpu/launch_geometry.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

using executor::EventKind;

constexpr int64_t kExtent = 128;  // m, n and k.
constexpr int64_t kTile = 32;
constexpr int64_t kElements = kExtent * kExtent;
constexpr int64_t kWarps = kElements / 32;  // Of a thread an element, all lanes busy.

// Of 32 bytes, that a warp touches which wants a part of `rows` rows, `elements` neighbours in
// each.
int64_t Sectors(int64_t rows, int64_t elements, ElementType type = ElementType::kFloat) {
  return rows * CeilDiv(elements * (type == ElementType::kFloat ? 4 : 8), 32);
}

struct Counts {
  int64_t requests;
  int64_t units;  // Sectors or wavefronts.
};

struct MemoryCase {
  const char* kernel;
  Block block;
  ElementType type;
  Counts load, store;
  Counts shared_load, shared_store;
  int64_t shared_bytes;
};

constexpr ElementType kFloat = ElementType::kFloat;
constexpr ElementType kDouble = ElementType::kDouble;
constexpr Counts kNone = {0, 0};

// Each of `warps` fetches the elements of A and B for each of k products, and stores C once.
Counts Fetches(int64_t warps, int64_t a_sectors, int64_t b_sectors) {
  return {warps * kExtent * 2, warps * kExtent * (a_sectors + b_sectors)};
}
Counts Stores(int64_t warps, int64_t sectors) { return {warps, warps * sectors}; }

// Each warp fetches 32 elements of a tile of A and of B for each `width` products, and puts them
// into shared memory; from there each lane takes an element of A and one of B for each product. In
// tiles of 32x32 a warp is a row: the element of A is the same for all lanes.
Counts TileFetches(int64_t sectors, int64_t width = kTile) {
  const int64_t requests = kWarps * 2 * (kExtent / width);
  return {requests, requests * sectors};
}
Counts TileStores(int64_t wavefronts, int64_t width = kTile) {
  return TileFetches(wavefronts, width);
}
Counts TileLoads(int64_t a_wavefronts, int64_t b_wavefronts) {
  return {kWarps * kExtent * 2, kWarps * kExtent * (a_wavefronts + b_wavefronts)};
}

constexpr int64_t TileBytes(ElementType type, int64_t width = kTile) {  // Two, without padding.
  return 2 * width * width * (type == ElementType::kFloat ? 4 : 8);
}

// Kernels with their results in registers go along k in steps of 8. What all `warps` do, of which
// each does `counts` at every step, for every k, and once.
constexpr int64_t kDepth = 8;
Counts EachWarp(int64_t warps, const Counts& counts) {
  return {warps * counts.requests, warps * counts.units};
}
Counts EachStep(int64_t warps, const Counts& counts) {
  return EachWarp(warps * kExtent / kDepth, counts);
}
Counts EachProduct(int64_t warps, const Counts& counts) {
  return EachWarp(warps * kExtent, counts);
}

// Vectors of accumulators that warps of a block of thin.cu hand to others.
constexpr int64_t kGiven = (8 + 4 + 2 + 1) * 16;

const MemoryCase kCases[] = {
    // A warp has one lane.
    {"naive_one_thread_blocks",
     {1, 1},
     kFloat,
     Fetches(kElements, 1, 1),
     Stores(kElements, 1),
     kNone,
     kNone,
     0},
    // A warp of a 16x16 block is 16 rows of C with 2 neighbours each; of 32x8, 32 rows with one. It
    // wants an element of A for each row and one of B for each column.
    {"naive_uncoalesced",
     {16, 16},
     kFloat,
     Fetches(kWarps, Sectors(16, 1), Sectors(1, 2)),
     Stores(kWarps, Sectors(16, 2)),
     kNone,
     kNone,
     0},
    {"naive_uncoalesced",
     {32, 8},
     kFloat,
     Fetches(kWarps, Sectors(32, 1), Sectors(1, 1)),
     Stores(kWarps, Sectors(32, 1)),
     kNone,
     kNone,
     0},
    // Here it is 2 rows with 16 neighbours each, or one with 32.
    {"naive",
     {16, 16},
     kFloat,
     Fetches(kWarps, Sectors(2, 1), Sectors(1, 16)),
     Stores(kWarps, Sectors(2, 16)),
     kNone,
     kNone,
     0},
    {"naive",
     {32, 8},
     kFloat,
     Fetches(kWarps, Sectors(1, 1), Sectors(1, 32)),
     Stores(kWarps, Sectors(1, 32)),
     kNone,
     kNone,
     0},
    {"naive",
     {16, 16},
     kDouble,
     Fetches(kWarps, Sectors(2, 1, kDouble), Sectors(1, 16, kDouble)),
     Stores(kWarps, Sectors(2, 16, kDouble)),
     kNone,
     kNone,
     0},
    // The naive kernel, and for each k a load and a store of C; before the first a store of 0.
    {"global_accumulation",
     {16, 16},
     kFloat,
     EachProduct(kWarps, {3, Sectors(2, 1) + Sectors(1, 16) + Sectors(2, 16)}),
     EachWarp(kWarps, {kExtent + 1, (kExtent + 1) * Sectors(2, 16)}),
     kNone,
     kNone,
     0},
    {"tiled_multiply_add",
     {32, 32},
     kFloat,
     TileFetches(Sectors(1, 32)),
     Stores(kWarps, Sectors(1, 32)),
     TileLoads(1, 1),
     TileStores(1),
     TileBytes(kFloat)},
    {"tiled",
     {32, 32},
     kFloat,
     TileFetches(Sectors(1, 32)),
     Stores(kWarps, Sectors(1, 32)),
     TileLoads(1, 1),
     TileStores(1),
     TileBytes(kFloat)},
    // A row of doubles is twice what the banks hold; one double for all lanes is not.
    {"tiled",
     {32, 32},
     kDouble,
     TileFetches(Sectors(1, 32, kDouble)),
     Stores(kWarps, Sectors(1, 32, kDouble)),
     TileLoads(1, 2),
     TileStores(2),
     TileBytes(kDouble)},
    // The global loads and stores of naive_one_thread_blocks.
    {"tile_width_1",
     {1, 1},
     kFloat,
     Fetches(kElements, 1, 1),
     Stores(kElements, 1),
     EachProduct(kElements, {2, 2}),
     EachProduct(kElements, {2, 2}),
     TileBytes(kFloat, 1)},
    // A warp is 4 rows of 8 threads, or 2 of 16. Its elements of A lie in a bank for each row.
    {"tile_width_8",
     {8, 8},
     kFloat,
     TileFetches(Sectors(4, 8), 8),
     Stores(kWarps, Sectors(4, 8)),
     TileLoads(1, 1),
     TileStores(1, 8),
     TileBytes(kFloat, 8)},
    {"tile_width_16",
     {16, 16},
     kFloat,
     TileFetches(Sectors(2, 16), 16),
     Stores(kWarps, Sectors(2, 16)),
     TileLoads(1, 1),
     TileStores(1, 16),
     TileBytes(kFloat, 16)},
    // A warp loads 4 rows of A's tile and half a row of B's. For a k it takes eight elements of A,
    // each the same for all lanes, and a row of B: 9 for 8 fma.
    {"register_tile_1d",
     {512, 1},
     kFloat,
     EachStep(64, {2, Sectors(4, kDepth) + Sectors(1, 32)}),
     EachWarp(64, {8, 8 * Sectors(1, 32)}),
     EachProduct(64, {9, 9}),
     EachStep(64, {2, 2}),
     (64 + 64) * kDepth * 4},
    // Four times as much for each warp. Its lanes lie in 2 rows of C, 16 in each.
    {"register_tile_2d",
     {256, 1},
     kFloat,
     EachStep(8, {8, 4 * (Sectors(4, kDepth) + Sectors(1, 32))}),
     EachWarp(8, {64, 64 * Sectors(2, 16)}),
     EachProduct(8, {16, 16}),
     EachStep(8, {8, 8}),
     (128 + 128) * kDepth * 4},
    // The same sectors in 2 requests instead of 8. For a k two loads of A, one address for each
    // half of the warp, and two of B, where the lanes' 32 bytes apart make it 8 wavefronts instead
    // of 4. Stores of C write half of each sector. A's tile is stored from 16 of its rows, at k and
    // k + 4, which are in the same banks.
    {"vectorized",
     {256, 1},
     kFloat,
     EachStep(8, {2, Sectors(16, kDepth) + Sectors(1, 128)}),
     EachWarp(8, {16, 16 * Sectors(2 * 16, 4)}),
     EachProduct(8, {4, 2 * 2 + 2 * 8}),
     EachStep(8, {5, 4 * 2 + 4}),
     (128 + 128) * kDepth * 4},
    // Every load two wavefronts: half a warp has 128 bytes of B, or 32 of A. Stores of C write
    // whole lines, those of A's padded tile meet no bank twice.
    {"warp_tile",
     {256, 1},
     kFloat,
     EachStep(8, {2, Sectors(16, kDepth) + Sectors(1, 128)}),
     EachWarp(8, {16, 16 * Sectors(4, 32)}),
     EachProduct(8, {4, 2 * 2 + 2 * 2}),
     EachStep(8, {5, 4 * 1 + 4}),
     (132 + 128) * kDepth * 4},
    // 8 blocks of 16 warps, each for 16 rows of C. B is read once for each, a k at a time: 128
    // requests of a whole row. A comes in pieces of 4 rows and 8 k, a sector a row. For each k a
    // warp takes its vectors of B, 4 wavefronts, and four times 16 bytes of A, the same for all
    // lanes, 2 each. In the end 8 steps of 2 vectors of each warp have arrived that lie beyond the
    // k extent: zeros. Then 8 warps hand their 16 vectors of accumulators to the others, 4 of
    // these theirs, and so on; C leaves by whole rows.
    {"thin",
     {0, 0},
     kFloat,
     EachWarp(8, {kExtent + 64, Sectors(1, 128) * kExtent + 64 * Sectors(4, 8)}),
     EachWarp(8, {64, 64 * Sectors(1, 32)}),
     EachWarp(8, {kExtent * (1 + 4) + kGiven + 64, (4 + 4 * 2) * kExtent + kGiven * 4 + 64}),
     EachWarp(8,
              {kExtent + 256 + 64 + kGiven + 64, (kExtent + 256) * 4 + 64 + kGiven * 4 + 64 * 4}),
     (2 * 512 * 20 + 16 * 512 * 4) * 4},
};

// Where an operand lies: elements from the start of its buffer, and between its rows.
struct Location {
  int64_t first = 0;
  int64_t pad = 0;
};
using Locations = std::array<Location, 3>;  // Of A, B and C.

executor::LaunchReport ReportOf(const MemoryCase& c, const Locations& locations = {}) {
  const auto on_host = OnHostExecutor(*FindMatMulImplementation(c.kernel));
  EXPECT_TRUE(on_host.ok()) << on_host.status();
  auto executor = executor::Executor::Create({});
  EXPECT_TRUE(executor.ok()) << executor.status();
  std::vector<executor::Buffer> buffers;
  std::array<uint8_t*, 3> data;
  const char* const names[] = {"a", "b", "c"};
  for (size_t i = 0; i < locations.size(); ++i) {
    const auto bytes = static_cast<size_t>(
        (locations[i].first + kExtent * (kExtent + locations[i].pad)) * ElementBytes(c.type));
    auto buffer = (*executor)->Allocate(names[i], bytes);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    if (i < 2) {
      buffer->Upload(std::vector<uint8_t>(bytes).data());
      buffer->MakeReadOnly();
    }
    data[i] = buffer->As<uint8_t>() + locations[i].first * ElementBytes(c.type);
    buffers.push_back(*std::move(buffer));
  }
  MatMulArgs args;
  args.m = args.n = args.k = kExtent;
  args.a = {data[0], kExtent + locations[0].pad, c.type};
  args.b = {data[1], kExtent + locations[1].pad, c.type};
  args.c = {data[2], kExtent + locations[2].pad, c.type};
  args.stream = (*executor)->stream();
  args.block = c.block;
  const absl::Status status = RunMatMul(*on_host, args);
  EXPECT_TRUE(status.ok()) << status;
  return (*executor)->launches().back();
}

TEST(MatMulMemoryTest, SectorsAndWavefronts) {
  for (const MemoryCase& c : kCases) {
    SCOPED_TRACE(testing::Message() << c.kernel << " " << c.block.x << "x" << c.block.y << " "
                                    << std::string(ElementTypeName(c.type)));
    const executor::LaunchReport report = ReportOf(c);
    const executor::Profile& profile = report.profile;
    EXPECT_EQ(report.shared_bytes, c.shared_bytes);
    for (const auto& [kind, want] :
         std::vector<std::pair<EventKind, Counts>>{{EventKind::kGlobalLoad, c.load},
                                                   {EventKind::kGlobalStore, c.store},
                                                   {EventKind::kSharedLoad, c.shared_load},
                                                   {EventKind::kSharedStore, c.shared_store}}) {
      executor::MemoryCounters total = profile.Total(kind);
      if (kind == EventKind::kSharedStore) total.Add(profile.Total(EventKind::kSharedCopy));
      EXPECT_EQ(total.requests, want.requests) << "kind " << static_cast<int>(kind);
      // One of the two is 0.
      EXPECT_EQ(total.sectors + total.wavefronts, want.units) << "kind " << static_cast<int>(kind);
    }
  }
}

// An operand whose rows do not all begin at multiples of 16 bytes is moved by element: four
// requests for one. The others are not.
TEST(MatMulMemoryTest, VectorsWhereRowsBeginAtThem) {
  for (const MemoryCase& c : kCases) {
    const std::string kernel = c.kernel;
    if (kernel != "vectorized" && kernel != "warp_tile") continue;
    for (const Location& location : {Location{1, 0}, Location{0, 1}, Location{4, 4}}) {
      for (int operand = 0; operand < 3; ++operand) {
        SCOPED_TRACE(testing::Message() << kernel << " operand " << operand << " from "
                                        << location.first << " pad " << location.pad);
        Locations locations;
        locations[operand] = location;
        const executor::Profile profile = ReportOf(c, locations).profile;
        const int64_t times = location.first % 4 == 0 && location.pad % 4 == 0 ? 1 : 4;
        const int64_t half = c.load.requests / 2;  // Of A, and of B.
        EXPECT_EQ(profile.Total(EventKind::kGlobalLoad).requests,
                  operand < 2 ? half + times * half : c.load.requests);
        EXPECT_EQ(profile.Total(EventKind::kGlobalStore).requests,
                  operand < 2 ? c.store.requests : times * c.store.requests);
      }
    }
  }
}

}  // namespace
}  // namespace stridewise

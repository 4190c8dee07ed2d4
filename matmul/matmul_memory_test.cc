// What each matmul kernel does to memory at 128 x 128 x 128, as counts that follow from its access
// pattern: a lost coalescing fails here, whatever it costs in time.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/launch_geometry.h"
#include "common/simt/executor.h"
#include "common/simt/profile.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

using simt::EventKind;

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
};

constexpr ElementType kFloat = ElementType::kFloat;
constexpr ElementType kDouble = ElementType::kDouble;
constexpr Counts kNone = {0, 0};

// Each of `warps` fetches the elements of A and B for each of k products, and stores C once.
Counts Fetches(int64_t warps, int64_t a_sectors, int64_t b_sectors) {
  return {warps * kExtent * 2, warps * kExtent * (a_sectors + b_sectors)};
}
Counts Stores(int64_t warps, int64_t sectors) { return {warps, warps * sectors}; }

// Each warp fetches a row of a tile of A and of B for each 32 products, and puts it into shared
// memory; from there it takes one element of A, the same for all lanes, and a row of B, for each.
constexpr int64_t kTileRows = kWarps * 2 * (kExtent / kTile);
Counts TileFetches(int64_t row_sectors) { return {kTileRows, kTileRows * row_sectors}; }
Counts TileStores(int64_t row_wavefronts) { return {kTileRows, kTileRows * row_wavefronts}; }
Counts TileLoads(int64_t a_wavefronts, int64_t b_wavefronts) {
  return {kWarps * kExtent * 2, kWarps * kExtent * (a_wavefronts + b_wavefronts)};
}

const MemoryCase kCases[] = {
    // A warp has one lane.
    {"naive_one_thread_blocks",
     {1, 1},
     kFloat,
     Fetches(kElements, 1, 1),
     Stores(kElements, 1),
     kNone,
     kNone},
    // A warp of a 16x16 block is 16 rows of C with 2 neighbours each; of 32x8, 32 rows with one. It
    // wants an element of A for each row and one of B for each column.
    {"naive_uncoalesced",
     {16, 16},
     kFloat,
     Fetches(kWarps, Sectors(16, 1), Sectors(1, 2)),
     Stores(kWarps, Sectors(16, 2)),
     kNone,
     kNone},
    {"naive_uncoalesced",
     {32, 8},
     kFloat,
     Fetches(kWarps, Sectors(32, 1), Sectors(1, 1)),
     Stores(kWarps, Sectors(32, 1)),
     kNone,
     kNone},
    // Here it is 2 rows with 16 neighbours each, or one with 32.
    {"naive",
     {16, 16},
     kFloat,
     Fetches(kWarps, Sectors(2, 1), Sectors(1, 16)),
     Stores(kWarps, Sectors(2, 16)),
     kNone,
     kNone},
    {"naive",
     {32, 8},
     kFloat,
     Fetches(kWarps, Sectors(1, 1), Sectors(1, 32)),
     Stores(kWarps, Sectors(1, 32)),
     kNone,
     kNone},
    {"naive",
     {16, 16},
     kDouble,
     Fetches(kWarps, Sectors(2, 1, kDouble), Sectors(1, 16, kDouble)),
     Stores(kWarps, Sectors(2, 16, kDouble)),
     kNone,
     kNone},
    {"tiled_multiply_add",
     {32, 32},
     kFloat,
     TileFetches(Sectors(1, 32)),
     Stores(kWarps, Sectors(1, 32)),
     TileLoads(1, 1),
     TileStores(1)},
    {"tiled",
     {32, 32},
     kFloat,
     TileFetches(Sectors(1, 32)),
     Stores(kWarps, Sectors(1, 32)),
     TileLoads(1, 1),
     TileStores(1)},
    // A row of doubles is twice what the banks hold; one double for all lanes is not.
    {"tiled",
     {32, 32},
     kDouble,
     TileFetches(Sectors(1, 32, kDouble)),
     Stores(kWarps, Sectors(1, 32, kDouble)),
     TileLoads(1, 2),
     TileStores(2)},
};

simt::LaunchReport ReportOf(const MemoryCase& c) {
  const auto on_host = OnHostExecutor(*FindMatMulImplementation(c.kernel));
  EXPECT_TRUE(on_host.ok()) << on_host.status();
  auto executor = simt::Executor::Create({});
  EXPECT_TRUE(executor.ok()) << executor.status();
  const auto bytes = static_cast<size_t>(kElements * ElementBytes(c.type));
  const std::vector<uint8_t> zeros(bytes);
  std::vector<simt::Buffer> buffers;
  for (const char* name : {"a", "b", "c"}) {
    auto buffer = (*executor)->Allocate(name, bytes);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    if (*name != 'c') {
      buffer->Upload(zeros.data());
      buffer->MakeReadOnly();
    }
    buffers.push_back(*std::move(buffer));
  }
  MatMulArgs args;
  args.m = args.n = args.k = args.lda = args.ldb = args.ldc = kExtent;
  args.type = c.type;
  args.a = buffers[0].data();
  args.b = buffers[1].data();
  args.c = buffers[2].data();
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
    const simt::LaunchReport report = ReportOf(c);
    const simt::Profile& profile = report.profile;
    // Two tiles, without padding: their rows are read as rows.
    EXPECT_EQ(report.shared_bytes,
              c.shared_load.requests == 0 ? 0 : 2 * kTile * kTile * ElementBytes(c.type));
    for (const auto& [kind, want] :
         std::vector<std::pair<EventKind, Counts>>{{EventKind::kGlobalLoad, c.load},
                                                   {EventKind::kGlobalStore, c.store},
                                                   {EventKind::kSharedLoad, c.shared_load},
                                                   {EventKind::kSharedStore, c.shared_store}}) {
      const simt::MemoryCounters total = profile.Total(kind);
      EXPECT_EQ(total.requests, want.requests) << "kind " << static_cast<int>(kind);
      // One of the two is 0.
      EXPECT_EQ(total.sectors + total.wavefronts, want.units) << "kind " << static_cast<int>(kind);
    }
  }
}

}  // namespace
}  // namespace stridewise

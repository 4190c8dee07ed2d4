// What each matmul kernel does to memory (memory_cases.h): a lost coalescing fails here, whatever
// it costs in time.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/executor/executor.h"
#include "common/executor/profile.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/test/memory_cases.h"

namespace stridewise {
namespace {

using executor::EventKind;

constexpr int64_t kExtent = kMemoryExtent;

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
  for (const MemoryCase& c : MemoryCases()) {
    SCOPED_TRACE(testing::Message() << c.kernel << " " << c.block.x << "x" << c.block.y << " "
                                    << std::string(ElementTypeName(c.type)));
    const executor::LaunchReport report = ReportOf(c);
    const executor::Profile& profile = report.profile;
    EXPECT_EQ(report.shared_bytes, c.shared_bytes);
    for (const auto& [kind, want] : std::vector<std::pair<EventKind, AccessCounts>>{
             {EventKind::kGlobalLoad, c.load},
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
  int kernels = 0;
  for (const MemoryCase& c : MemoryCases()) {
    const std::string kernel = c.kernel;
    if (kernel != "vectorized" && kernel != "warp_tile") continue;
    ++kernels;
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
  EXPECT_EQ(kernels, 2);
}

}  // namespace
}  // namespace stridewise

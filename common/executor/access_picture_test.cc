// What is recorded of a block, lane by lane, and the page that is made of it.

#include "common/executor/access_picture.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/executor/access_record.h"
#include "common/executor/executor.h"
#include "common/executor/symbolizer.h"
#include "common/executor/testdata/access_kernels.h"
#include "common/executor/trace.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

constexpr char kKernels[] = "common/executor/testdata/access_kernels.cu";
constexpr uint32_t kAllLanes = ~uint32_t{0};

// The executor, its launches, and the buffers that kernels have used.
struct Machine {
  std::unique_ptr<Executor> executor;
  Buffer in;
  Buffer out;

  const LaunchReport& launch() const { return executor->launches().back(); }
  const std::vector<AccessRequest>& requests() const { return launch().accesses.requests; }
};

ExecutorOptions Recording(const Extent3& block) {
  ExecutorOptions options;
  options.record_block = block;
  return options;
}

Machine MakeMachine(const ExecutorOptions& options) {
  Machine machine;
  machine.executor = *Executor::Create(options);
  machine.in = *machine.executor->Allocate("in", 1024 * sizeof(float));
  machine.out =
      *machine.executor->Allocate("out", kAccessBlocks * kAccessThreads * 2 * sizeof(float));
  machine.in.Upload(std::vector<float>(1024, 1.0f).data());
  return machine;
}

Machine RunAccesses(const ExecutorOptions& options) {
  Machine machine = MakeMachine(options);
  const absl::Status status =
      LaunchAccesses(machine.out.As<float>(), machine.in.As<float>(), machine.executor->stream());
  EXPECT_TRUE(status.ok()) << status;
  return machine;
}

// The line of the kernels' file that ends in "// LINE name".
int LineOf(const std::string& name) {
  std::ifstream source(kKernels);
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    if (absl::EndsWith(line, absl::StrCat("// LINE ", name))) return number;
  }
  return 0;
}

// --- The record --------------------------------------------------------------------------------

struct Expected {
  const char* line;
  EventKind kind;
  int bytes;
  int barriers;
  const char* buffer;  // Null for shared memory.
  uint32_t lanes;
  int64_t first;   // The offset of lane 0.
  int64_t stride;  // From lane to lane.
};

void ExpectRequest(const Machine& machine, const AccessRequest& request, const Expected& expected) {
  SCOPED_TRACE(absl::StrCat("warp ", request.warp, ", ", expected.line));
  const SourceLine place = SymbolizeCalls({SitePc(request.site)}).front();
  EXPECT_EQ(place.file, kKernels);
  EXPECT_EQ(place.line, LineOf(expected.line));
  EXPECT_EQ(SiteKind(request.site), expected.kind);
  EXPECT_EQ(SiteBytes(request.site), expected.bytes);
  EXPECT_EQ(request.barriers, expected.barriers);
  EXPECT_EQ(request.lanes, expected.lanes);
  if (expected.buffer == nullptr) {
    EXPECT_EQ(request.buffer, AccessRequest::kShared);
  } else {
    EXPECT_EQ(machine.launch().accesses.buffers.at(request.buffer).name, expected.buffer);
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const bool active = (expected.lanes >> lane & 1) != 0;
    EXPECT_EQ(request.offset[lane], active ? expected.first + lane * expected.stride : 0) << lane;
  }
}

TEST(AccessRecord, HasEachRequestOfTheBlockLaneByLane) {
  const Machine machine = RunAccesses(Recording({1, 0, 0}));
  const AccessRecord& record = machine.launch().accesses;
  EXPECT_EQ(std::make_tuple(record.block.x, record.block.y, record.block.z),
            std::make_tuple(1, 0, 0));
  EXPECT_EQ(record.left_out, 0u);
  ASSERT_EQ(record.buffers.size(), 2u);
  EXPECT_EQ(record.buffers[1].bytes, kAccessBlocks * kAccessThreads * 2 * sizeof(float));

  std::map<int, std::vector<AccessRequest>> of_warp;
  for (const AccessRequest& request : record.requests) of_warp[request.warp].push_back(request);
  ASSERT_EQ(of_warp.size(), 2u);
  for (const auto& [warp, requests] : of_warp) {
    const Expected expected[] = {
        {"load", EventKind::kGlobalLoad, 4, 0, "in", kAllLanes, 1024 + 256 * warp, 8},
        {"store x", EventKind::kSharedStore, 4, 0, nullptr, kAllLanes, 256 * warp, 8},
        {"store y", EventKind::kSharedStore, 4, 0, nullptr, kAllLanes, 256 * warp + 4, 8},
        {"copy", EventKind::kSharedLoad, 8, 1, nullptr, 0xff, 256 * warp, 8},
        {"copy", EventKind::kGlobalStore, 8, 1, "out", 0xff, 512 + 256 * warp, 8},
    };
    ASSERT_EQ(requests.size(), std::size(expected));
    for (size_t i = 0; i < requests.size(); ++i) ExpectRequest(machine, requests[i], expected[i]);
  }
}

TEST(AccessRecord, DoesNotDependOnCoresOrOrder) {
  const Machine first = RunAccesses(Recording({2, 0, 0}));
  ExecutorOptions options = Recording({2, 0, 0});
  options.threads = 3;
  options.schedule_seed = 77;
  const Machine other = RunAccesses(options);
  const auto per_warp = [](const Machine& machine) {
    std::map<int, std::vector<std::tuple<Site, int, int, uint32_t, std::vector<int64_t>>>> result;
    for (const AccessRequest& r : machine.requests()) {
      result[r.warp].emplace_back(r.site, r.barriers, r.buffer, r.lanes,
                                  std::vector<int64_t>(r.offset.begin(), r.offset.end()));
    }
    return result;
  };
  EXPECT_EQ(first.requests().size(), 10u);
  EXPECT_EQ(per_warp(first), per_warp(other));
}

// A launch with a finding is run again from the beginning, in another mode.
TEST(AccessRecord, HasEachRequestOnceWhereALaunchStartsAgain) {
  Machine machine = MakeMachine(Recording({0, 0, 0}));
  machine.in.Poison(std::vector<float>(1024).data());
  EXPECT_EQ(
      LaunchAccesses(machine.out.As<float>(), machine.in.As<float>(), machine.executor->stream())
          .code(),
      absl::StatusCode::kDataLoss);
  EXPECT_EQ(machine.requests().size(), 10u);
}

TEST(AccessRecord, IsBounded) {
  ExecutorOptions options = Recording({0, 0, 0});
  options.max_recorded_requests = 10;
  Machine machine = MakeMachine(options);
  // One warp, with 100 loads of one float by all lanes and a store.
  ASSERT_TRUE(
      LaunchLoop(machine.out.As<float>(), machine.in.As<float>(), 100, machine.executor->stream())
          .ok());
  EXPECT_EQ(machine.requests().size(), 10u);
  EXPECT_EQ(machine.launch().accesses.left_out, 91u);
  for (const AccessRequest& request : machine.requests()) {
    EXPECT_EQ(request.offset[0], request.offset[31]);
  }
}

// A sample, for what is predicted from it.
TEST(AccessRecord, HasEveryBlockThatRunsInOrder) {
  for (const int threads : {1, 3}) {
    ExecutorOptions options;
    options.record_every_block = true;
    options.threads = threads;
    options.schedule_seed = threads;
    options.only = [](const Extent3& block, const Grid&) { return block.x != 1; };
    std::map<uint64_t, int> requests_of;
    uint64_t last = 0;
    const Machine machine = RunAccesses(options);
    for (const AccessRequest& request : machine.requests()) {
      EXPECT_GE(request.block, last);
      last = request.block;
      ++requests_of[request.block];
    }
    EXPECT_EQ(requests_of.size(), static_cast<size_t>(kAccessBlocks - 1));
    EXPECT_EQ(requests_of.count(1), 0u);
    for (const auto& [block, requests] : requests_of) EXPECT_EQ(requests, 10) << block;
  }
}

TEST(AccessRecord, IsEmptyUnlessWantedAndInTheGrid) {
  EXPECT_TRUE(RunAccesses({}).requests().empty());
  EXPECT_TRUE(RunAccesses(Recording({kAccessBlocks, 0, 0})).requests().empty());
  EXPECT_TRUE(RunAccesses(Recording({0, 0, 1})).requests().empty());
}

// --- The page ----------------------------------------------------------------------------------

TEST(AccessPicture, HasRequestsAndWhatTheyCost) {
  const Machine machine = RunAccesses(Recording({1, 0, 0}));
  const std::string page = AccessPictureHtml("Accesses", machine.executor->launches());
  for (const char* part : {
           "\"kernel\":\"Accesses\",\"grid\":[3,1,1],\"block\":[64,1,1],\"index\":[1,0,0]",
           "\"leftOut\":0",
           "\"buffers\":[[\"in\",4096],[\"out\",1536]]",
           // Site, shape, buffer, offset, barriers: the warps share shapes.
           "\"warps\":[[[0,0,0,1024,0],[1,1,-1,0,0],[2,2,-1,4,0],[3,3,-1,0,1],[4,4,1,512,1]],"
           "[[0,0,0,1280,0],[1,1,-1,256,0],[2,2,-1,260,0],[3,3,-1,256,1],[4,4,1,768,1]]]",
           // Every second float: 8 sectors for 4.
           "248],\"distinct\":128,\"sectors\":8,\"ideal\":4}",
           // Every second bank twice.
           "248],\"distinct\":128,\"wavefronts\":2,\"ideal\":1,\"together\":32}",
           // Eight lanes with eight bytes each.
           "{\"bytes\":8,\"lanes\":[0,8,16,24,32,40,48,56,null,",
           "null],\"distinct\":64,\"wavefronts\":1,\"ideal\":1,\"together\":16}",
           "null],\"distinct\":64,\"sectors\":2,\"ideal\":2}",
       }) {
    EXPECT_TRUE(absl::StrContains(page, part)) << part << "\nis not in\n" << page;
  }
  const std::string site = absl::StrCat("\"sites\":[[0,", LineOf("load"), ",\"global load\"],[0,",
                                        LineOf("store x"), ",\"shared store\"]");
  EXPECT_TRUE(absl::StrContains(page, site)) << site;
  EXPECT_TRUE(absl::StrContains(page, absl::StrCat("\"file\":\"", kKernels, "\"")));
  EXPECT_TRUE(absl::StrContains(page, "\"  pairs[thread].x = value;")) << "the source";
}

TEST(AccessPicture, NeedsNothingElseAndIsNotEndedByItsText) {
  const Machine machine = RunAccesses(Recording({0, 0, 0}));
  const std::string page = AccessPictureHtml("</script><b>&{{data}}", machine.executor->launches());
  EXPECT_TRUE(absl::StrContains(page, "<title>&lt;/script&gt;&lt;b&gt;&amp;{{data}}</title>"));
  EXPECT_TRUE(absl::StrContains(page, "{\"title\":\"\\u003c/script>\\u003cb>&{{data}}\""));
  for (const char* outside : {"https:", " src=", "<link", "@import", "url("}) {
    EXPECT_FALSE(absl::StrContains(page, outside)) << outside;
  }
}

TEST(AccessPicture, HasALaunchForEachRecord) {
  Machine machine = RunAccesses(Recording({1, 0, 0}));
  for (int rounds : {1, 2}) {  // One block: no block (1, 0, 0).
    ASSERT_TRUE(LaunchLoop(machine.out.As<float>(), machine.in.As<float>(), rounds,
                           machine.executor->stream())
                    .ok());
  }
  const std::string page = AccessPictureHtml("Two kernels", machine.executor->launches());
  EXPECT_TRUE(absl::StrContains(page, "\"kernel\":\"Accesses\""));
  EXPECT_FALSE(absl::StrContains(page, "\"kernel\":\"Loop\""));
}

TEST(AccessPicture, WritesAFileOrSaysWhyNot) {
  const std::string path = testing::TempDir() + "/accesses.html";
  const Machine machine = RunAccesses(Recording({0, 0, 0}));
  ASSERT_TRUE(WriteAccessPicture(path, "Accesses", machine.executor->launches()).ok());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), AccessPictureHtml("Accesses", machine.executor->launches()));

  const absl::Status status = WriteAccessPicture(testing::TempDir() + "/none/accesses.html", "",
                                                 machine.executor->launches());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "/none/accesses.html")) << status;
  EXPECT_EQ(WriteAccessPicture(path, "", RunAccesses({}).executor->launches()).code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace stridewise::executor

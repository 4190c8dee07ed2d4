// What the executor computes, finds and counts, on kernels made for it.

#include "common/executor/executor.h"

#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/base/case_random.h"
#include "common/executor/launch.h"
#include "common/executor/symbolizer.h"
#include "common/executor/testdata/cluster_kernels.h"
#include "common/executor/testdata/correct_kernels.h"
#include "common/executor/testdata/hopper_kernels.h"
#include "common/executor/testdata/multicast_kernels.h"
#include "common/executor/testdata/planted_bugs.h"
#include "common/executor/testdata/register_kernels.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

struct Schedule {
  int threads;
  uint64_t seed;
};
constexpr Schedule kSchedules[] = {{1, 0}, {2, 0}, {3, 77}, {4, 0}, {1, 1}};

absl::Span<const Schedule> Schedules() {
  return absl::MakeConstSpan(kSchedules).first(static_cast<size_t>(CaseCount(3, 5)));
}

std::unique_ptr<Executor> MakeExecutor(const Schedule& schedule) {
  ExecutorOptions options;
  options.threads = schedule.threads;
  options.schedule_seed = schedule.seed;
  options.max_steps = 1 << 16;
  auto executor = Executor::Create(options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

// The line of a file of bugs that ends in "// BUG name"; none if there is none.
SourceLine BugLine(const std::string& name) {
  for (const char* const file :
       {"common/executor/testdata/planted_bugs.cu", "common/executor/testdata/ptx_bugs.cu",
        "common/executor/testdata/wgmma_bugs.cu", "common/executor/testdata/bulk_bugs.cu",
        "common/executor/testdata/cluster_kernels.cu",
        "common/executor/testdata/multicast_kernels.cu",
        "common/executor/testdata/register_kernels.cu"}) {
    std::ifstream source(file);
    std::string line;
    for (int number = 1; std::getline(source, line); ++number) {
      const std::string mark = "// BUG " + name;
      if (line.size() >= mark.size() &&
          line.compare(line.size() - mark.size(), mark.size(), mark) == 0) {
        return {name, name, file, number};
      }
    }
  }
  return {};
}

std::string Name(Check check) { return std::string(CheckName(check)); }

// Whether some finding has one of its two sides at this line.
bool NamesLine(const std::vector<Finding>& findings, const SourceLine& line) {
  std::vector<uintptr_t> pcs;
  for (const Finding& finding : findings) {
    pcs.push_back(finding.culprit.pc);
    if (finding.has_other) pcs.push_back(finding.other.pc);
  }
  for (const SourceLine& at : SymbolizeCalls(pcs)) {
    if (line.line > 0 && at.line == line.line && at.file == line.file) return true;
  }
  return false;
}

class PlantedBugTest : public testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugTest, IsFoundWhereItIs) {
  const PlantedBug& bug = GetParam();
  std::vector<Finding> first;
  for (const Schedule& schedule : Schedules()) {
    const auto executor = MakeExecutor(schedule);
    auto in = executor->Allocate("in", 64 * sizeof(float));
    auto out = executor->Allocate("out", 64 * sizeof(float));
    ASSERT_TRUE(in.ok() && out.ok());
    const std::vector<float> ones(64, 1.0f);
    in->Upload(ones.data());
    in->MakeReadOnly();
    const absl::Status status = bug.launch({out->As<float>(), in->As<float>(), executor->stream()});
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    ASSERT_EQ(executor->launches().size(), 1u);
    const LaunchReport& report = executor->launches().front();
    ASSERT_FALSE(report.findings.empty());
    // A race that is found at the reader is also a read of uninitialised bytes, and so may be a
    // missing barrier; the finding itself must be there too.
    bool found = false;
    for (const Finding& finding : report.findings) {
      found |= finding.check == bug.check;
      if (finding.check == Check::kUninitialised && bug.check == Check::kRace) continue;
      EXPECT_EQ(Name(finding.check), Name(bug.check)) << status;
      EXPECT_EQ(finding.has_other, bug.check == Check::kRace || bug.check == Check::kProxyFence ||
                                       std::string(bug.name) == "DivergentBarrier");
    }
    EXPECT_TRUE(found) << status;
    if (schedule.threads == 1) {  // Each a process.
      EXPECT_EQ(Executor::KernelName(report), bug.name);
      EXPECT_TRUE(NamesLine(report.findings, BugLine(bug.name))) << status;
    }
    // The number of cores changes nothing; another order may meet another thread first.
    if (schedule.seed != 0) continue;
    if (first.empty()) first = report.findings;
    EXPECT_EQ(FindingsText(report.findings), FindingsText(first));
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugTest, testing::ValuesIn(PlantedBugs()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Ptx, PlantedBugTest, testing::ValuesIn(PtxBugs()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Wgmma, PlantedBugTest, testing::ValuesIn(WgmmaBugs()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Bulk, PlantedBugTest, testing::ValuesIn(BulkBugs()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Cluster, PlantedBugTest, testing::ValuesIn(ClusterBugs()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Multicast, PlantedBugTest, testing::ValuesIn(MulticastBugs()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Registers, PlantedBugTest, testing::ValuesIn(RegisterBugs()),
                         [](const auto& info) { return info.param.name; });

class CorrectKernelTest : public testing::TestWithParam<CorrectKernel> {};

TEST_P(CorrectKernelTest, ComputesWithoutAFinding) {
  const CorrectKernel& kernel = GetParam();
  std::vector<Profile> profiles;
  for (const Schedule& schedule : Schedules()) {
    const auto executor = MakeExecutor(schedule);
    auto in = executor->Allocate("in", 256 * sizeof(int));
    auto out = executor->Allocate("out", 256 * sizeof(int));
    ASSERT_TRUE(in.ok() && out.ok());
    std::vector<int> host(256);
    for (int i = 0; i < 256; ++i) host[i] = 3 * i;
    in->Upload(host.data());  // Not read-only: reads by many blocks are looked at as well.
    const std::vector<int> zeros(256);
    if (kernel.out_initialised) out->Upload(zeros.data());
    const absl::Status status = kernel.launch({out->As<int>(), in->As<int>(), executor->stream()});
    ASSERT_TRUE(status.ok()) << status;
    out->Download(host.data());
    for (int i = 0; i < 256; ++i) {
      ASSERT_EQ(host[i], kernel.want(i)) << "element " << i << ", seed " << schedule.seed;
    }
    profiles.push_back(executor->launches().front().profile);
    EXPECT_TRUE(profiles.back() == profiles.front())
        << schedule.threads << " threads, seed " << schedule.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, CorrectKernelTest, testing::ValuesIn(CorrectKernels()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Matrix, CorrectKernelTest, testing::ValuesIn(MatrixKernels()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Ptx, CorrectKernelTest, testing::ValuesIn(PtxKernels()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Wgmma, CorrectKernelTest, testing::ValuesIn(WgmmaKernels()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Bulk, CorrectKernelTest, testing::ValuesIn(BulkKernels()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Cluster, CorrectKernelTest, testing::ValuesIn(ClusterKernels()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Multicast, CorrectKernelTest, testing::ValuesIn(MulticastKernels()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Registers, CorrectKernelTest, testing::ValuesIn(RegisterKernels()),
                         [](const auto& info) { return info.param.name; });

TEST(ExecutorTest, AFailedLaunchLeavesTheExecutorUsable) {
  const auto executor = MakeExecutor({2, 0});
  std::vector<PlantedBug> bugs = PlantedBugs();
  const std::vector<PlantedBug> ptx_bugs = PtxBugs();
  bugs.insert(bugs.end(), ptx_bugs.begin(), ptx_bugs.end());
  for (int round = 0; round < CaseCount(2, 3); ++round) {
    for (const PlantedBug& bug : bugs) {
      auto in = executor->Allocate("in", 256);
      auto out = executor->Allocate("out", 256);
      ASSERT_TRUE(in.ok() && out.ok());
      in->Upload(std::vector<float>(64, 1.0f).data());
      in->MakeReadOnly();
      EXPECT_FALSE(bug.launch({out->As<float>(), in->As<float>(), executor->stream()}).ok())
          << bug.name;
    }
    for (const CorrectKernel& kernel : CorrectKernels()) {
      auto in = executor->Allocate("in", 1024);
      auto out = executor->Allocate("out", 1024);
      ASSERT_TRUE(in.ok() && out.ok());
      in->Upload(std::vector<int>(256).data());
      if (kernel.out_initialised) out->Upload(std::vector<int>(256).data());
      const absl::Status status =
          kernel.launch({out->As<int>(), in->As<int>(), executor->stream()});
      EXPECT_TRUE(status.ok()) << kernel.name << ": " << status;
    }
  }
}

TEST(ExecutorTest, RefusesWhatAGpuWould) {
  const auto executor = MakeExecutor({1, 0});
  const KernelCall call;
  for (const auto& [grid, block] : std::vector<std::pair<Grid, Block>>{{{1}, {1025}},
                                                                       {{1, 65536}, {32}},
                                                                       {{-1}, {32}},
                                                                       {{1}, {0}},
                                                                       {{int64_t{1} << 31}, {1}}}) {
    EXPECT_EQ(executor->Run(call, grid, block, 0).code(), absl::StatusCode::kInvalidArgument);
  }
  for (const Grid& cluster : {Grid{0}, Grid{2}, Grid{3, 2}, Grid{1, 1, 2}, Grid{17}, Grid{-1}}) {
    EXPECT_EQ(executor->Run(call, {51, 3}, {32}, 0, cluster).code(),
              absl::StatusCode::kInvalidArgument);
  }
  // More blocks and threads at the same time than there is room for, and clusters of them.
  KernelCall cooperative;
  cooperative.cooperative = true;
  for (const auto& [grid, block] : std::vector<std::pair<Grid, Block>>{
           {{8192}, {1}}, {{1025}, {1024}}, {{65536, 65535}, {1}}}) {
    EXPECT_EQ(executor->Run(cooperative, grid, block, 0).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(executor->Run(cooperative, {4}, {32}, 0, {2}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(executor->Run(call, {0}, {32}, 0).ok());
  EXPECT_TRUE(executor->launches().empty());
}

TEST(ExecutorTest, BuffersAreAlignedSeparateAndEmptyOnesNull) {
  const auto executor = MakeExecutor({1, 0});
  std::vector<Buffer> buffers;
  for (const size_t bytes : {0, 1, 255, 4096, 3 << 20, 0, 17}) {
    auto buffer = executor->Allocate("b", bytes);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_EQ(buffer->data() == nullptr, bytes == 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 256, 0u);
    std::vector<uint8_t> host(bytes);
    buffer->Download(host.data());
    for (const uint8_t byte : host) ASSERT_EQ(byte, 0xff);
    buffers.push_back(*std::move(buffer));
  }
  EXPECT_EQ(executor->Allocate("huge", size_t{1} << 40).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace stridewise::executor

// Random shapes, forms, paddings, alignments, batches and workspaces on the host executor, with all
// its checks on: for `auto`, and for everything that takes the general form.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "gtest/gtest.h"
#include "matmul/batch.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/random_cases.h"
#include "matmul/test/run_on_executor.h"

namespace stridewise {
namespace {

constexpr uint64_t kSeed = 20260214;
// The large tiles take half a second for each case.
const int64_t kCases = CaseCount(/*quick=*/8, /*exhaustive=*/400);

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.general && implementation.executor == Executor::kHostExecutable &&
        IsForFp32(implementation)) {
      names.push_back(implementation.name);
    }
  }
  return names;
}

class MatMulRandomTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto implementation = OnHostExecutor(*FindMatMulImplementation(GetParam()));
    ASSERT_TRUE(implementation.ok()) << implementation.status();
    implementation_ = *std::move(implementation);
    executor::ExecutorOptions options;
    options.threads = 1;  // The tests are shards.
    options.schedule_seed = kSeed;
    auto executor = executor::Executor::Create(options);
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  // With all the workspace that is of use, some of it, and none.
  void RunCase(const MatMulCase& c) {
    const int64_t most = MatMulWorkspaceBytes(implementation_, MatMulTestProblem<float>(c).args());
    for (const int64_t workspace_bytes : {most, most / 2, int64_t{0}}) {
      MatMulTestProblem<float> problem(c);
      executor_->ClearLaunches();
      const absl::Status status =
          RunOnExecutor(implementation_, kNoBlock, workspace_bytes, executor_.get(), &problem);
      ASSERT_TRUE(status.ok()) << "workspace of " << workspace_bytes << ": " << status;
      ASSERT_TRUE(problem.Check().ok())
          << "workspace of " << workspace_bytes << ": " << problem.Check();
      if (most == 0) break;
    }
  }

  MatMulImplementation implementation_;
  std::unique_ptr<executor::Executor> executor_;
};

TEST_P(MatMulRandomTest, IsTheProduct) {
  RandomMatMulLimits limits;
  limits.extent = CaseCount(/*quick=*/100, /*exhaustive=*/150);
  limits.batch = 3;
  limits.deep = CaseCount(/*quick=*/400, /*exhaustive=*/1280);
  for (int64_t number = 0; number < kCases; ++number) {
    const MatMulCase c = RandomMatMulCase(kSeed, number, limits);
    SCOPED_TRACE(testing::Message() << "case " << number << " of seed " << kSeed << ": " << c);
    RunCase(c);
    if (HasFatalFailure()) return;
  }
}

// More matrices than grid.y or grid.z hold. Only the first and the last blocks in each dimension
// run: the last matrix is among theirs, however a kernel numbers its blocks.
TEST_P(MatMulRandomTest, MoreMatricesThanAGridHolds) {
  executor::ExecutorOptions options;
  options.only = [](const Extent3& block, const Grid& grid) {
    const auto near_an_end = [](int64_t index, int64_t count) {
      return index < 4 || index + 4 >= count;
    };
    return near_an_end(block.x, grid.x) && near_an_end(block.y, grid.y) &&
           near_an_end(block.z, grid.z);
  };
  auto executor = executor::Executor::Create(options);
  ASSERT_TRUE(executor.ok()) << executor.status();
  MatMulTestProblem<float> problem({1, 2, 1, 0, false, true, 1, 0, 65535 + 2, 1});
  const absl::Status status =
      RunOnExecutor(implementation_, kNoBlock, 0, executor->get(), &problem);
  ASSERT_TRUE(status.ok()) << status;
  for (const int64_t index : {int64_t{0}, problem.args().batch - 1}) {
    const MatMulArgs args = OneOfBatch(problem.args(), index);
    for (int64_t col = 0; col < 2; ++col) {
      // A single product is exact in any order of operations.
      ASSERT_EQ(args.C<float>()(0, col), args.A<float>()(0, 0) * args.B<float>()(col, 0)) << index;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatMulRandomTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stridewise

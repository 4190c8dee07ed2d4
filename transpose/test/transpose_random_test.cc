// Random shapes, types, paddings, alignments and batches on the host executor, with all its checks
// on: for `auto`, for everything that it chooses from, and for squares in place.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "gtest/gtest.h"
#include "transpose/dispatch.h"
#include "transpose/host_executor.h"
#include "transpose/registry.h"
#include "transpose/test/random_cases.h"
#include "transpose/test/run_on_executor.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

constexpr uint64_t kSeed = 20260131;
constexpr int64_t kQuickCases = 500;
constexpr int64_t kExhaustiveCases = 2000;

std::vector<std::string> Names() {
  std::vector<std::string> names = {"auto", "in_place_square"};
  for (const TransposeDispatch& row : TransposeDispatchTable()) {
    names.emplace_back(row.implementation);
  }
  return names;
}

class TransposeRandomTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const TransposeImplementation* named = FindTransposeImplementation(GetParam());
    ASSERT_NE(named, nullptr);
    auto implementation = OnHostExecutor(*named);
    ASSERT_TRUE(implementation.ok()) << implementation.status();
    implementation_ = *std::move(implementation);
    executor::ExecutorOptions options;
    options.threads = 1;  // The tests run in shards.
    options.schedule_seed = kSeed;
    auto executor = executor::Executor::Create(options);
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  void RunCase(const TransposeCase& c, int64_t element_bytes) {
    TransposeTestProblem problem(c, element_bytes, implementation_.operation);
    const absl::Status status = RunOnExecutor(implementation_, kNoBlock, executor_.get(), &problem);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(problem.Check().ok()) << problem.Check();
  }

  TransposeImplementation implementation_;
  std::unique_ptr<executor::Executor> executor_;
};

TEST_P(TransposeRandomTest, IsExact) {
  RandomLimits limits;
  if (!implementation_.batches) limits.batch = 1;
  limits.square = implementation_.square_only;
  const int64_t cases = CaseCount(kQuickCases, kExhaustiveCases);
  for (int64_t number = 0; number < cases; ++number) {
    const RandomTranspose made = RandomTransposeCase(kSeed, number, limits);
    SCOPED_TRACE(testing::Message() << "case " << number << " of seed " << kSeed << ": "
                                    << made.shape << ", " << made.element_bytes << " bytes");
    RunCase(made.shape, made.element_bytes);
    if (HasFatalFailure()) return;
    executor_->ClearLaunches();
  }
}

// A case that no random case is large enough for: `auto` takes large skinny matrices of a batch one
// by one.
TEST_P(TransposeRandomTest, LargeSkinnyMatricesOfABatch) {
  if (GetParam() != "auto") GTEST_SKIP() << "only for `auto`";
  for (const TransposeCase& c :
       {TransposeCase{65537, 4, 0, -1, 3, 5}, TransposeCase{4, 65537, 0, -1, 3, 5}}) {
    executor_->ClearLaunches();
    RunCase(c, 4);
    EXPECT_EQ(executor_->launches().size(), 3u) << c;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TransposeRandomTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stridewise

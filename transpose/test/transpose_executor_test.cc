// Every copy and transpose kernel on the host executor, with all its checks on.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "common/executor/expect_on_host_executor.h"
#include "common/executor/two_executors.h"
#include "gtest/gtest.h"
#include "transpose/host_executor.h"
#include "transpose/registry.h"
#include "transpose/test/run_on_executor.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

class TransposeExecutorTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto implementation = OnHostExecutor(*FindTransposeImplementation(GetParam()));
    if (!implementation.ok()) GTEST_SKIP() << "not executable here: " << implementation.status();
    implementation_ = *implementation;
    auto executors = executor::TwoExecutors();
    ASSERT_TRUE(executors.ok()) << executors.status();
    executors_ = *std::move(executors);
  }

  absl::Status RunOn(executor::Executor* executor, TransposeTestProblem* problem,
                     const Block& block) {
    return RunOnExecutor(implementation_, block, executor, problem);
  }

  // Runs the case on both executors or, unless IsExhaustive(), on one in turn, and on both every
  // sixteenth time.
  void RunCase(const TransposeCase& c, int64_t element_bytes, const Block& block = {0, 0, 0}) {
    const size_t turn = turn_++;
    const bool both = IsExhaustive() || turn % 16 == 0;
    for (size_t i = 0; i < executors_.size(); ++i) {
      if (!both && i != turn % 2) continue;
      const auto& executor = executors_[i];
      TransposeTestProblem problem(c, element_bytes, implementation_.operation);
      executor->ClearLaunches();
      const absl::Status status = RunOn(executor.get(), &problem, block);
      ASSERT_TRUE(status.ok()) << c << ", " << element_bytes << " bytes: " << status;
      ASSERT_TRUE(problem.Check().ok())
          << c << ", " << element_bytes << " bytes: " << problem.Check();
      // What a kernel does to memory does not depend on the order in which threads run.
      const auto& launches = executor->launches();
      const auto& first_launches = (both ? executors_.front() : executor)->launches();
      ASSERT_EQ(launches.size(), first_launches.size());
      const bool empty = c.rows == 0 || c.cols == 0 || c.batch == 0;
      const bool chooses_itself = implementation_.default_block.x == 0;
      if (chooses_itself && !empty) {  // Then it is at most one launch a matrix.
        ASSERT_GE(launches.size(), 1u) << c;
        ASSERT_LE(launches.size(), static_cast<size_t>(c.batch)) << c;
      } else {
        ASSERT_EQ(launches.size(), empty ? 0u : 1u) << c;
      }
      for (size_t i = 0; i < launches.size(); ++i) {
        ASSERT_TRUE(launches[i].profile == first_launches[i].profile) << c;
        if (implementation_.blocks == Blocks::kAny || chooses_itself) continue;
        const Block& launched = launches[i].block;
        const Block& registered = implementation_.default_block;
        ASSERT_EQ(launched.x, registered.x);
        ASSERT_EQ(launched.y, registered.y);
        ASSERT_EQ(launched.z, registered.z);
      }
    }
  }

  // Runs the last blocks of a grid that grows in z, or of each of several grids, and checks the
  // last elements of both directions.
  void RunLastTiles(const TransposeCase& c, int64_t element_bytes) {
    executor::ExecutorOptions options;
    // Those of the last two layers of z: where layers are bands of rows, the last may have a single
    // tile, and a tile may leave its last rows to the next.
    options.only = [](const Extent3& block, const Grid& grid) {
      return (grid.z > 1 || grid.x == 1) && block.z + 2 >= grid.z && block.y + 64 >= grid.y;
    };
    auto executor = executor::Executor::Create(options);
    ASSERT_TRUE(executor.ok()) << executor.status();
    TransposeTestProblem problem(c, element_bytes, implementation_.operation);
    const absl::Status status = RunOn(executor->get(), &problem, {0, 0, 0});
    ASSERT_TRUE(status.ok()) << c << ": " << status;
    const auto& launches = (*executor)->launches();
    if (launches.size() == 1 && launches.front().grid.z == 1) {
      GTEST_SKIP() << "its grid does not grow in z";
    }
    const TransposeArgs& args = problem.args();
    const auto* in = static_cast<const uint8_t*>(args.in);
    const auto* out = static_cast<const uint8_t*>(args.out);
    const bool copy = implementation_.operation == TransposeOperation::kCopy;
    for (int64_t row = std::max<int64_t>(args.rows - 8, 0); row < args.rows; ++row) {
      for (int64_t col = std::max<int64_t>(args.cols - 8, 0); col < args.cols; ++col) {
        const int64_t to = copy ? row * args.ld_out + col : col * args.ld_out + row;
        const int64_t from = row * args.ld_in + col;
        ASSERT_EQ(std::memcmp(out + to * element_bytes, in + from * element_bytes,
                              static_cast<size_t>(element_bytes)),
                  0)
            << c << ": " << row << "," << col;
      }
    }
  }

  absl::StatusCode Refusal(const Block& block) {
    TransposeTestProblem problem({5, 5, 0}, 4, implementation_.operation);
    return RunOn(executors_.front().get(), &problem, block).code();
  }

  TransposeImplementation implementation_;
  std::vector<std::unique_ptr<executor::Executor>> executors_;
  size_t turn_ = 0;
};

// By default each case is run in one of the sizes, in turn.
TEST_P(TransposeExecutorTest, IsExactInEverySizeAndShape) {
  constexpr int64_t kSizes[] = {1, 2, 4, 8, 16};
  const std::vector<TransposeCase> cases = TransposeCasesFor(implementation_);
  for (size_t size = 0; size < std::size(kSizes); ++size) {
    for (size_t i = 0; i < cases.size(); ++i) {
      if (IsExhaustive() || i % std::size(kSizes) == size) RunCase(cases[i], kSizes[size]);
    }
  }
}

TEST_P(TransposeExecutorTest, EveryBlockShape) {
  if (implementation_.blocks == Blocks::kFixed) {
    EXPECT_EQ(Refusal({3, 7}), absl::StatusCode::kInvalidArgument);
    return;
  }
  for (const Block& block :
       {Block{1, 1}, Block{8, 8}, Block{8, 32}, Block{16, 16}, Block{32, 8}, Block{32, 32},
        Block{256, 1}, Block{1, 256}, Block{3, 7}, Block{1024, 1}, Block{96, 4}}) {
    for (const int64_t element_bytes : {1, 4, 16}) RunCase({61, 139, 3}, element_bytes, block);
  }
  EXPECT_EQ(Refusal({64, 32}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refusal({2048, 1}), absl::StatusCode::kInvalidArgument);
}

// More tiles one above the other than grid.y holds, on either side of the transpose. Blocks of one
// thread make that a small matrix.
TEST_P(TransposeExecutorTest, TallAndWideGrids) {
  if (implementation_.blocks == Blocks::kFixed) {
    EXPECT_EQ(Refusal({1, 1}), absl::StatusCode::kInvalidArgument);
    return;
  }
  RunCase({65535 + 2, 1, 0}, 4, {1, 1});
  RunCase({1, 65535 + 2, 0}, 4, {1, 1});
}

// The same for blocks of a fixed size, of which only the last few run.
TEST_P(TransposeExecutorTest, TheLastTilesOfATallGrid) {
  if (implementation_.square_only) GTEST_SKIP() << "a square of this height is too large";
  RunLastTiles({65535 * 32 + 33, 3, 0}, 4);
}

// Tiles are up to 256 columns wide. The rows of `in` begin anywhere, and at multiples of 16. The
// last layer has blocks that lie behind the matrix.
TEST_P(TransposeExecutorTest, TheLastTilesOfAWideGrid) {
  if (implementation_.square_only) GTEST_SKIP() << "a square of this width is too large";
  for (const int64_t more : {241, 144}) {
    RunLastTiles({1, 65536 * 256 + more, 0}, 1);
    if (IsSkipped() || HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TransposeExecutorTest,
                         testing::ValuesIn(TransposeNames(Where::kDevice)),
                         [](const auto& info) { return info.param; });

TEST(TransposeOnHostExecutor, IsThereForWhatTheRegistrySays) {
  ExpectOnHostExecutorWhatTheRegistrySays(TransposeImplementations());
}

}  // namespace
}  // namespace stridewise

// Every matmul kernel of FP32 on the host executor, with all its checks on.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "common/executor/two_executors.h"
#include "gtest/gtest.h"
#include "matmul/batch.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"
#include "matmul/test/spoilt_problem.h"

namespace stridewise {
namespace {

std::vector<std::string> DeviceNames() {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.target.where == Where::kDevice) names.push_back(implementation.name);
  }
  return names;
}

class MatMulExecutorTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto implementation = OnHostExecutor(*FindMatMulImplementation(GetParam()));
    if (!implementation.ok()) GTEST_SKIP() << "not executable here: " << implementation.status();
    if (!IsForFp32(*implementation)) GTEST_SKIP() << "for tensor_executor_test";
    implementation_ = *implementation;
    auto executors = executor::TwoExecutors();
    ASSERT_TRUE(executors.ok()) << executors.status();
    executors_ = *std::move(executors);
  }

  template <typename T>
  absl::Status RunOn(executor::Executor* executor, MatMulTestProblem<T>* problem,
                     const Block& block) {
    return RunOnExecutor(implementation_, block, /*workspace_bytes=*/0, executor, problem);
  }

  // Runs the case on both executors or, unless IsExhaustive(), on one in turn, and on both every
  // sixteenth time.
  template <typename T>
  void RunCase(const MatMulCase& c, const Block& block = {0, 0, 0}) {
    const size_t turn = turn_++;
    const bool both = IsExhaustive() || turn % 16 == 0;
    for (size_t i = 0; i < executors_.size(); ++i) {
      if (!both && i != turn % 2) continue;
      const auto& executor = executors_[i];
      MatMulTestProblem<T> problem(c);
      executor->ClearLaunches();
      const absl::Status status = RunOn(executor.get(), &problem, block);
      ASSERT_TRUE(status.ok()) << c << ": " << status;
      ASSERT_TRUE(problem.Check().ok()) << c << ": " << problem.Check();
      const auto& launches = executor->launches();
      ASSERT_EQ(launches.empty(), c.m == 0 || c.n == 0 || c.batch == 0);
      if (launches.empty()) continue;
      // What a kernel does to memory does not depend on cores and schedules.
      if (both) {
        ASSERT_TRUE(launches.front().profile == executors_.front()->launches().front().profile)
            << c;
      }
      if (implementation_.general) continue;  // Chooses its own blocks, and their number.
      ASSERT_EQ(launches.size(), 1u);
      if (implementation_.blocks == Blocks::kFixed) {
        const Block& launched = launches.front().block;
        const Block& registered = implementation_.default_block;
        ASSERT_EQ(launched.x, registered.x);
        ASSERT_EQ(launched.y, registered.y);
        ASSERT_EQ(launched.z, registered.z);
      }
    }
  }

  absl::StatusCode Refusal(const Block& block) {
    MatMulTestProblem<float> problem({5, 5, 5, 0});
    return RunOn(executors_.front().get(), &problem, block).code();
  }

  MatMulImplementation implementation_;
  std::vector<std::unique_ptr<executor::Executor>> executors_;
  size_t turn_ = 0;
};

TEST_P(MatMulExecutorTest, Float) {
  // A block costs the executor the same whether it has one thread or hundreds.
  const Block& block = implementation_.default_block;
  const bool one_thread = block.x * block.y * block.z == 1;
  for (const MatMulCase& c : MatMulCasesFor(implementation_)) {
    if (one_thread && !IsExhaustive() && c.m * c.n * c.k > 30000) continue;
    RunCase<float>(c);
  }
}

TEST_P(MatMulExecutorTest, Double) {
  if (!TakesType(implementation_, ElementType::kDouble)) GTEST_SKIP() << "float only";
  // Only the type differs from above: every third case is enough.
  const std::vector<MatMulCase> cases = MatMulCasesFor(implementation_);
  for (size_t i = 0; i < cases.size(); i += IsExhaustive() ? 1 : 3) RunCase<double>(cases[i]);
}

TEST_P(MatMulExecutorTest, EveryBlockShape) {
  if (implementation_.blocks == Blocks::kFixed) {
    EXPECT_EQ(Refusal({3, 7}), absl::StatusCode::kInvalidArgument);
    return;
  }
  for (const Block& block : {Block{1, 1}, Block{32, 1}, Block{1, 32}, Block{256, 1}, Block{8, 8},
                             Block{3, 7}, Block{32, 32}, Block{1, 1024}, Block{1024, 1}}) {
    RunCase<float>({67, 71, 19, 2}, block);
  }
  EXPECT_EQ(Refusal({64, 32}), absl::StatusCode::kInvalidArgument);
}

// More rows than grid.y holds. Blocks of one thread make that a small matrix.
TEST_P(MatMulExecutorTest, MoreRowsThanAGridHolds) {
  if (implementation_.blocks == Blocks::kFixed && implementation_.default_block.x != 1) {
    EXPECT_EQ(Refusal({1, 1}), absl::StatusCode::kInvalidArgument);
    return;
  }
  RunCase<float>({65535 + 2, 1, 3, 1}, {1, 1});
}

// The same for blocks of a fixed size, of which only the last few run.
TEST_P(MatMulExecutorTest, TheLastTilesOfATallGrid) {
  executor::ExecutorOptions options;
  options.only = [](const Extent3& block, const Grid& grid) {
    return grid.z > 1 && block.z == grid.z - 1 && block.y + 64 >= grid.y;
  };
  auto executor = executor::Executor::Create(options);
  ASSERT_TRUE(executor.ok()) << executor.status();
  MatMulTestProblem<float> problem({65535 * 32 + 33, 2, 1, 0});
  const absl::Status status = RunOn(executor->get(), &problem, {0, 0, 0});
  ASSERT_TRUE(status.ok()) << status;
  if ((*executor)->launches().front().grid.z == 1) GTEST_SKIP() << "its grid does not grow in z";
  const MatMulArgs& args = problem.args();
  for (int64_t row = args.m - 2; row < args.m; ++row) {
    for (int64_t col = 0; col < args.n; ++col) {
      // A single product is exact in any order of operations.
      ASSERT_EQ(args.C<float>()(row, col), args.A<float>()(row, 0) * args.B<float>()(0, col));
    }
  }
}

// The grid of `tiny` cannot grow in z: it launches again for the rows, columns and products that
// are left. Only the last block of each launch runs.
TEST_P(MatMulExecutorTest, TinyTakesMoreThanAGridHolds) {
  if (GetParam() != "tiny") GTEST_SKIP() << "for one kernel";
  executor::ExecutorOptions options;
  options.only = [](const Extent3& block, const Grid& grid) {
    return block.x + 1 == grid.x && block.y + 1 == grid.y && block.z + 1 == grid.z;
  };
  auto executor = executor::Executor::Create(options);
  ASSERT_TRUE(executor.ok()) << executor.status();
  constexpr int64_t kTiles = 65535;
  MatMulCase batch = {1, 1, 1, 1};
  batch.batch = kTiles + 2;
  for (const MatMulCase& c :
       {MatMulCase{kTiles * 8 + 3, 1, 1, 1}, MatMulCase{1, kTiles * 8 + 3, 1, 1}, batch}) {
    MatMulTestProblem<float> problem(c);
    (*executor)->ClearLaunches();
    const absl::Status status = RunOn(executor->get(), &problem, {0, 0, 0});
    ASSERT_TRUE(status.ok()) << c << ": " << status;
    EXPECT_EQ((*executor)->launches().size(), 2u) << c;
    // The last element of the first launch, and the last of all; a single product is exact.
    const int64_t ends[][3] = {{std::min(c.m, kTiles * 8), std::min(c.n, kTiles * 8),  //
                                std::min(c.batch, kTiles)},
                               {c.m, c.n, c.batch}};
    for (const auto& [rows, cols, products] : ends) {
      const MatMulArgs args = OneOfBatch(problem.args(), products - 1);
      EXPECT_EQ(args.C<float>()(rows - 1, cols - 1),
                args.A<float>()(rows - 1, 0) * args.B<float>()(0, cols - 1))
          << c;
    }
  }
}

// A NaN, or an infinity, in A spoils its row of C, in B its column, and nothing else: zero padding
// must not meet it.
TEST_P(MatMulExecutorTest, NanAndInfinityStayInTheirRowAndColumn) {
  for (const MatMulCase& c : SpoiltMatMulCases(implementation_)) {
    for (const float value : {NAN, INFINITY}) {
      for (const bool in_a : {true, false}) {
        MatMulTestProblem<float> problem(c);
        Spoil(value, in_a, &problem);
        const absl::Status status = RunOn(executors_.front().get(), &problem, {0, 0, 0});
        ASSERT_TRUE(status.ok()) << c << ": " << status;
        ASSERT_TRUE(CheckSpoilt(in_a, problem).ok())
            << c << ", " << value << " in " << (in_a ? "A: " : "B: ") << CheckSpoilt(in_a, problem);
      }
    }
  }
}

TEST_P(MatMulExecutorTest, RefusesWhatItDoesNotTakeBeforeALaunch) {
  for (const MatMulCase& c : GeneralMatMulCases()) {
    if (implementation_.general) break;
    const bool plain =
        !c.transpose_a && !c.transpose_b && c.alpha == 1 && c.beta == 0 && c.batch == 1;
    if (plain) continue;
    MatMulTestProblem<float> problem(c);
    EXPECT_EQ(RunOn(executors_.front().get(), &problem, {0, 0, 0}).code(),
              absl::StatusCode::kInvalidArgument)
        << c;
  }
  if (!TakesType(implementation_, ElementType::kDouble)) {
    MatMulTestProblem<double> problem({5, 5, 5, 0});
    EXPECT_EQ(RunOn(executors_.front().get(), &problem, {0, 0, 0}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(executors_.front()->launches().empty());
}

// The entries that only their rounding tells apart: sums in the order of k, to the last bit.
TEST_P(MatMulExecutorTest, RoundsAsTheRegistrySays) {
  if (GetParam().rfind("tile", 0) != 0) GTEST_SKIP() << "free to sum in any order";
  MatMulTestProblem<float> problem({33, 34, 70, 1});
  const absl::Status status = RunOn(executors_.front().get(), &problem, {0, 0, 0});
  ASSERT_TRUE(status.ok()) << status;
  const ConstMatrix<float> a = problem.args().A<float>();
  const ConstMatrix<float> b = problem.args().B<float>();
  const Matrix<float> c = problem.args().C<float>();
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t col = 0; col < c.cols; ++col) {
      float sum = 0;
      for (int64_t i = 0; i < a.cols; ++i) {
        const volatile float product = a(row, i) * b(i, col);
        sum = implementation_.math == "fma" ? std::fma(a(row, i), b(i, col), sum) : product + sum;
      }
      ASSERT_EQ(c(row, col), sum) << row << "," << col;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatMulExecutorTest, testing::ValuesIn(DeviceNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stridewise

// Host implementations, each over all shapes, and the call that chooses among them.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/on_host.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/shared_problems.h"
#include "matmul/test/spoilt_problem.h"

namespace stridewise {
namespace {

std::vector<std::string> HostNames() {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.target.where == Where::kHost) names.push_back(implementation.name);
  }
  return names;
}

class MatMulHostTest : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { problems_ = std::make_unique<SharedProblems>(); }
  static void TearDownTestSuite() { problems_.reset(); }

  // Libraries that are compared with need not be installed.
  void SetUp() override {
    const MatMulImplementation& implementation = *FindMatMulImplementation(GetParam());
    MatMulTestProblem<float> problem({7, 5, 3, 0});
    MatMulTestProblem<Bf16> in_bf16({7, 5, 3, 0});
    const absl::Status status =
        RunMatMul(implementation,
                  TakesType(implementation, ElementType::kFloat) ? problem.args() : in_bf16.args());
    if (absl::IsUnavailable(status)) GTEST_SKIP() << status;
  }

  template <typename T, typename Out = T>
  void RunAllCases() {
    const MatMulImplementation& implementation = *FindMatMulImplementation(GetParam());
    if (FindTypes(implementation, MatMulTestProblem<T, Out>({1, 1, 1, 0}).args()) == nullptr) {
      GTEST_SKIP() << "takes no such elements";
    }
    for (const MatMulCase& c : MatMulCasesFor(implementation, /*all=*/true)) {
      MatMulTestProblem<T, Out>* const problem = problems_->Get<T, Out>(c);
      const absl::Status status = RunMatMul(implementation, problem->args());
      EXPECT_TRUE(status.ok()) << c << ": " << status;
      EXPECT_TRUE(problem->Check().ok()) << c << ": " << problem->Check();
    }
  }

 private:
  static inline std::unique_ptr<SharedProblems> problems_;
};

TEST_P(MatMulHostTest, Float) { RunAllCases<float>(); }
TEST_P(MatMulHostTest, Double) { RunAllCases<double>(); }
TEST_P(MatMulHostTest, Bf16ToFloat) { RunAllCases<Bf16, float>(); }
TEST_P(MatMulHostTest, Bf16ToBf16) { RunAllCases<Bf16>(); }

TEST_P(MatMulHostTest, NanAndInfinityStayInTheirRowAndColumn) {
  const MatMulImplementation& implementation = *FindMatMulImplementation(GetParam());
  if (!TakesType(implementation, ElementType::kFloat)) GTEST_SKIP() << "takes no float";
  for (const MatMulCase& c : SpoiltMatMulCases(implementation)) {
    for (const float value : {NAN, INFINITY}) {
      for (const bool in_a : {true, false}) {
        MatMulTestProblem<float> problem(c);
        Spoil(value, in_a, &problem);
        ASSERT_TRUE(RunMatMul(implementation, problem.args()).ok()) << c;
        EXPECT_TRUE(CheckSpoilt(in_a, problem).ok())
            << c << ", " << value << " in " << (in_a ? "A: " : "B: ") << CheckSpoilt(in_a, problem);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatMulHostTest, testing::ValuesIn(HostNames()),
                         [](const auto& info) { return info.param; });

// C^T = B^T A^T: the same numbers in both layouts.
TEST(MatMulOnHost, ComputesBothLayouts) {
  const float a[] = {1, 2, 3, 4, 5, 6};     // 2x3
  const float b[] = {7, 8, 9, 10, 11, 12};  // 3x2
  const float want[] = {58, 64, 139, 154};  // Row-major.
  float c[] = {NAN, NAN, NAN, NAN};
  MatMulProblem problem;
  problem.m = problem.n = 2;
  problem.k = 3;
  problem.a = {a, 3};
  problem.b = {b, 2};
  problem.c = {c, 2};
  ASSERT_TRUE(MatMulOnHost(problem).ok()) << MatMulOnHost(problem);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(c[i], want[i]) << i;

  problem.layout = MatrixLayout::kColumnMajor;
  problem.a = {b, 2};
  problem.b = {a, 3};
  ASSERT_TRUE(MatMulOnHost(problem).ok());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(c[i], want[i]) << i;

  problem.a.ld = 1;
  EXPECT_EQ(std::string(MatMulOnHost(problem).message()).rfind("lda is 1; allowed is 2", 0), 0u)
      << MatMulOnHost(problem);
}

}  // namespace
}  // namespace stridewise

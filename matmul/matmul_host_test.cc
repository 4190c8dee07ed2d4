// Host implementations, the registry and what it refuses.

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/cpu/eigen.h"
#include "matmul/matmul_test_problem.h"
#include "matmul/reference.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

std::vector<std::string> HostNames() {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.where == Where::kHost) names.push_back(implementation.name);
  }
  return names;
}

class MatMulHostTest : public testing::TestWithParam<std::string> {
 protected:
  template <typename T>
  void RunAllCases() {
    for (const MatMulCase& c : MatMulCases()) {
      MatMulTestProblem<T> problem(c);
      const absl::Status status = RunMatMul(*FindMatMulImplementation(GetParam()), problem.args());
      EXPECT_TRUE(status.ok()) << c << ": " << status;
      EXPECT_TRUE(problem.Check().ok()) << c << ": " << problem.Check();
    }
  }
};

TEST_P(MatMulHostTest, Float) { RunAllCases<float>(); }
TEST_P(MatMulHostTest, Double) { RunAllCases<double>(); }

INSTANTIATE_TEST_SUITE_P(All, MatMulHostTest, testing::ValuesIn(HostNames()),
                         [](const auto& info) { return info.param; });

TEST(MatMulRegistry, NamesAreUniqueAndDescribed) {
  std::set<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    EXPECT_TRUE(names.insert(implementation.name).second) << implementation.name;
    EXPECT_EQ(FindMatMulImplementation(implementation.name), &implementation);
    EXPECT_FALSE(implementation.summary.empty()) << implementation.name;
    EXPECT_FALSE(implementation.teaches.empty()) << implementation.name;
    EXPECT_FALSE(implementation.math.empty()) << implementation.name;
  }
  EXPECT_EQ(FindMatMulImplementation("no_such"), nullptr);
}

TEST(MatMulRegistry, RefusesBadArgumentsByName) {
  struct {
    const char* argument;
    void (*spoil)(MatMulArgs&);
  } cases[] = {
      {"m is -1", [](MatMulArgs& args) { args.m = -1; }},
      {"n is -2", [](MatMulArgs& args) { args.n = -2; }},
      {"k is -3", [](MatMulArgs& args) { args.k = -3; }},
      {"lda is 2", [](MatMulArgs& args) { args.lda = 2; }},
      {"ldb is 4", [](MatMulArgs& args) { args.ldb = 4; }},
      {"ldc is 4", [](MatMulArgs& args) { args.ldc = 4; }},
      {"a is null", [](MatMulArgs& args) { args.a = nullptr; }},
      {"b is null", [](MatMulArgs& args) { args.b = nullptr; }},
      {"c is null", [](MatMulArgs& args) { args.c = nullptr; }},
      {"block is 8x8",
       [](MatMulArgs& args) {
         args.block = {8, 8};
       }},
  };
  for (const auto& c : cases) {
    MatMulTestProblem<float> problem({7, 5, 3, 0});
    MatMulArgs args = problem.args();
    c.spoil(args);
    const absl::Status status = RunMatMul(*FindMatMulImplementation("cpu_naive"), args);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.argument;
    EXPECT_NE(std::string(status.message()).find(c.argument), std::string::npos) << status;
  }
}

// Refused, or, without CUDA, not there: in no case launched.
TEST(MatMulRegistry, KernelsRefuseMoreTermsThanTheyCount) {
  MatMulTestProblem<float> problem({1, 1, 1, 0});
  MatMulArgs args = problem.args();
  args.k = args.lda = int64_t{1} << 31;
  const absl::StatusCode code = RunMatMul(*FindMatMulImplementation("naive"), args).code();
  EXPECT_TRUE(code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kUnavailable);
}

TEST(MatMulRegistry, CountsBytesAndFlops) {
  EXPECT_EQ(MatMulFlops(2, 3, 5), 60);
  EXPECT_EQ(MatMulBytes(2, 3, 5, ElementType::kFloat), 4 * (10 + 15 + 6));
  EXPECT_EQ(MatMulBytes(2, 3, 5, ElementType::kDouble), 8 * (10 + 15 + 6));
  // Beyond 64 bits without wrapping round.
  EXPECT_GT(MatMulFlops(1 << 24, 1 << 24, 1 << 24), 9e21);
}

TEST(ReferenceProducts, IsTheProductOnTheHost) {
  for (const MatMulCase& c : {MatMulCase{7, 5, 3, 0}, MatMulCase{33, 31, 40, 5}}) {
    MatMulTestProblem<float> problem(c);
    std::vector<double> r(c.m * c.n);
    std::vector<double> s(c.m * c.n);
    ASSERT_TRUE(
        ReferenceProducts(problem.args(), {r.data(), c.m, c.n, c.n}, {s.data(), c.m, c.n, c.n})
            .ok());
    for (int64_t row = 0; row < c.m; ++row) {
      for (int64_t col = 0; col < c.n; ++col) {
        double sum = 0;
        double absolute = 0;
        for (int64_t i = 0; i < c.k; ++i) {
          const double product =
              double{problem.args().A<float>()(row, i)} * double{problem.args().B<float>()(i, col)};
          sum += product;
          absolute += std::abs(product);
        }
        EXPECT_NEAR(r[row * c.n + col], sum, 1e-12);
        EXPECT_NEAR(s[row * c.n + col], absolute, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace stridewise

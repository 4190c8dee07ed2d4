// Host implementations, the registry and what it refuses.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/batch.h"
#include "matmul/check_args.h"
#include "matmul/on_host.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
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

constexpr MatMulTypes kBf16ToFp32 = {ElementType::kBf16, ElementType::kBf16, ElementType::kFloat,
                                     ElementType::kFloat};

class MatMulHostTest : public testing::TestWithParam<std::string> {
 protected:
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
      MatMulTestProblem<T, Out> problem(c);
      const absl::Status status = RunMatMul(implementation, problem.args());
      EXPECT_TRUE(status.ok()) << c << ": " << status;
      EXPECT_TRUE(problem.Check().ok()) << c << ": " << problem.Check();
    }
  }
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

struct Refusal {
  const char* says;
  void (*spoil)(MatMulArgs& args);
};

// A batch of three, 7x5x3.
TEST(MatMulRegistry, RefusesBadArgumentsByName) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Refusal refusals[] = {
      {"m is -1; allowed is 0", [](MatMulArgs& args) { args.m = -1; }},
      {"n is -2; allowed is 0", [](MatMulArgs& args) { args.n = -2; }},
      {"k is -3; allowed is 0", [](MatMulArgs& args) { args.k = -3; }},
      {"batch is -1; allowed is 0", [](MatMulArgs& args) { args.batch = -1; }},
      {"lda is 2; allowed is 3", [](MatMulArgs& args) { args.a.ld = 2; }},
      {"ldb is 4; allowed is 5", [](MatMulArgs& args) { args.b.ld = 4; }},
      {"ldc is 4; allowed is 5", [](MatMulArgs& args) { args.c.ld = 4; }},
      {"lda is 3; allowed is 7", [](MatMulArgs& args) { args.a.transposed = true; }},
      {"ldb is 2; allowed is 3",
       [](MatMulArgs& args) {
         args.b.transposed = true;
         args.b.ld = 2;
       }},
      {"stride_a is -1; allowed is 0", [](MatMulArgs& args) { args.a.stride = -1; }},
      {"stride_b is -1; allowed is 0", [](MatMulArgs& args) { args.b.stride = -1; }},
      {"stride_c is 34; allowed is 35", [](MatMulArgs& args) { args.c.stride = 34; }},
      {"a has lda 4611686018427387903", [](MatMulArgs& args) { args.a.ld = kMax / 2; }},
      {"b has ldb 5, stride_b 4611686018427387903",
       [](MatMulArgs& args) { args.b.stride = kMax / 2; }},
      {"c has ldc 5, stride_c 9223372036854775807", [](MatMulArgs& args) { args.c.stride = kMax; }},
      {"a is null; allowed only when it has no elements, and it has 21",
       [](MatMulArgs& args) { args.a.data = nullptr; }},
      {"b is null", [](MatMulArgs& args) { args.b.data = nullptr; }},
      {"c is null", [](MatMulArgs& args) { args.c.data = nullptr; }},
      {"a is not a multiple of 4",
       [](MatMulArgs& args) { args.a.data = static_cast<const char*>(args.a.data) + 2; }},
      {"workspace_bytes is -1", [](MatMulArgs& args) { args.workspace_bytes = -1; }},
      {"workspace is null", [](MatMulArgs& args) { args.workspace_bytes = 16; }},
      {"workspace is not a multiple of 16",
       [](MatMulArgs& args) { args.workspace = reinterpret_cast<void*>(uintptr_t{8}); }},
      {"block is 8x8",
       [](MatMulArgs& args) {
         args.block = {8, 8};
       }},
  };
  for (const Refusal& refusal : refusals) {
    MatMulTestProblem<float> problem({7, 5, 3, 0, false, false, 1, 0, 3});
    MatMulArgs args = problem.args();
    refusal.spoil(args);
    const absl::Status status = RunMatMul(*FindMatMulImplementation("cpu_naive"), args);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << refusal.says;
    EXPECT_EQ(std::string(status.message()).rfind(absl::StrCat("cpu_naive: ", refusal.says), 0), 0u)
        << refusal.says << ": " << status;
  }
}

// bfloat16 in and float out. Its addresses are nobody's: only checks look at them.
struct Bf16Problem {
  MatMulArgs args;
  Bf16Problem() {
    args.m = args.n = args.k = 7;
    args.a = {reinterpret_cast<const void*>(uintptr_t{0x10002}), 7, ElementType::kBf16};
    args.b = {reinterpret_cast<const void*>(uintptr_t{0x20006}), 7, ElementType::kBf16};
    args.c = {reinterpret_cast<float*>(uintptr_t{0x30004}), 7};
  }
};

TEST(MatMulTypes, Bf16InAndFp32OutIsTakenByWhatSaysSo) {
  const MatMulTypes types[] = {AllOf(ElementType::kFloat), kBf16ToFp32};
  MatMulImplementation implementation;
  implementation.types = types;
  Bf16Problem problem;
  EXPECT_TRUE(CheckMatMulArgs(implementation, problem.args).ok())
      << CheckMatMulArgs(implementation, problem.args);
  ASSERT_NE(FindTypes(implementation, problem.args), nullptr);
  EXPECT_EQ(FindTypes(implementation, problem.args)->accumulator, ElementType::kFloat);
  EXPECT_EQ(ScaleType(problem.args), ElementType::kFloat);

  const struct {
    ElementType a, b, c;
    const char* says;
  } refusals[] = {
      {ElementType::kFp16, ElementType::kBf16, ElementType::kFloat,
       "a has elements of type fp16; allowed is float or bf16"},
      {ElementType::kBf16, ElementType::kFloat, ElementType::kFloat,
       "b has elements of type float; allowed is bf16"},
      {ElementType::kBf16, ElementType::kBf16, ElementType::kBf16,
       "c has elements of type bf16; allowed is float"},
  };
  for (const auto& refusal : refusals) {
    problem.args.a.type = refusal.a;
    problem.args.b.type = refusal.b;
    problem.args.c.type = refusal.c;
    const absl::Status status = CheckMatMulArgs(implementation, problem.args);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), refusal.says);
    EXPECT_EQ(FindTypes(implementation, problem.args), nullptr);
  }
}

TEST(MatMulTypes, Bf16IsRefusedByName) {
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    const bool takes_bf16 =
        std::any_of(implementation.types.begin(), implementation.types.end(),
                    [](const MatMulTypes& types) { return types.a == ElementType::kBf16; });
    if (implementation.run == nullptr || takes_bf16) continue;
    const absl::Status status = RunMatMul(implementation, Bf16Problem().args);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(
        std::string(status.message())
            .rfind(absl::StrCat(implementation.name, ": a has elements of type bf16; allowed is ",
                                ElementTypeName(implementation.types[0].a)),
                   0),
        0u)
        << status;
  }
}

// Where an element is 2 bytes long an address is aligned that is not for 4.
TEST(MatMulTypes, AlignmentFollowsTheTypes) {
  const MatMulTypes types[] = {kBf16ToFp32};
  MatMulImplementation implementation;
  implementation.types = types;
  Bf16Problem problem;
  problem.args.c.data = reinterpret_cast<float*>(uintptr_t{0x30002});
  EXPECT_EQ(CheckMatMulArgs(implementation, problem.args).message(),
            "c is not a multiple of 4, the element's size");
  problem.args.a.data = reinterpret_cast<void*>(uintptr_t{0x10001});
  EXPECT_EQ(CheckMatMulArgs(implementation, problem.args).message(),
            "a is not a multiple of 2, the element's size");
}

// Before anything is launched, so that no GPU is needed to hear it.
TEST(MatMulRegistry, RefusesTheGeneralFormWhereItIsNotTaken) {
  const Refusal refusals[] = {
      {"transpose_a is true; allowed is false", [](MatMulArgs& args) { args.a.transposed = true; }},
      {"transpose_b is true; allowed is false", [](MatMulArgs& args) { args.b.transposed = true; }},
      {"alpha is 0.5; allowed is 1", [](MatMulArgs& args) { args.alpha = 0.5; }},
      {"beta is 1; allowed is 0", [](MatMulArgs& args) { args.beta = 1; }},
      {"batch is 2; allowed is 1", [](MatMulArgs& args) { args.batch = 2; }},
      {"batch is 0; allowed is 1", [](MatMulArgs& args) { args.batch = 0; }},
  };
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.general || implementation.run == nullptr ||
        !TakesType(implementation, ElementType::kFloat)) {
      continue;
    }
    for (const Refusal& refusal : refusals) {
      MatMulTestProblem<float> problem({7, 7, 7, 0});
      MatMulArgs args = problem.args();
      refusal.spoil(args);
      const absl::Status status = RunMatMul(implementation, args);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << refusal.says;
      EXPECT_NE(std::string(status.message()).find(refusal.says), std::string::npos) << status;
    }
  }
}

// Refused, or, without CUDA, not there: in no case launched.
TEST(MatMulRegistry, KernelsRefuseALargerKThanTheyCount) {
  MatMulTestProblem<float> problem({1, 1, 1, 0});
  MatMulArgs args = problem.args();
  args.k = args.a.ld = int64_t{1} << 31;
  const absl::StatusCode code = RunMatMul(*FindMatMulImplementation("naive"), args).code();
  EXPECT_TRUE(code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kUnavailable);
}

TEST(MatMulRegistry, CountsBytesAndFlops) {
  EXPECT_EQ(MatMulFlops(2, 3, 5), 60);
  EXPECT_EQ(MatMulBytes(2, 3, 5, AllOf(ElementType::kFloat)), 4 * (10 + 15 + 6));
  EXPECT_EQ(MatMulBytes(2, 3, 5, AllOf(ElementType::kDouble)), 8 * (10 + 15 + 6));
  EXPECT_EQ(MatMulBytes(2, 3, 5, kBf16ToFp32), 2 * (10 + 15) + 4 * 6);
  // Beyond 64 bits without wrapping round.
  EXPECT_GT(MatMulFlops(1 << 24, 1 << 24, 1 << 24), 9e21);
}

// What must not be read is NaN in these problems, and would show.
TEST(ReferenceProducts, IsTheDefinitionOnTheHost) {
  for (MatMulCase c : GeneralMatMulCases(/*all=*/true)) {
    if (c.batch == 0) continue;
    MatMulTestProblem<float> problem(c);
    std::vector<double> r(c.m * c.n);
    std::vector<double> s(c.m * c.n);
    const int64_t last = c.batch - 1;
    const MatMulArgs args = OneOfBatch(problem.args(), last);
    ASSERT_TRUE(ReferenceProducts(args, {r.data(), c.m, c.n, c.n}, {s.data(), c.m, c.n, c.n}).ok());
    const ConstMatrix<float> a = args.A<float>();
    const ConstMatrix<float> b = args.B<float>();
    for (int64_t row = 0; row < c.m; ++row) {
      for (int64_t col = 0; col < c.n; ++col) {
        double sum = c.beta == 0 ? 0 : c.beta * args.C<float>()(row, col);
        double absolute = std::abs(sum);
        for (int64_t i = 0; i < c.k && c.alpha != 0; ++i) {
          const double product = c.alpha * (c.transpose_a ? a(i, row) : a(row, i)) *
                                 (c.transpose_b ? b(col, i) : b(i, col));
          sum += product;
          absolute += std::abs(product);
        }
        ASSERT_NEAR(r[row * c.n + col], sum, 1e-12) << c;
        ASSERT_NEAR(s[row * c.n + col], absolute, 1e-12) << c;
      }
    }
  }
}

// 0.1 as a float is not 0.1.
TEST(ReferenceProducts, RoundsAlphaAndBetaAsTheElementTypeDoes) {
  const float a = 1;
  const float b = 1;
  float c = 1;
  MatMulArgs args;
  args.m = args.n = args.k = 1;
  args.a = {&a, 1};
  args.b = {&b, 1};
  args.c = {&c, 1};
  args.alpha = 0.1;
  args.beta = -0.2;
  double r = 0;
  double s = 0;
  ASSERT_TRUE(ReferenceProducts(args, {&r, 1, 1, 1}, {&s, 1, 1, 1}).ok());
  EXPECT_EQ(r, double{0.1f} - double{0.2f});
  EXPECT_EQ(s, double{0.1f} + double{0.2f});
}

TEST(ReferenceTerms, CountsWhatAlphaAndBetaAdd) {
  MatMulArgs args;
  args.k = 5;
  EXPECT_EQ(ReferenceTerms(args), 5);
  args.alpha = 2;
  EXPECT_EQ(ReferenceTerms(args), 7);
  args.alpha = 1;
  args.beta = 1;
  EXPECT_EQ(ReferenceTerms(args), 7);
}

}  // namespace
}  // namespace stridewise

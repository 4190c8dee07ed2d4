// What the registry says of its entries, which arguments it refuses, and how it names them.

#include "matmul/registry.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "matmul/check_args.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {
namespace {

constexpr MatMulTypes kBf16ToFp32 = {ElementType::kBf16, ElementType::kBf16, ElementType::kFloat,
                                     ElementType::kFloat};

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
  int refusing = 0;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    const bool takes_bf16 =
        std::any_of(implementation.types.begin(), implementation.types.end(),
                    [](const MatMulTypes& types) { return types.a == ElementType::kBf16; });
    if (implementation.run == nullptr || takes_bf16) continue;
    ++refusing;
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
  EXPECT_GE(refusing, 3);
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
  int refusing = 0;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.general || implementation.run == nullptr ||
        !TakesType(implementation, ElementType::kFloat)) {
      continue;
    }
    ++refusing;
    for (const Refusal& refusal : refusals) {
      MatMulTestProblem<float> problem({7, 7, 7, 0});
      MatMulArgs args = problem.args();
      refusal.spoil(args);
      const absl::Status status = RunMatMul(implementation, args);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << refusal.says;
      EXPECT_NE(std::string(status.message()).find(refusal.says), std::string::npos) << status;
    }
  }
  if (refusing == 0) GTEST_SKIP() << "built without the kernels that take plain products only";
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

}  // namespace
}  // namespace stridewise

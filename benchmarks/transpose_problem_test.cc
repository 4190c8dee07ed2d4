#include "benchmarks/transpose_problem.h"

#include <cmath>
#include <cstring>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr TransposeOperation kTranspose = TransposeOperation::kTranspose;
constexpr TransposeOperation kCopy = TransposeOperation::kCopy;

TransposeProblem ProblemOf(const Shape2& shape, int64_t element_bytes) {
  auto problem = TransposeProblem::Create(shape, element_bytes, 7, HostMemory::kPageable);
  EXPECT_TRUE(problem.ok()) << problem.status();
  problem->PoisonOut();
  return *std::move(problem);
}

void RunOn(const TransposeProblem& problem) {
  const auto status =
      RunTranspose(*FindTransposeImplementation("cpu_naive_row"), problem.Args(kTranspose));
  ASSERT_TRUE(status.ok()) << status;
}

char* Out(const TransposeProblem& problem) {
  return static_cast<char*>(problem.Args(kTranspose).out);
}

TEST(TransposeProblem, JudgesTransposesAndCopiesOfEverySize) {
  for (const Shape2& shape : {Shape2{1, 1}, Shape2{3, 200}, Shape2{129, 65}, Shape2{1, 1000}}) {
    for (const int64_t element_bytes : {1, 2, 4, 8, 16}) {
      for (const VerifyMode mode : {VerifyMode::kFull, VerifyMode::kFast}) {
        const TransposeProblem problem = ProblemOf(shape, element_bytes);
        EXPECT_TRUE(absl::IsDataLoss(problem.Verify(kTranspose, mode)));
        EXPECT_TRUE(absl::IsDataLoss(problem.Verify(kCopy, mode)));
        EXPECT_TRUE(problem.Verify(kCopy, VerifyMode::kOff).ok());
        RunOn(problem);
        EXPECT_TRUE(problem.Verify(kTranspose, mode).ok()) << problem.Verify(kTranspose, mode);
        std::memcpy(Out(problem), problem.Args(kCopy).in, problem.bytes());
        EXPECT_TRUE(problem.Verify(kCopy, mode).ok()) << problem.Verify(kCopy, mode);
      }
    }
  }
}

TEST(TransposeProblem, FindsAndNamesOneWrongBit) {
  const TransposeProblem problem = ProblemOf({300, 200}, 4);
  RunOn(problem);
  Out(problem)[size_t{4} * (150 * 300 + 299)] ^= 1;
  const absl::Status status = problem.Verify(kTranspose, VerifyMode::kFull);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_NE(std::string(status.message()).find("1 mismatch: (150, 299) is"), std::string::npos)
      << status;
  EXPECT_TRUE(absl::IsDataLoss(problem.Verify(kTranspose, VerifyMode::kFast)));
}

// Too few samples will meet it in a matrix so large, but the sum does.
TEST(TransposeProblem, FastFindsAnElementThatIsMissing) {
  const TransposeProblem problem = ProblemOf({3000, 2000}, 4);
  RunOn(problem);
  std::memset(Out(problem) + size_t{4} * (1000 * 3000 + 1234), 0xff, 4);
  EXPECT_TRUE(absl::IsDataLoss(problem.Verify(kTranspose, VerifyMode::kFast)));
}

TEST(TransposeProblem, NothingIsRight) {
  EXPECT_TRUE(ProblemOf({0, 5}, 4).Verify(kTranspose, VerifyMode::kFull).ok());
  EXPECT_TRUE(ProblemOf({5, 0}, 4).Verify(kTranspose, VerifyMode::kFast).ok());
}

TEST(TransposeProblem, ElementsAreNormalNumbers) {
  const TransposeProblem floats = ProblemOf({100, 99}, 4);
  const TransposeProblem doubles = ProblemOf({100, 99}, 16);
  for (int64_t i = 0; i < 9900; ++i) {
    const float f = static_cast<const float*>(floats.Args(kCopy).in)[i];
    const double d = static_cast<const double*>(doubles.Args(kCopy).in)[i];
    EXPECT_TRUE(std::isnormal(f) && f > 0) << f;
    EXPECT_TRUE(std::isnormal(d) && d > 0) << d;
  }
}

TEST(TransposeProblem, TooLargeIsResourceExhausted) {
  const auto problem =
      TransposeProblem::Create({int64_t{1} << 31, int64_t{1} << 9}, 16, 7, HostMemory::kPageable);
  EXPECT_TRUE(absl::IsResourceExhausted(problem.status())) << problem.status();
}

}  // namespace
}  // namespace stridewise

#include <cmath>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmarks/transpose/transpose_problem.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr TransposeOperation kTranspose = TransposeOperation::kTranspose;
constexpr TransposeOperation kCopy = TransposeOperation::kCopy;
constexpr TransposeOperation kInPlace = TransposeOperation::kInPlace;

TransposeProblem ProblemOf(const Shape2& shape, int64_t element_bytes, int64_t batch = 1) {
  auto problem = TransposeProblem::Create(shape, batch, element_bytes, 7, HostMemory::kPageable);
  EXPECT_TRUE(problem.ok()) << problem.status();
  problem->PoisonOut();
  return *std::move(problem);
}

// Matrix by matrix: the host's transposes take no batches.
void RunOn(const TransposeProblem& problem) {
  TransposeArgs args = problem.Args(kTranspose);
  const int64_t batch = args.batch;
  args.batch = 1;
  for (int64_t i = 0; i < batch; ++i) {
    const auto status = RunTranspose(*FindTransposeImplementation("cpu_naive_row"), args);
    ASSERT_TRUE(status.ok()) << status;
    args.in = static_cast<const char*>(args.in) + args.stride_in * args.element_bytes;
    args.out = static_cast<char*>(args.out) + args.stride_out * args.element_bytes;
  }
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
        EXPECT_TRUE(problem.Verify(kInPlace, mode).ok()) << problem.Verify(kInPlace, mode);
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

TEST(TransposeProblem, JudgesEveryMatrixOfABatch) {
  for (const VerifyMode mode : {VerifyMode::kFull, VerifyMode::kFast}) {
    const TransposeProblem problem = ProblemOf({7, 5}, 4, 1000);
    EXPECT_EQ(problem.bytes(), size_t{7} * 5 * 4 * 1000);
    EXPECT_TRUE(absl::IsDataLoss(problem.Verify(kTranspose, mode)));
    RunOn(problem);
    EXPECT_TRUE(problem.Verify(kTranspose, mode).ok()) << problem.Verify(kTranspose, mode);
    EXPECT_TRUE(absl::IsDataLoss(problem.Verify(kCopy, mode)));
    for (const size_t matrix : {0, 1, 500, 999}) {
      char* element = Out(problem) + 4 * (matrix * 35 + size_t{2} * 7 + 6);
      *element ^= 1;
      const absl::Status status = problem.Verify(kTranspose, mode);
      EXPECT_TRUE(absl::IsDataLoss(status)) << matrix;
      const std::string want = absl::StrCat("matrix ", matrix, ": 1 mismatch: (2, 6) is");
      if (mode == VerifyMode::kFull) {
        EXPECT_NE(std::string(status.message()).find(want), std::string::npos) << status;
      }
      *element ^= 1;
    }
  }
}

// A copy of a batch is a copy of one taller matrix.
TEST(TransposeProblem, ArgumentsAreGapless) {
  const TransposeProblem problem = ProblemOf({7, 5}, 4, 10);
  const TransposeArgs transpose = problem.Args(kTranspose);
  EXPECT_EQ(transpose.batch, 10);
  EXPECT_EQ(transpose.stride_in, 35);
  EXPECT_EQ(transpose.stride_out, 35);
  EXPECT_EQ(transpose.ld_out, 7);
  const TransposeArgs copy = problem.Args(kCopy);
  EXPECT_EQ(copy.batch, 1);
  EXPECT_EQ(copy.rows, 70);
  EXPECT_EQ(copy.ld_out, 5);
  std::memcpy(Out(problem), copy.in, problem.bytes());
  EXPECT_TRUE(problem.Verify(kCopy, VerifyMode::kFull).ok());
  EXPECT_TRUE(problem.IsOf({7, 5}, 10, 4));
  EXPECT_FALSE(problem.IsOf({7, 5}, 1, 4));
  EXPECT_FALSE(problem.IsOf({5, 7}, 10, 4));
  EXPECT_FALSE(problem.IsOf({7, 5}, 10, 8));
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
  const auto problem = TransposeProblem::Create({int64_t{1} << 31, 1}, int64_t{1} << 9, 16, 7,
                                                HostMemory::kPageable);
  EXPECT_TRUE(absl::IsResourceExhausted(problem.status())) << problem.status();
}

}  // namespace
}  // namespace stridewise

#include "benchmarks/transpose/transposition.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/workload.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr char kTranspose[] = "cpu_naive_row";
constexpr char kCopy[] = "memcpy";
constexpr char kInPlace[] = "in_place_square";

const TransposeImplementation& Find(const char* name) { return *FindTransposeImplementation(name); }

// A transposition with its input and a poisoned result.
class Subject {
 public:
  Subject(int64_t rows, int64_t cols, int64_t element_bytes, int64_t batch = 1)
      : one_(Point{{rows, cols}, "", 1, {}}, element_bytes),
        workload_(Workload::Create(std::make_unique<Transposition>(
                                       Point{{rows, cols}, "", batch, {}}, element_bytes),
                                   /*seed=*/7, HostMemory::kPageable)
                      .value()) {
    workload_.PoisonOutput();
  }

  // Transposes matrix by matrix: the host's transposes take no batches.
  void Transpose() {
    const Binding binding = one_.Bind(Find(kTranspose), kNoBlock);
    for (size_t i = 0; i < bytes(); i += one_.output().bytes) {
      void* const inputs[] = {static_cast<char*>(workload_.inputs()[0]) + i};
      const absl::Status status = binding.run({inputs, out() + i});
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  void Copy() { std::memcpy(out(), in(), bytes()); }

  absl::Status Verify(const char* implementation, VerifyMode mode) {
    return workload_.Verify(Find(implementation), mode, nullptr, nullptr);
  }

  const char* in() const { return static_cast<const char*>(workload_.inputs()[0]); }
  char* out() const { return static_cast<char*>(workload_.output()); }
  size_t bytes() const { return workload_.problem().output().bytes; }

 private:
  Transposition one_;  // Matrix of the batch.
  Workload workload_;
};

TEST(TranspositionTest, JudgesTransposesAndCopiesOfEverySize) {
  const std::pair<int64_t, int64_t> shapes[] = {{1, 1}, {3, 200}, {129, 65}, {1, 1000}};
  for (const auto& [rows, cols] : shapes) {
    for (const int64_t element_bytes : {1, 2, 4, 8, 16}) {
      for (const VerifyMode mode : {VerifyMode::kFull, VerifyMode::kFast}) {
        Subject subject(rows, cols, element_bytes);
        EXPECT_TRUE(absl::IsDataLoss(subject.Verify(kTranspose, mode)));
        EXPECT_TRUE(absl::IsDataLoss(subject.Verify(kCopy, mode)));
        EXPECT_TRUE(subject.Verify(kCopy, VerifyMode::kOff).ok());
        subject.Transpose();
        EXPECT_TRUE(subject.Verify(kTranspose, mode).ok()) << subject.Verify(kTranspose, mode);
        EXPECT_TRUE(subject.Verify(kInPlace, mode).ok()) << subject.Verify(kInPlace, mode);
        subject.Copy();
        EXPECT_TRUE(subject.Verify(kCopy, mode).ok()) << subject.Verify(kCopy, mode);
      }
    }
  }
}

TEST(TranspositionTest, FindsAndNamesOneWrongBit) {
  Subject subject(300, 200, 4);
  subject.Transpose();
  subject.out()[size_t{4} * (150 * 300 + 299)] ^= 1;
  const absl::Status status = subject.Verify(kTranspose, VerifyMode::kFull);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "1 mismatch: (150, 299) is")) << status;
  EXPECT_TRUE(absl::IsDataLoss(subject.Verify(kTranspose, VerifyMode::kFast)));
}

// Too few samples will meet it in a matrix so large, but the sum does.
TEST(TranspositionTest, FastFindsAnElementThatIsMissing) {
  Subject subject(3000, 2000, 4);
  subject.Transpose();
  std::memset(subject.out() + size_t{4} * (1000 * 3000 + 1234), 0xff, 4);
  EXPECT_TRUE(absl::IsDataLoss(subject.Verify(kTranspose, VerifyMode::kFast)));
}

TEST(TranspositionTest, JudgesEveryMatrixOfABatch) {
  for (const VerifyMode mode : {VerifyMode::kFull, VerifyMode::kFast}) {
    Subject subject(7, 5, 4, 1000);
    EXPECT_EQ(subject.bytes(), size_t{7} * 5 * 4 * 1000);
    EXPECT_TRUE(absl::IsDataLoss(subject.Verify(kTranspose, mode)));
    subject.Transpose();
    EXPECT_TRUE(subject.Verify(kTranspose, mode).ok()) << subject.Verify(kTranspose, mode);
    EXPECT_TRUE(absl::IsDataLoss(subject.Verify(kCopy, mode)));
    for (const size_t matrix : {0, 1, 500, 999}) {
      char* element = subject.out() + 4 * (matrix * 35 + size_t{2} * 7 + 6);
      *element ^= 1;
      const absl::Status status = subject.Verify(kTranspose, mode);
      EXPECT_TRUE(absl::IsDataLoss(status)) << matrix;
      if (mode == VerifyMode::kFull) {
        EXPECT_TRUE(absl::StrContains(status.message(),
                                      absl::StrCat("matrix ", matrix, ": 1 mismatch: (2, 6) is")))
            << status;
      }
      *element ^= 1;
    }
    subject.Copy();
    EXPECT_TRUE(subject.Verify(kCopy, mode).ok()) << subject.Verify(kCopy, mode);
  }
}

// What an implementation gets as arguments, by a function that keeps them. A copy of a batch is a
// copy of one taller matrix.
TEST(TranspositionTest, ArgumentsAreGapless) {
  static TransposeArgs got;
  const Transposition problem({{7, 5}, "", 10, {}}, 4);
  TransposeImplementation implementation = Find("batch_small");
  implementation.is_built_in = true;
  implementation.run = [](const TransposeArgs& args) {
    got = args;
    return LaunchStatus();
  };
  std::vector<char> memory(2 * problem.output().bytes);
  void* const inputs[] = {memory.data()};
  const Buffers buffers = {inputs, memory.data() + problem.output().bytes};
  absl::Status status = problem.Bind(implementation, kNoBlock).run(buffers);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(got.batch, 10);
  EXPECT_EQ(got.stride_in, 35);
  EXPECT_EQ(got.stride_out, 35);
  EXPECT_EQ(got.ld_out, 7);
  implementation.operation = TransposeOperation::kCopy;
  status = problem.Bind(implementation, kNoBlock).run(buffers);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(got.batch, 1);
  EXPECT_EQ(got.rows, 70);
  EXPECT_EQ(got.ld_out, 5);
}

TEST(TranspositionTest, NothingIsRight) {
  EXPECT_TRUE(Subject(0, 5, 4).Verify(kTranspose, VerifyMode::kFull).ok());
  EXPECT_TRUE(Subject(5, 0, 4).Verify(kTranspose, VerifyMode::kFast).ok());
}

TEST(TranspositionTest, ElementsAreNormalNumbers) {
  const Subject floats(100, 99, 4);
  const Subject doubles(100, 99, 16);
  for (size_t i = 0; i < 9900; ++i) {
    const float f = reinterpret_cast<const float*>(floats.in())[i];
    const double d = reinterpret_cast<const double*>(doubles.in())[i];
    EXPECT_TRUE(std::isnormal(f) && f > 0) << f;
    EXPECT_TRUE(std::isnormal(d) && d > 0) << d;
  }
}

TEST(TranspositionTest, TooLargeIsResourceExhausted) {
  const Point point = {{int64_t{1} << 31, 1}, "", int64_t{1} << 9, {}};
  const auto workload = Workload::Create(std::make_unique<Transposition>(point, 16), /*seed=*/7,
                                         HostMemory::kPageable);
  EXPECT_TRUE(absl::IsResourceExhausted(workload.status())) << workload.status();
}

}  // namespace
}  // namespace stridewise

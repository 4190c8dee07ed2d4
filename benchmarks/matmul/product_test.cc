#include "benchmarks/matmul/product.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/workload.h"
#include "benchmarks/matmul/operation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

Point PointOf(std::vector<int64_t> shape,
              std::vector<std::string> axes = {"nn", "1", "0", "asked", "fp32", "none"},
              int64_t batch = 1) {
  return {std::move(shape), "float", batch, std::move(axes)};
}

// A product with its operands and a poisoned result.
class Subject {
 public:
  explicit Subject(const Point& point)
      : workload_(
            Workload::Create(std::make_unique<Product>(point), /*seed=*/3, HostMemory::kPageable)
                .value()) {
    workload_.PoisonOutput();
  }

  // As the harness runs it, and without putting back what C held before.
  absl::Status Multiply(const char* name = "eigen_1core") {
    workload_.PrepareOutput(Bind(name));
    return MultiplyAgain(name);
  }
  absl::Status MultiplyAgain(const char* name = "eigen_1core") const {
    return workload_.Run(Bind(name));
  }

  absl::Status Verify(VerifyMode mode) {
    return workload_.Verify(*MatMulOperation().Find("eigen"), mode, /*cublas=*/nullptr, &row_);
  }

  // Of the last Verify(); negative where it set none.
  double relative_error() const {
    const std::string& text = row_.Get(Column::kRelativeError);
    return text.empty() ? -1 : std::stod(text);
  }

  Workload& workload() { return workload_; }
  float& C(size_t i) { return static_cast<float*>(workload_.output())[i]; }
  float& LastOfC() { return C(workload_.problem().output().bytes / sizeof(float) - 1); }

 private:
  Binding Bind(const char* name) const {
    return workload_.problem().Bind(*MatMulOperation().Find(name), kNoBlock);
  }

  Workload workload_;
  ResultRow row_;
};

class ProductTest : public testing::TestWithParam<VerifyMode> {
 protected:
  static void ExpectWrong(Subject& subject, const char* words = "") {
    const absl::Status status = subject.Verify(GetParam());
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), words)) << status;
  }
};

TEST_P(ProductTest, PassesTheProductAndSetsErrors) {
  for (const char* type : {"float", "double"}) {
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
             {1, 1, 1}, {65, 33, 40}, {0, 4, 4}, {4, 4, 0}, {200, 1, 300}}) {
      Point point = PointOf(shape);
      point.type = type;
      Subject subject(point);
      ASSERT_TRUE(subject.Multiply().ok());
      EXPECT_TRUE(subject.Verify(GetParam()).ok()) << subject.Verify(GetParam());
      EXPECT_GE(subject.relative_error(), 0);
      // A result without elements has an error of 0.
      EXPECT_TRUE(shape[0] > 0 || subject.relative_error() == 0) << subject.relative_error();
      EXPECT_LT(subject.relative_error(), point.type == "float" ? 1e-5 : 1e-13);
    }
  }
}

TEST_P(ProductTest, RefusesPoisonAndWrongElements) {
  Subject subject(PointOf({70, 50, 60}));
  ExpectWrong(subject);
  ASSERT_TRUE(subject.Multiply().ok());
  subject.LastOfC() += 0.5f;
  ExpectWrong(subject);
  ASSERT_TRUE(subject.Multiply().ok());
  EXPECT_TRUE(subject.Verify(GetParam()).ok());
}

TEST_P(ProductTest, JudgesEveryForm) {
  const std::pair<std::vector<std::string>, int64_t> forms[] = {
      {{"nt", "1", "0", "asked", "fp32", "none"}, 1},
      {{"tn", "1", "0", "asked", "fp32", "none"}, 1},
      {{"tt_col", "1", "0", "asked", "fp32", "none"}, 1},
      {{"nn_col", "1", "0", "asked", "fp32", "none"}, 1},
      {{"nn", "-0.3", "0", "asked", "fp32", "none"}, 1},
      {{"nn", "1", "0.7", "asked", "fp32", "none"}, 1},
      {{"nn", "0", "0.7", "asked", "fp32", "none"}, 1},
      {{"nn", "1", "0", "asked", "fp32", "none"}, 5},
      {{"nn", "1", "0", "no", "fp32", "none"}, 1},
      {{"tn_col", "0.3", "-2", "asked", "fp32", "none"}, 5}};
  for (const auto& [axes, batch] : forms) {
    SCOPED_TRACE(absl::StrCat(absl::StrJoin(axes, " "), " x ", batch));
    Subject subject(PointOf({20, 30, 40}, axes, batch));
    for (int run = 0; run < 2; ++run) {  // With beta the second depends on C as it was before.
      subject.workload().PoisonOutput();
      ASSERT_TRUE(subject.Multiply().ok());
      EXPECT_TRUE(subject.Verify(GetParam()).ok()) << subject.Verify(GetParam());
    }
    EXPECT_GE(subject.relative_error(), 0);
    EXPECT_LT(subject.relative_error(), 1e-5);
    subject.LastOfC() += 0.5f;  // Of the last matrix.
    ExpectWrong(subject);
    subject.workload().PoisonOutput();
    ExpectWrong(subject);
  }
}

// A matrix between the first and the last that nothing wrote.
TEST_P(ProductTest, SeesAMatrixOfTheBatchThatWasLeftOut) {
  Subject subject(PointOf({4, 5, 6}, {"nn", "1", "0", "asked", "fp32", "none"}, 3));
  ASSERT_TRUE(subject.Multiply().ok());
  subject.C(4 * 5 + 7) = NAN;
  ExpectWrong(subject, "matrix 1");
}

// With beta the runs of a benchmark would each add to the result of the one before.
TEST_P(ProductTest, SeesThatCWasNotRestored) {
  Subject subject(PointOf({20, 30, 40}, {"nn", "1", "0.5", "asked", "fp32", "none"}));
  ASSERT_TRUE(subject.Multiply().ok());
  ASSERT_TRUE(subject.MultiplyAgain().ok());
  ExpectWrong(subject);
}

INSTANTIATE_TEST_SUITE_P(Modes, ProductTest, testing::Values(VerifyMode::kFull, VerifyMode::kFast),
                         [](const auto& info) { return std::string(VerifyModeName(info.param)); });

TEST(ProductWorkloadTest, OffChecksNothing) {
  Subject subject(PointOf({4, 4, 4}));
  EXPECT_TRUE(subject.Verify(VerifyMode::kOff).ok());
  EXPECT_LT(subject.relative_error(), 0);
}

TEST(ProductWorkloadTest, CrossCheckNamesTheImplementationThatDiffers) {
  Subject subject(PointOf({30, 40, 50}));
  for (const char* name : {"cpu_naive", "eigen"}) {
    ASSERT_TRUE(subject.Multiply(name).ok());
    EXPECT_TRUE(subject.workload().CrossCheck(name).ok()) << name;
  }
  subject.C(3 * 40 + 3) = NAN;
  const absl::Status status = subject.workload().CrossCheck("broken");
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "cpu_naive")) << status;
}

TEST(ProductWorkloadTest, MoreThanTheHostHasIsOutOfMemory) {
  const Point point = PointOf({int64_t{1} << 24, int64_t{1} << 24, 1});
  const auto workload =
      Workload::Create(std::make_unique<Product>(point), 1, HostMemory::kPageable);
  EXPECT_TRUE(absl::IsResourceExhausted(workload.status())) << workload.status();
}

}  // namespace
}  // namespace stridewise

#include <cmath>
#include <optional>

#include "benchmarks/matmul/matmul_workload.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

class MatMulWorkloadTest : public testing::TestWithParam<VerifyMode> {
 protected:
  static MatMulWorkload Make(const Shape3& shape, ElementType type = ElementType::kFloat,
                             const MatMulForm& form = {}) {
    auto problem = MatMulWorkload::Create({nullptr, shape, type, kNoBlock, form}, /*seed=*/3,
                                          HostMemory::kPageable);
    EXPECT_TRUE(problem.ok()) << problem.status();
    return *std::move(problem);
  }
  static absl::Status Multiply(MatMulWorkload& problem) {
    problem.RestoreC();
    return RunMatMul(*FindMatMulImplementation("eigen_1core"), problem.args());
  }
};

TEST_P(MatMulWorkloadTest, PassesTheProductAndSetsErrors) {
  for (const ElementType type : {ElementType::kFloat, ElementType::kDouble}) {
    for (const Shape3& shape : {Shape3{1, 1, 1}, Shape3{65, 33, 40}, Shape3{0, 4, 4},
                                Shape3{4, 4, 0}, Shape3{200, 1, 300}}) {
      MatMulWorkload problem = Make(shape, type);
      problem.PoisonC();
      ASSERT_TRUE(Multiply(problem).ok());
      std::optional<ProductError> error;
      const absl::Status status = problem.Verify(GetParam(), nullptr, &error);
      EXPECT_TRUE(status.ok()) << status;
      ASSERT_TRUE(error.has_value());
      EXPECT_LT(error->relative_error, type == ElementType::kFloat ? 1e-5 : 1e-13);
    }
  }
}

TEST_P(MatMulWorkloadTest, RefusesPoisonAndWrongElements) {
  MatMulWorkload problem = Make({70, 50, 60});
  std::optional<ProductError> error;
  problem.PoisonC();
  EXPECT_EQ(problem.Verify(GetParam(), nullptr, &error).code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(Multiply(problem).ok());
  problem.args().C<float>()(69, 49) += 0.5f;
  EXPECT_EQ(problem.Verify(GetParam(), nullptr, &error).code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(Multiply(problem).ok());
  EXPECT_TRUE(problem.Verify(GetParam(), nullptr, &error).ok());
}

MatMulForm Form(const char* layout, double alpha, double beta, int64_t batch) {
  return {ParseLayouts("--layouts", layout)->front(), alpha, beta, batch};
}

TEST_P(MatMulWorkloadTest, JudgesEveryForm) {
  for (const MatMulForm& form :
       {Form("nt", 1, 0, 1), Form("tn", 1, 0, 1), Form("tt_col", 1, 0, 1), Form("nn_col", 1, 0, 1),
        Form("nn", -0.3, 0, 1), Form("nn", 1, 0.7, 1), Form("nn", 0, 0.7, 1), Form("nn", 1, 0, 5),
        Form("tn_col", 0.3, -2, 5)}) {
    MatMulWorkload problem = Make({20, 30, 40}, ElementType::kFloat, form);
    std::optional<ProductError> error;
    for (int run = 0; run < 2; ++run) {  // With beta the second depends on C as it was before.
      problem.PoisonC();
      ASSERT_TRUE(Multiply(problem).ok());
      const absl::Status status = problem.Verify(GetParam(), nullptr, &error);
      EXPECT_TRUE(status.ok()) << LayoutName(form.layout) << ": " << status;
    }
    ASSERT_TRUE(error.has_value());
    EXPECT_LT(error->relative_error, 1e-5);

    // One wrong element of the last matrix, or none written.
    const MatMulArgs& args = problem.args();
    static_cast<float*>(args.c)[ElementsOfC(args) - 1] += 0.5f;
    EXPECT_EQ(problem.Verify(GetParam(), nullptr, &error).code(), absl::StatusCode::kDataLoss);
    problem.PoisonC();
    EXPECT_EQ(problem.Verify(GetParam(), nullptr, &error).code(), absl::StatusCode::kDataLoss);
  }
}

// A matrix between the first and the last that nothing wrote.
TEST_P(MatMulWorkloadTest, SeesAMatrixOfTheBatchThatWasLeftOut) {
  MatMulWorkload problem = Make({4, 5, 6}, ElementType::kFloat, Form("nn", 1, 0, 3));
  ASSERT_TRUE(Multiply(problem).ok());
  const MatMulArgs& args = problem.args();
  static_cast<float*>(args.c)[args.stride_c + 7] = NAN;
  std::optional<ProductError> error;
  const absl::Status status = problem.Verify(GetParam(), nullptr, &error);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::string(status.message()).find("matrix 1"), std::string::npos) << status;
}

// With beta the runs of a benchmark would each add to the result of the one before.
TEST_P(MatMulWorkloadTest, SeesThatCWasNotRestored) {
  MatMulWorkload problem = Make({20, 30, 40}, ElementType::kFloat, Form("nn", 1, 0.5, 1));
  std::optional<ProductError> error;
  ASSERT_TRUE(Multiply(problem).ok());
  ASSERT_TRUE(RunMatMul(*FindMatMulImplementation("eigen_1core"), problem.args()).ok());
  EXPECT_EQ(problem.Verify(GetParam(), nullptr, &error).code(), absl::StatusCode::kDataLoss);
}

INSTANTIATE_TEST_SUITE_P(Modes, MatMulWorkloadTest,
                         testing::Values(VerifyMode::kFull, VerifyMode::kFast),
                         [](const auto& info) { return std::string(VerifyModeName(info.param)); });

TEST(MatMulWorkload, IsOfOneShapeTypeAndForm) {
  const MatMulConfig config = {nullptr, {2, 3, 4}};
  const auto problem = MatMulWorkload::Create(config, 1, HostMemory::kPageable);
  ASSERT_TRUE(problem.ok());
  EXPECT_TRUE(problem->IsOf(config));
  MatMulConfig other = config;
  other.shape.k = 5;
  EXPECT_FALSE(problem->IsOf(other));
  other = config;
  other.type = ElementType::kDouble;
  EXPECT_FALSE(problem->IsOf(other));
  for (const MatMulForm& form :
       {Form("nn_col", 1, 0, 1), Form("nn", 2, 0, 1), Form("nn", 1, 2, 1), Form("nn", 1, 0, 2)}) {
    other = config;
    other.form = form;
    EXPECT_FALSE(problem->IsOf(other));
  }
}

TEST(MatMulWorkload, OffChecksNothing) {
  auto problem = MatMulWorkload::Create({nullptr, {4, 4, 4}}, 1, HostMemory::kPageable);
  ASSERT_TRUE(problem.ok());
  problem->PoisonC();
  std::optional<ProductError> error;
  EXPECT_TRUE(problem->Verify(VerifyMode::kOff, nullptr, &error).ok());
  EXPECT_FALSE(error.has_value());
}

TEST(MatMulWorkload, CrossCheckNamesTheImplementationThatDiffers) {
  auto problem = MatMulWorkload::Create({nullptr, {30, 40, 50}}, 1, HostMemory::kPageable);
  ASSERT_TRUE(problem.ok());
  ASSERT_TRUE(RunMatMul(*FindMatMulImplementation("cpu_naive"), problem->args()).ok());
  EXPECT_TRUE(problem->CrossCheck("cpu_naive").ok());
  ASSERT_TRUE(RunMatMul(*FindMatMulImplementation("eigen"), problem->args()).ok());
  EXPECT_TRUE(problem->CrossCheck("eigen").ok());
  problem->args().C<float>()(3, 3) = NAN;
  const absl::Status status = problem->CrossCheck("broken");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::string(status.message()).find("cpu_naive"), std::string::npos) << status;
}

TEST(MatMulWorkload, MoreThanTheHostHasIsOutOfMemory) {
  const MatMulConfig config = {nullptr, {int64_t{1} << 24, int64_t{1} << 24, 1}};
  const auto problem = MatMulWorkload::Create(config, 1, HostMemory::kPageable);
  EXPECT_EQ(problem.status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace stridewise

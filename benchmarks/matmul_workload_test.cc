#include "benchmarks/matmul_workload.h"

#include <cmath>
#include <optional>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

class MatMulWorkloadTest : public testing::TestWithParam<VerifyMode> {
 protected:
  static MatMulWorkload Make(const Shape3& shape, ElementType type = ElementType::kFloat) {
    auto problem = MatMulWorkload::Create(shape, type, /*seed=*/3, HostMemory::kPageable);
    EXPECT_TRUE(problem.ok()) << problem.status();
    return *std::move(problem);
  }
  static absl::Status Multiply(MatMulWorkload& problem) {
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

INSTANTIATE_TEST_SUITE_P(Modes, MatMulWorkloadTest,
                         testing::Values(VerifyMode::kFull, VerifyMode::kFast),
                         [](const auto& info) { return std::string(VerifyModeName(info.param)); });

TEST(MatMulWorkload, OffChecksNothing) {
  auto problem = MatMulWorkload::Create({4, 4, 4}, ElementType::kFloat, 1, HostMemory::kPageable);
  ASSERT_TRUE(problem.ok());
  problem->PoisonC();
  std::optional<ProductError> error;
  EXPECT_TRUE(problem->Verify(VerifyMode::kOff, nullptr, &error).ok());
  EXPECT_FALSE(error.has_value());
}

TEST(MatMulWorkload, CrossCheckNamesTheImplementationThatDiffers) {
  auto problem =
      MatMulWorkload::Create({30, 40, 50}, ElementType::kFloat, 1, HostMemory::kPageable);
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
  const auto problem = MatMulWorkload::Create({int64_t{1} << 24, int64_t{1} << 24, 1},
                                              ElementType::kFloat, 1, HostMemory::kPageable);
  EXPECT_EQ(problem.status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace stridewise

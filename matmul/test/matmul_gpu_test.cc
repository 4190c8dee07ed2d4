// Every device implementation on a GPU: the cases that all share, and those that only a GPU is fast
// enough for.

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/device.h"
#include "gtest/gtest.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_gpu_fixture.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/spoilt_problem.h"

namespace stridewise {
namespace {

TEST_P(MatMulGpuTest, Float) {
  for (const MatMulCase& c : MatMulCasesFor(*implementation_, /*all=*/true)) RunCase<float>(c);
}

// Precisions of float other than FP32, with the general form where the entry takes it.
class MatMulPrecisionGpuTest : public MatMulGpuTest {};

TEST_P(MatMulPrecisionGpuTest, Float) {
  for (const MatMulPrecision precision : implementation_->precisions) {
    if (precision == MatMulPrecision::kFp32) continue;
    if (!IsPrecisionOf(precision, ElementType::kFloat)) continue;
    std::vector<MatMulCase> cases = MatMulCasesFor(*implementation_, /*all=*/true);
    cases.push_back({300, 520, 1200, 0});
    cases.push_back({300, 521, 1201, 0});
    // So many matrices of short strips that none is divided among blocks (split_strip.h).
    for (const int ops : {0, 1, 2, 3}) {
      if (!implementation_->general) break;
      for (const int64_t k : {4, 37, 84, 131, 300}) {
        const MatMulCase many = {45, 71, k, 1, (ops & 1) != 0, (ops & 2) != 0, 1, 0, 280, 1};
        cases.push_back(many);
      }
    }
    for (const MatMulCase& c : InPrecision(cases, precision)) RunCase<float>(c);
  }
}

// Bias and activation, in the types that the entry takes.
class MatMulEpilogueGpuTest : public MatMulGpuTest {};

TEST_P(MatMulEpilogueGpuTest, EveryEpilogue) {
  for (const MatMulCase& c : EpilogueMatMulCases()) {
    if (TakesType(*implementation_, ElementType::kFloat)) {
      RunCase<float>(InPrecision({c}, implementation_->precisions[0])[0]);
    }
    if (TakesType(*implementation_, ElementType::kBf16)) RunCase<Bf16>(c);
    if (TakesType(*implementation_, ElementType::kFp16)) RunCase<Fp16>(c);
  }
}

class MatMulDoubleGpuTest : public MatMulGpuTest {};

TEST_P(MatMulDoubleGpuTest, Double) {
  for (const MatMulCase& c : MatMulCasesFor(*implementation_, /*all=*/true)) RunCase<double>(c);
}

// More rows of blocks than grid.y holds, with any block up to 32 rows.
TEST_P(MatMulGpuTest, MoreRowsThanAGridHolds) { RunCase<float>({65535 * 32 + 33, 2, 3, 1}); }

TEST_P(MatMulGpuTest, EveryBlockShape) {
  if (implementation_->blocks == Blocks::kFixed) {
    MatMulTestProblem<float> problem({5, 5, 5, 0});
    EXPECT_EQ(RunOnDevice(&problem, false, {3, 7}).code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  for (const Block& block : {Block{1, 1}, Block{32, 1}, Block{1, 32}, Block{256, 1}, Block{8, 8},
                             Block{3, 7}, Block{32, 32}, Block{1, 1024}, Block{1024, 1}}) {
    RunCase<float>({67, 71, 19, 2}, block);
  }
  MatMulTestProblem<float> problem({5, 5, 5, 0});
  EXPECT_EQ(RunOnDevice(&problem, false, {64, 32}).code(), absl::StatusCode::kInvalidArgument);
  RunCase<float>({5, 5, 5, 0});  // And the device is none the worse for it.
}

// A NaN, or an infinity, in A spoils its row of C, in B its column, and nothing else: zero padding
// must not meet it.
TEST_P(MatMulGpuTest, NanAndInfinityStayInTheirRowAndColumn) {
  for (const MatMulCase& c : SpoiltMatMulCases(*implementation_)) {
    for (const float value : {NAN, INFINITY}) {
      for (const bool in_a : {true, false}) {
        MatMulTestProblem<float> problem(c);
        Spoil(value, in_a, &problem);
        ASSERT_TRUE(RunOnDevice(&problem).ok()) << c;
        ASSERT_TRUE(CheckSpoilt(in_a, problem).ok())
            << c << ", " << value << " in " << (in_a ? "A: " : "B: ") << CheckSpoilt(in_a, problem);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatMulGpuTest,
                         DeviceImplementations([](const auto& i) { return TakesFp32(i); }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, MatMulPrecisionGpuTest, DeviceImplementations([](const auto& i) {
                           return TakesType(i, ElementType::kFloat) &&
                                  (i.precisions.size() > 1 ||
                                   !TakesPrecision(i, MatMulPrecision::kFp32));
                         }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, MatMulEpilogueGpuTest,
                         DeviceImplementations([](const auto& i) { return i.takes_epilogue; }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, MatMulDoubleGpuTest, DeviceImplementations([](const auto& i) {
                           return TakesType(i, ElementType::kDouble);
                         }),
                         NameOfImplementation);
TEST(ReferenceProductsGpuTest, HostAndDeviceAgree) {
  const auto device = OpenDevice(0);
  if (!device.ok()) GTEST_SKIP() << device.status();
  auto cublas = CublasHandle::Create();
  ASSERT_TRUE(cublas.ok()) << cublas.status();
  for (const MatMulCase& c :
       {MatMulCase{129, 65, 200, 3}, MatMulCase{129, 65, 200, 3, true, false, -0.5, 2},
        MatMulCase{65, 129, 200, 3, true, true, 0.1, -1, 3, 5},
        MatMulCase{65, 129, 200, 3, false, true, 0, 0.1},
        MatMulCase{65, 129, 0, 3, false, true, 1, 1}}) {
    MatMulTestProblem<float> problem(c);
    std::vector<double> r[2], s[2];
    for (const int on_device : {0, 1}) {
      r[on_device].resize(c.m * c.n);
      s[on_device].resize(c.m * c.n);
      MatMulArgs args = problem.args();
      if (on_device == 1) args.cublas = cublas->get();
      const absl::Status status = ReferenceProducts(args, {r[on_device].data(), c.m, c.n, c.n},
                                                    {s[on_device].data(), c.m, c.n, c.n});
      ASSERT_TRUE(status.ok()) << c << ": " << status;
    }
    for (int64_t i = 0; i < c.m * c.n; ++i) {
      ASSERT_NEAR(r[0][i], r[1][i], 1e-12) << c;
      ASSERT_NEAR(s[0][i], s[1][i], 1e-12) << c;
    }
  }
}

}  // namespace
}  // namespace stridewise

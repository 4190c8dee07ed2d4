// The fixture of tests that run every device implementation on a GPU, each with the same cases.

#ifndef STRIDEWISE_MATMUL_TEST_MATMUL_GPU_FIXTURE_H_
#define STRIDEWISE_MATMUL_TEST_MATMUL_GPU_FIXTURE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "common/base/element_type.h"
#include "common/gpu/launch_geometry.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/shared_problems.h"

namespace stridewise {

inline bool TakesFp32(const MatMulImplementation& implementation) {
  return TakesType(implementation, ElementType::kFloat) &&
         TakesPrecision(implementation, MatMulPrecision::kFp32);
}

class MatMulGpuTest : public DeviceImplementationTest {
 protected:
  static void SetUpTestSuite() { problems_ = std::make_unique<SharedProblems>(); }
  static void TearDownTestSuite() { problems_.reset(); }

  // cuBLAS rounds a product to a C of 16 bits before it adds beta * C or a bias, and its GELU is
  // less exact than FP32: neither keeps our bounds. It has no GELU by erf.
  template <typename Out>
  bool VendorRoundsTwice(const MatMulCase& c) const {
    return implementation_->needs_cublas &&
           (c.activation == Activation::kGelu || c.activation == Activation::kGeluErf ||
            (sizeof(Out) < sizeof(float) && (c.beta != 0 || c.bias)));
  }

  template <typename T, typename Out = T>
  void RunCase(const MatMulCase& c, const Block& block = kNoBlock) {
    if (VendorRoundsTwice<Out>(c)) return;
    MatMulTestProblem<T, Out>* const problem = problems_->Get<T, Out>(c);
    const absl::Status status = RunOnDevice(problem, /*with_workspace=*/false, block);
    ASSERT_TRUE(status.ok()) << c << ": " << status;
    // A large reference takes seconds on the host.
    constexpr int64_t kMostOnHost = int64_t{1} << 26;
    const absl::Status check =
        problem->Check(c.m * c.n * c.k * c.batch > kMostOnHost ? cublas() : nullptr);
    ASSERT_TRUE(check.ok()) << c << ": " << check;
  }

  // Of the suite that runs.
  static inline std::unique_ptr<SharedProblems> problems_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_MATMUL_GPU_FIXTURE_H_

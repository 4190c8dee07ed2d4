// Plans of squares for GPUs that are not there.

#ifndef STRIDEWISE_MATMUL_TEST_PLAN_FIXTURE_H_
#define STRIDEWISE_MATMUL_TEST_PLAN_FIXTURE_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/matmul.h"
#include "matmul/plan.h"
#include "matmul/registry.h"

namespace stridewise {

inline constexpr DeviceModel kH200 = H200Model();
inline constexpr DeviceModel kH100 = WithMemoryRate(kH200, 3352);

inline MatMulPlanOptions For(const DeviceModel& device) {
  MatMulPlanOptions options;
  options.device_model = &device;
  return options;
}
inline MatMulPlanOptions ForH200() { return For(kH200); }
inline MatMulPlanOptions ForH100() { return For(kH100); }

// How a text of plans names an H200.
inline std::string H200Words() {
  return absl::StrCat(kH200.compute_capability, " ", kH200.multiprocessors, " ", kH200.memory_gbps);
}

inline MatMulProblem Square(int64_t n) {
  MatMulProblem problem;
  problem.m = problem.n = problem.k = n;
  problem.a.ld = problem.b.ld = problem.c.ld = n;
  return problem;
}

class PlanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (FindMatMulImplementation("auto")->run == nullptr) GTEST_SKIP() << "needs a CUDA toolkit";
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_PLAN_FIXTURE_H_

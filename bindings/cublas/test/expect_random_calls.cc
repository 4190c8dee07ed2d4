#include "bindings/cublas/test/expect_random_calls.h"

#include <memory>
#include <random>

#include "absl/status/statusor.h"
#include "bindings/cublas/call_trials.h"
#include "bindings/cublas/offer.h"
#include "bindings/cublas/test/call_runner.h"
#include "common/gpu/device_model.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/matmul.h"

namespace stridewise::drop_in {
namespace {

// Adds failures to the test, and an error ends the calls.
void Expect(uint32_t seed, int calls, const CallKinds& kinds, bool captured, int* in_precision) {
  const absl::StatusOr<std::unique_ptr<CallRunner>> runner = CallRunner::Create(seed);
  ASSERT_TRUE(runner.ok()) << runner.status();
  const absl::StatusOr<const DeviceModel*> device = gpu::CurrentModel();
  ASSERT_TRUE(device.ok()) << device.status();
  std::mt19937_64 random(seed);
  for (int i = 0; i < calls; ++i) {
    const RandomCall call = DrawCall(random, kinds);
    const absl::StatusOr<CallResult> result =
        captured ? (*runner)->RunCaptured(call) : (*runner)->Run(call, 0);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_LE(result->error_over_bound, 1)
        << "call " << i << " of seed " << seed << ": " << FunctionName(call.function) << " "
        << call.m << "x" << call.n << "x" << call.k << ", batch " << call.batch;
    const ProductPlan plan = PlanOf(call, **device);
    if (plan.precision != MatMulPrecision::kFp32 && plan.Faster() == Way::kOurs &&
        call.alpha != 0) {
      ++*in_precision;
    }
  }
}

}  // namespace

int ExpectRandomCallsAreRight(uint32_t seed, int calls, const CallKinds& kinds, bool captured) {
  int in_precision = 0;
  Expect(seed, calls, kinds, captured, &in_precision);
  return in_precision;
}

}  // namespace stridewise::drop_in

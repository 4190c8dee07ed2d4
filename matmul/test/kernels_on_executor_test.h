// What tests of kernels on the host executor share that say which kernels have to run.

#ifndef STRIDEWISE_MATMUL_TEST_KERNELS_ON_EXECUTOR_TEST_H_
#define STRIDEWISE_MATMUL_TEST_KERNELS_ON_EXECUTOR_TEST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/executor/executor.h"
#include "common/executor/two_executors.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"

namespace stridewise {

// A call, and the multiprocessors that it is planned for. With one, clusters of two blocks compute
// one tile after the other.
struct Call {
  MatMulCase c;
  int multiprocessors;
};

// Returns each call with every op(A) and op(B).
inline std::vector<Call> InAllLayouts(const std::vector<Call>& calls) {
  std::vector<Call> all;
  for (Call call : calls) {
    for (const int ops : {0, 1, 2, 3}) {
      call.c.transpose_a = (ops & 1) != 0;
      call.c.transpose_b = (ops & 2) != 0;
      all.push_back(call);
    }
  }
  return all;
}

// Runs calls of one kernel in turn on two executors, whose schedules differ.
class KernelsOnExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto executors = executor::TwoExecutors();
    ASSERT_TRUE(executors.ok()) << executors.status();
    executors_ = *std::move(executors);
  }

  // Not a std::function<...> by name, so that OfB is not looked for in a lambda.
  template <typename T, typename Out, typename OfB>
  using Change = std::common_type_t<std::function<void(MatMulTestProblem<T, Out, OfB>*)>>;

  // Runs the calls and keeps the kernels that were launched last, or before the last.
  // `change` may change operands.
  template <typename T, typename Out, typename OfB = T>
  void Run(const char* name, const std::vector<Call>& calls, const MatMulScales& scales = {},
           const Change<T, Out, OfB>& change = nullptr) {
    const auto implementation = OnHostExecutor(*FindMatMulImplementation(name));
    ASSERT_TRUE(implementation.ok()) << implementation.status();
    for (Call call : calls) {
      SCOPED_TRACE(testing::Message()
                   << name << ", " << call.c << ", " << call.multiprocessors << " multiprocessors");
      if (std::is_same_v<T, float>) call.c.precision = implementation->precisions.front();
      executor::Executor* const executor = executors_[turn_++ % executors_.size()].get();
      DeviceModel device = H200Model();
      device.multiprocessors = call.multiprocessors;
      MatMulTestProblem<T, Out, OfB> problem(call.c);
      problem.SetScales(scales);
      if (change) change(&problem);
      const absl::Status status = RunAsPlanned(*implementation, device, executor, &problem);
      ASSERT_TRUE(status.ok()) << status;
      const absl::Status check =
          problem.Check(nullptr, AccuracyOf(*implementation, problem.args()));
      ASSERT_TRUE(check.ok()) << check;
      launches_ = executor->launches().size();
      ASSERT_GE(launches_, kernel_from_end_);
      const executor::LaunchReport& launch = executor->launches()[launches_ - kernel_from_end_];
      kernels_.emplace(launch.kernel, launch);
    }
  }

  // Expects that the kernels that were kept are at least as many instantiations of the one
  // with this name, and none of others.
  void ExpectKernels(const char* name, size_t count) const {
    EXPECT_GE(kernels_.size(), count);
    for (const auto& [entry, report] : kernels_) {
      EXPECT_EQ(executor::Executor::KernelName(report), name);
    }
  }

  std::vector<std::unique_ptr<executor::Executor>> executors_;
  size_t turn_ = 0;
  size_t launches_ = 0;         // Of the last call.
  size_t kernel_from_end_ = 1;  // Of a call's launches, the one that is kept: 1 is the last.
  std::map<uintptr_t, executor::LaunchReport> kernels_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_KERNELS_ON_EXECUTOR_TEST_H_

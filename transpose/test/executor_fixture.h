// A fixture for tests of what entries do on the host executor, and to memory.

#ifndef STRIDEWISE_TRANSPOSE_TEST_EXECUTOR_FIXTURE_H_
#define STRIDEWISE_TRANSPOSE_TEST_EXECUTOR_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/executor/executor.h"
#include "common/executor/profile.h"
#include "gtest/gtest.h"
#include "transpose/host_executor.h"
#include "transpose/registry.h"
#include "transpose/test/run_on_executor.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {

class TransposeOnExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto executor = executor::Executor::Create({});
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  // Runs, and checks every byte of `out`.
  void RunCase(const std::string& name, const TransposeCase& c, int64_t element_bytes) {
    const auto implementation = OnHostExecutor(*FindTransposeImplementation(name));
    ASSERT_TRUE(implementation.ok()) << implementation.status();
    TransposeTestProblem problem(c, element_bytes, implementation->operation);
    executor_->ClearLaunches();
    const absl::Status status =
        RunOnExecutor(*implementation, {0, 0, 0}, executor_.get(), &problem);
    ASSERT_TRUE(status.ok()) << name << " " << c << ", " << element_bytes << " bytes: " << status;
    ASSERT_TRUE(problem.Check().ok())
        << name << " " << c << ", " << element_bytes << " bytes: " << problem.Check();
  }

  executor::Profile ProfileOf(const std::string& name, const TransposeCase& c,
                              int64_t element_bytes) {
    RunCase(name, c, element_bytes);
    return executor_->launches().empty() ? executor::Profile()
                                         : executor_->launches().back().profile;
  }

  std::unique_ptr<executor::Executor> executor_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_EXECUTOR_FIXTURE_H_

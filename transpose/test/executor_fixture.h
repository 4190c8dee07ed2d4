// A fixture for tests of what implementations do on the host executor, and to memory there.

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
  virtual executor::ExecutorOptions Options() const { return {}; }

  void SetUp() override {
    auto executor = executor::Executor::Create(Options());
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  // Runs, and checks every byte of `out`. The launches are in executor_->launches().
  void RunCase(const std::string& name, const TransposeCase& c, int64_t element_bytes,
               const Block& block = kNoBlock) {
    SCOPED_TRACE(testing::Message() << name << " " << c << ", " << element_bytes << " bytes");
    const auto implementation = OnHostExecutor(*FindTransposeImplementation(name));
    ASSERT_TRUE(implementation.ok()) << implementation.status();
    TransposeTestProblem problem(c, element_bytes, implementation->operation);
    executor_->ClearLaunches();
    const absl::Status status = RunOnExecutor(*implementation, block, executor_.get(), &problem);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(problem.Check().ok()) << problem.Check();
  }

  // Runs a case that is one launch, and returns the report of it.
  executor::LaunchReport ReportOf(const std::string& name, const TransposeCase& c,
                                  int64_t element_bytes, const Block& block = kNoBlock) {
    RunCase(name, c, element_bytes, block);
    EXPECT_EQ(executor_->launches().size(), 1u) << name;
    return executor_->launches().empty() ? executor::LaunchReport() : executor_->launches().back();
  }
  executor::Profile ProfileOf(const std::string& name, const TransposeCase& c,
                              int64_t element_bytes, const Block& block = kNoBlock) {
    return ReportOf(name, c, element_bytes, block).profile;
  }

  std::unique_ptr<executor::Executor> executor_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_EXECUTOR_FIXTURE_H_

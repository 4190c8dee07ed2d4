// What tests of Permute()'s kernels on the host executor share: every byte of the result and around
// it is compared, with checks of bounds, races and initialisation.

#ifndef STRIDEWISE_TRANSPOSE_TEST_PERMUTE_EXECUTOR_FIXTURE_H_
#define STRIDEWISE_TRANSPOSE_TEST_PERMUTE_EXECUTOR_FIXTURE_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "common/executor/executor.h"
#include "common/gpu/launch_status.h"
#include "gtest/gtest.h"
#include "transpose/permute.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {

class PermuteExecutorFixture : public testing::Test {
 protected:
  void SetUp() override {
    auto executor = executor::Executor::Create({});
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  // Runs the kernel on the canonical form of the case. The executor has its launches afterwards.
  template <typename Kernel>
  void RunWith(const PermuteCase& c, Kernel kernel) {
    RunWhere(
        c, [](const PermuteArgs& /*args*/) { return true; }, kernel);
  }

  // Does the same where the kernel takes the case. Returns whether it does.
  template <typename Takes, typename Kernel>
  bool RunWhere(const PermuteCase& c, Takes takes, Kernel kernel) {
    bool runs = false;
    RunAndCheck(c, takes, kernel, &runs);
    return runs;
  }

  std::unique_ptr<executor::Executor> executor_;

 private:
  template <typename Takes, typename Kernel>
  void RunAndCheck(const PermuteCase& c, Takes takes, Kernel kernel, bool* runs) {
    PermuteTestProblem problem(c);
    auto in = executor_->Allocate("in", problem.in().size());
    auto out = executor_->Allocate("out", problem.out().size());
    ASSERT_TRUE(in.ok() && out.ok());
    in->Upload(problem.in().data());
    in->MakeReadOnly();
    out->Poison(problem.out().data());
    auto args = CheckedPermuteArgs(problem.At(in->data(), out->data()));
    ASSERT_TRUE(args.ok()) << args.status();
    args->stream = executor_->stream();
    const PermuteArgs canonical = Canonical(*args);
    *runs = takes(canonical);
    if (!*runs) return;
    executor_->ClearLaunches();
    const absl::Status status = kernel(canonical);
    ASSERT_TRUE(status.ok()) << status;
    if (canonical.rank == 0) return;
    out->Download(problem.out().data());
    ASSERT_TRUE(problem.Check().ok()) << problem.Check();
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_PERMUTE_EXECUTOR_FIXTURE_H_

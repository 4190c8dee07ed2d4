// Runs a test's problem on the host executor.

#ifndef STRIDEWISE_TRANSPOSE_TEST_RUN_ON_EXECUTOR_H_
#define STRIDEWISE_TRANSPOSE_TEST_RUN_ON_EXECUTOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/executor/executor.h"
#include "transpose/registry.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {

// Runs an implementation that OnHostExecutor() returned. `in` is read-only, and `out`, unless it is
// in place, must not be read. The result is in the problem's out_with_guards().
inline absl::Status RunOnExecutor(const TransposeImplementation& implementation, const Block& block,
                                  executor::Executor* executor, TransposeTestProblem* problem) {
  std::vector<uint8_t>& out = problem->out_with_guards();
  ASSIGN_OR_RETURN(executor::Buffer device_in, executor->Allocate("in", problem->in().size()));
  ASSIGN_OR_RETURN(executor::Buffer device_out, executor->Allocate("out", out.size()));
  device_in.Upload(problem->in().data());
  device_in.MakeReadOnly();
  if (problem->in_place()) {
    device_out.Upload(out.data());
  } else {
    device_out.Poison(out.data());
  }
  TransposeArgs args = problem->ArgsAt(device_in.data(), device_out.data());
  args.stream = executor->stream();
  args.block = block;
  RETURN_IF_ERROR(RunTranspose(implementation, args));
  device_out.Download(out.data());
  return absl::OkStatus();
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_RUN_ON_EXECUTOR_H_

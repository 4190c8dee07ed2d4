// Runs a test's problem on the host executor.

#ifndef STRIDEWISE_MATMUL_TEST_RUN_ON_EXECUTOR_H_
#define STRIDEWISE_MATMUL_TEST_RUN_ON_EXECUTOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/executor/executor.h"
#include "matmul/registry.h"
#include "matmul/test/defined_product.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {

// Returns a buffer with the host's values; one that is not read counts as never written.
template <typename T>
absl::StatusOr<executor::Buffer> ToExecutor(executor::Executor* executor, const char* name,
                                            const std::vector<T>& host, bool read) {
  ASSIGN_OR_RETURN(executor::Buffer buffer, executor->Allocate(name, host.size() * sizeof(T)));
  if (read) {
    buffer.Upload(host.data());
  } else {
    buffer.Poison(host.data());
  }
  return buffer;
}

// Returns whether the entry is one of FP32, in full precision.
inline bool IsForFp32(const MatMulImplementation& implementation) {
  return TakesType(implementation, ElementType::kFloat) &&
         TakesPrecision(implementation, MatMulPrecision::kFp32);
}

// Returns a buffer with FP8's scales; an empty one where there are none.
inline absl::StatusOr<executor::Buffer> ScalesToExecutor(executor::Executor* executor,
                                                         const char* name, const float* scales,
                                                         int64_t count) {
  if (scales == nullptr) return executor::Buffer();
  return ToExecutor(executor, name, std::vector<float>(scales, scales + count), true);
}

// Runs an implementation of OnHostExecutor(), planned for `device_model` or, if that is null, for
// the executor itself. A and B are read-only; with alpha 0 they may not be read either, nor may C
// with beta 0. The workspace has not been written before. The result is in the problem's
// c_with_guards().
template <typename T, typename Out, typename OfB>
absl::Status RunOnExecutor(const MatMulImplementation& implementation, const Block& block,
                           int64_t workspace_bytes, executor::Executor* executor,
                           MatMulTestProblem<T, Out, OfB>* problem,
                           const DeviceModel* device_model = nullptr) {
  std::vector<Out>& host_c = problem->c_with_guards();
  ASSIGN_OR_RETURN(executor::Buffer a,
                   ToExecutor(executor, "a", problem->a(), problem->reads_a_and_b()));
  ASSIGN_OR_RETURN(executor::Buffer b,
                   ToExecutor(executor, "b", problem->b(), problem->reads_a_and_b()));
  ASSIGN_OR_RETURN(const executor::Buffer c, ToExecutor(executor, "c", host_c, problem->reads_c()));
  ASSIGN_OR_RETURN(const executor::Buffer bias,
                   ToExecutor(executor, "bias", problem->bias(), true));
  const MatMulScales& scales = problem->args().scales;
  ASSIGN_OR_RETURN(const executor::Buffer scales_a,
                   ScalesToExecutor(executor, "scales_a", scales.a, ScalesOfA(problem->args())));
  ASSIGN_OR_RETURN(const executor::Buffer scales_b,
                   ScalesToExecutor(executor, "scales_b", scales.b, ScalesOfB(problem->args())));
  ASSIGN_OR_RETURN(const executor::Buffer workspace,
                   executor->Allocate("workspace", static_cast<size_t>(workspace_bytes)));
  a.MakeReadOnly();
  b.MakeReadOnly();
  MatMulArgs args = problem->ArgsAt(a.data(), b.data(), c.data());
  args.epilogue.bias = bias.data();
  args.scales.a = scales_a.As<float>();
  args.scales.b = scales_b.As<float>();
  args.workspace = workspace.data();
  args.workspace_bytes = workspace_bytes;
  args.stream = executor->stream();
  args.block = block;
  args.device_model = device_model;
  RETURN_IF_ERROR(RunMatMul(implementation, args));
  c.Download(host_c.data());
  return absl::OkStatus();
}

// Does so as planned for `device`, with the workspace that the implementation asks for there. The
// executor's launches are those of this call afterwards.
template <typename T, typename Out, typename OfB>
absl::Status RunAsPlanned(const MatMulImplementation& implementation, const DeviceModel& device,
                          executor::Executor* executor, MatMulTestProblem<T, Out, OfB>* problem) {
  MatMulArgs args = problem->args();
  args.device_model = &device;
  executor->ClearLaunches();
  return RunOnExecutor(implementation, kNoBlock, MatMulWorkspaceBytes(implementation, args),
                       executor, problem, &device);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_RUN_ON_EXECUTOR_H_

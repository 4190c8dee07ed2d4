#include "matmul/host_executor.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_model.h"
#include "matmul/dispatch.h"

namespace stridewise {
namespace executor {
namespace {

// The device that `auto` chooses for, unless the caller hands over another.
DeviceModel DeviceOf(const MatMulArgs& args) {
  return args.device_model != nullptr ? *args.device_model : SmallModel();
}

}  // namespace

// Returns the functions of that entry in this namespace; null where there are none. The flag of a
// line decides what becomes of it, so that nothing refers to a function that only nvcc compiles.
MatMulFunctions FindFunctions(absl::string_view wanted) {
#define IF_kHostExecutable(...) __VA_ARGS__
#define IF_kDeviceOnly(...)
#define MATMUL_HOST(...)
#define MATMUL_DEVICE(name, function, executor, ...)           \
  IF_##executor(LaunchStatus function(const MatMulArgs& args); \
                if (wanted == #name) return {function, nullptr};)
#define MATMUL_WITH_WORKSPACE(name, function, executor, ...)              \
  IF_##executor(LaunchStatus function(const MatMulArgs& args);            \
                int64_t function##WorkspaceBytes(const MatMulArgs& args); \
                if (wanted == #name) return {function, function##WorkspaceBytes};)
#include "matmul/kernels.inc"  // NOLINT(build/include)
  return {nullptr, nullptr};
}

// As matmul/device/registry_entry.h declares it: a kernel that runs others as part of its work runs
// these here.
MatMulFunctions FunctionsOf(const char* name) { return FindFunctions(name); }

LaunchStatus MatMulEpiloguePass(const MatMulArgs& args);

// `auto` is no kernel, and launches through the registry: here that is this one.
LaunchStatus MatMulAuto(const MatMulArgs& args) {
  return RunChosenMatMul(
      args, DeviceOf(args), RunsOn::kHostExecutor,
      [](const MatMulImplementation& chosen, const MatMulArgs& chosen_args) -> absl::Status {
        ASSIGN_OR_RETURN(const MatMulImplementation on_host, OnHostExecutor(chosen));
        return RunChosenEntry(on_host, chosen_args, [](const MatMulArgs& all) -> absl::Status {
          return MatMulEpiloguePass(all);
        });
      });
}

int64_t MatMulAutoWorkspaceBytes(const MatMulArgs& args) {
  const auto on_host = OnHostExecutor(
      *ChooseMatMul(WithAnyWorkspace(args), DeviceOf(args), RunsOn::kHostExecutor).entry);
  return on_host.ok() ? MatMulWorkspaceBytes(*on_host, args) : 0;
}

}  // namespace executor

absl::StatusOr<MatMulImplementation> OnHostExecutor(const MatMulImplementation& implementation) {
  const MatMulFunctions functions = executor::FindFunctions(implementation.name);
  if (functions.run == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(implementation.name, " does not run on the host executor"));
  }
  MatMulImplementation on_host = implementation;
  on_host.run = functions.run;
  on_host.workspace_bytes = functions.workspace_bytes;
  on_host.is_built_in = true;
  return on_host;
}

}  // namespace stridewise

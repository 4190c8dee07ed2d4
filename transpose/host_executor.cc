#include "transpose/host_executor.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "transpose/dispatch.h"

namespace stridewise {
namespace executor {

using Function = LaunchStatus (*)(const TransposeArgs& args);

// Returns the function of that name in this namespace; null where there is none. The flag of a line
// decides what becomes of it, so that nothing refers to a function that only nvcc compiles.
Function FindFunction(absl::string_view wanted) {
#define IF_kHostExecutable(...) __VA_ARGS__
#define IF_kDeviceOnly(...)
#define TRANSPOSE_HOST(...)
#define TRANSPOSE_DEVICE(name, function, executor, ...)           \
  IF_##executor(LaunchStatus function(const TransposeArgs& args); \
                if (wanted == #name) return function;)
#include "transpose/kernels.inc"  // NOLINT(build/include)
#include "transpose/library.inc"  // NOLINT(build/include)
  return nullptr;
}

// `auto` is no kernel, and launches through the registry: here that is this one.
LaunchStatus TransposeAuto(const TransposeArgs& args) {
  return RunChosenTranspose(
      args,
      [](const TransposeImplementation& chosen, const TransposeArgs& chosen_args) -> absl::Status {
        ASSIGN_OR_RETURN(const TransposeImplementation on_host, OnHostExecutor(chosen));
        return RunTranspose(on_host, chosen_args);
      });
}

}  // namespace executor

absl::StatusOr<TransposeImplementation> OnHostExecutor(
    const TransposeImplementation& implementation) {
  TransposeImplementation on_host = implementation;
  on_host.run = executor::FindFunction(implementation.name);
  on_host.is_built_in = true;
  if (on_host.run != nullptr) return on_host;
  return absl::UnimplementedError(
      absl::StrCat(implementation.name, " does not run on the host executor"));
}

}  // namespace stridewise

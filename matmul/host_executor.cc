#include "matmul/host_executor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "matmul/dispatch.h"

namespace stridewise {

// An entry's flag chooses what becomes of it, so that nothing refers to a function that only nvcc
// compiles.
#define IF_kHostExecutable(...) __VA_ARGS__
#define IF_kDeviceOnly(...)

#define MATMUL_HOST(...)
#define MATMUL_CUBLAS(...)

namespace executor {

#define MATMUL_KERNEL(name, function, math, blocks, block, flag, min_cc, summary, teaches) \
  IF_##flag(absl::Status function(const MatMulArgs& args);)
#define MATMUL_STEP(name, function, block, flag, min_cc, summary, teaches) \
  IF_##flag(absl::Status function(const MatMulArgs& args);)
#define MATMUL_GENERAL(name, function, workspace, flag, min_cc, summary, teaches) \
  IF_##flag(absl::Status function(const MatMulArgs& args);                        \
            int64_t workspace(const MatMulArgs& args);)
#include "matmul/kernels.inc"  // NOLINT(build/include)
#undef MATMUL_KERNEL
#undef MATMUL_STEP
#undef MATMUL_GENERAL

// As matmul/device/registry_entry.h declares it for kernels.
const MatMulImplementation& RegistryEntry(absl::string_view name);

}  // namespace executor

namespace {

struct Entry {
  absl::string_view name;
  absl::Status (*run)(const MatMulArgs& args);
  int64_t (*workspace_bytes)(const MatMulArgs& args);
};

constexpr Entry kEntries[] = {
#define MATMUL_KERNEL(name, function, math, blocks, block, flag, min_cc, summary, teaches) \
  IF_##flag({#name, executor::function, nullptr}, )
#define MATMUL_STEP(name, function, block, flag, min_cc, summary, teaches) \
  IF_##flag({#name, executor::function, nullptr}, )
#define MATMUL_GENERAL(name, function, workspace, flag, min_cc, summary, teaches) \
  IF_##flag({#name, executor::function, executor::workspace}, )
#include "matmul/kernels.inc"  // NOLINT(build/include)
#undef MATMUL_KERNEL
#undef MATMUL_STEP
#undef MATMUL_GENERAL
};

}  // namespace

absl::StatusOr<MatMulImplementation> OnHostExecutor(const MatMulImplementation& implementation) {
  for (const Entry& entry : kEntries) {
    if (entry.name != implementation.name) continue;
    MatMulImplementation on_host = implementation;
    on_host.run = entry.run;
    on_host.is_built_in = true;
    on_host.workspace_bytes = entry.workspace_bytes;
    return on_host;
  }
  return absl::UnimplementedError(
      absl::StrCat(implementation.name, " does not run on the host executor"));
}

// A kernel that runs others as part of its work runs these here.
const MatMulImplementation& executor::RegistryEntry(absl::string_view name) {
  static const auto& entries = *[] {
    auto* all = new std::vector<MatMulImplementation>;
    for (const MatMulImplementation& implementation : MatMulImplementations()) {
      auto on_host = OnHostExecutor(implementation);
      if (on_host.ok()) all->push_back(*std::move(on_host));
    }
    return all;
  }();
  // stream_k takes the same calls, and computes the same tiles, without the TMA that is missing
  // here.
  if (name == "warp_specialized") name = "stream_k";
  return *std::find_if(entries.begin(), entries.end(),
                       [&](const MatMulImplementation& entry) { return entry.name == name; });
}

int64_t executor::NoWorkspace(const MatMulArgs& /*args*/) { return 0; }

// `auto` is no kernel, and launches through the registry: here that is this one.
absl::Status executor::MatMulAuto(const MatMulArgs& args) {
  return RunChosenMatMul(
      args, /*compute_capability=*/0,
      [](const MatMulImplementation& chosen, const MatMulArgs& chosen_args) -> absl::Status {
        ASSIGN_OR_RETURN(const MatMulImplementation on_host, OnHostExecutor(chosen));
        return RunMatMul(on_host, chosen_args);
      });
}

int64_t executor::MatMulAutoWorkspaceBytes(const MatMulArgs& args) {
  const MatMulDispatch& chosen = ChooseMatMul(args, /*compute_capability=*/0);
  const auto on_host = OnHostExecutor(*FindMatMulImplementation(chosen.implementation));
  return on_host.ok() ? MatMulWorkspaceBytes(*on_host, args) : 0;
}

}  // namespace stridewise

#include "bindings/cublas/handles.h"

#include <map>
#include <mutex>

namespace stridewise::drop_in {
namespace {

struct Workspaces {
  std::mutex mutex;
  std::map<cublasHandle_t, HandleWorkspace> of;
};

// Calls may be made until the very end of the program.
Workspaces& All() {
  static auto& workspaces = *new Workspaces;
  return workspaces;
}

}  // namespace

HandleWorkspace WorkspaceOf(cublasHandle_t handle) {
  Workspaces& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.of.find(handle);
  return found != all.of.end() ? found->second : HandleWorkspace();
}

void SetWorkspaceOf(cublasHandle_t handle, const HandleWorkspace& workspace) {
  Workspaces& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.of[handle] = workspace;
}

void ForgetWorkspaceOf(cublasHandle_t handle) {
  Workspaces& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.of.erase(handle);
}

}  // namespace stridewise::drop_in

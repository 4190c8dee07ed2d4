#include "transpose/permute_on_host.h"

#include "common/base/host_threads.h"
#include "common/base/status_macros.h"
#include "transpose/cpu/permute.h"

namespace stridewise {

absl::Status PermuteOnHost(const PermuteProblem& problem) {
  ASSIGN_OR_RETURN(const PermuteArgs args, CheckedPermuteArgs(problem));
  PermuteOnThreads(args, HostThreads());
  return absl::OkStatus();
}

}  // namespace stridewise

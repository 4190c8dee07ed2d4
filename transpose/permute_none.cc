#include "absl/status/status.h"
#include "transpose/permute_args.h"

namespace stridewise {

LaunchStatus PermuteRows(const PermuteArgs& /*args*/) {
  return absl::UnavailableError("built without a CUDA toolkit");
}

LaunchStatus PermuteTiles(const PermuteArgs& /*args*/) {
  return absl::UnavailableError("built without a CUDA toolkit");
}

}  // namespace stridewise

#include "absl/status/status.h"
#include "common/gpu/implementation.h"
#include "transpose/permute_args.h"
#include "transpose/permute_as_transpose.h"

namespace stridewise {

LaunchStatus NestedTileFlat(const TransposeArgs& /*args*/, const MatrixOffsets& /*offsets*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus NestedTileStrips(const TransposeArgs& /*args*/, const MatrixOffsets& /*offsets*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteBlocks(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteDirect(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteInterleave(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteFlat(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteJoined(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteRows(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteRowBytes(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteVector(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

LaunchStatus PermuteTiles(const PermuteArgs& /*args*/) {
  return absl::UnavailableError(kWithoutDeviceCode);
}

}  // namespace stridewise

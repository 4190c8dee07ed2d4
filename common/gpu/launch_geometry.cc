#include "common/gpu/launch_geometry.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stridewise {
namespace {

bool IsWithin(int64_t value, int64_t lowest, int64_t highest) {
  return value >= lowest && value <= highest;
}

absl::Status CheckExtent(const char* name, int64_t value, int64_t lowest, int64_t highest) {
  if (IsWithin(value, lowest, highest)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, "; allowed is ", lowest, " to ", highest));
}

}  // namespace

LaunchStatus CheckLaunchGeometry(const Grid& grid, const Block& block) {
  // Every launch comes here, and a call of the library may be several.
  if (IsWithin(grid.x, 0, kMaxGridX) && IsWithin(grid.y, 0, kMaxGridYZ) &&
      IsWithin(grid.z, 0, kMaxGridYZ) && IsWithin(block.x, 1, kMaxBlockXY) &&
      IsWithin(block.y, 1, kMaxBlockXY) && IsWithin(block.z, 1, kMaxBlockZ) &&
      block.x * block.y * block.z <= kMaxBlockThreads) {
    return LaunchStatus();
  }
  for (const absl::Status& status : {
           CheckExtent("grid.x", grid.x, 0, kMaxGridX),
           CheckExtent("grid.y", grid.y, 0, kMaxGridYZ),
           CheckExtent("grid.z", grid.z, 0, kMaxGridYZ),
           CheckExtent("block.x", block.x, 1, kMaxBlockXY),
           CheckExtent("block.y", block.y, 1, kMaxBlockXY),
           CheckExtent("block.z", block.z, 1, kMaxBlockZ),
       }) {
    if (!status.ok()) return status;
  }
  return CheckExtent("threads per block", block.x * block.y * block.z, 1, kMaxBlockThreads);
}

}  // namespace stridewise

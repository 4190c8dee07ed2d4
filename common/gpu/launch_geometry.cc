#include "common/gpu/launch_geometry.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stridewise {
namespace {

absl::Status CheckExtent(const char* name, int64_t value, int64_t lowest, int64_t highest) {
  if (value >= lowest && value <= highest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, "; allowed is ", lowest, " to ", highest));
}

}  // namespace

LaunchStatus CheckLaunchGeometry(const Grid& grid, const Block& block) {
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

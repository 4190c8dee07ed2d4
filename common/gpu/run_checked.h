// How a registry runs one of its implementations: what RunMatMul() and RunTranspose() have in
// common.

#ifndef STRIDEWISE_COMMON_GPU_RUN_CHECKED_H_
#define STRIDEWISE_COMMON_GPU_RUN_CHECKED_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/gpu/implementation.h"

namespace stridewise {

// Runs the implementation, with its default block where that of `args` is 0 x 0, if
// check(implementation, args) is OK. Returns Unavailable where the build lacks it, and errors with
// its name.
template <typename Entry, typename Args, typename Check>
absl::Status RunChecked(const Entry& implementation, const Args& args, const Check& check) {
  if (implementation.run == nullptr) return absl::UnavailableError(kWithoutDeviceCode);
  const Block& own = implementation.default_block;
  if (args.block.x == 0 && args.block.y == 0 && (own.x != 0 || own.y != 0)) {
    // Only here: the copy of hundreds of bytes takes a tenth of a product of 8 x 8 x 8 on the host.
    Args with_block = args;
    with_block.block = own;
    return RunChecked(implementation, with_block, check);
  }
  absl::Status status = check(implementation, args);
  if (status.ok()) status = implementation.run(args);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(implementation.name, ": ", status.message()));
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_RUN_CHECKED_H_

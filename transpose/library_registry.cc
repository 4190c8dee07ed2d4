#include <vector>

#include "absl/strings/str_cat.h"
#include "transpose/check_args.h"
#include "transpose/dispatch_conditions.h"
#include "transpose/registry.h"
#include "transpose/registry_line.h"

namespace stridewise {

absl::Span<const TransposeImplementation> TransposeLibrary() {
  static const auto& library = *[] {
    auto* made = new std::vector<TransposeImplementation>;
#include "transpose/library.inc"  // NOLINT(build/include)
    return made;
  }();
  return library;
}

LaunchStatus ElementSizeNotAllowed(int64_t element_bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat("element_bytes is ", element_bytes, "; allowed is 1, 2, 4, 8 and 16"));
}

double TransposeBytes(int64_t rows, int64_t cols, int64_t element_bytes) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(cols) *
         static_cast<double>(element_bytes);
}

int64_t TransposeWorkspaceBytes(const TransposeImplementation& implementation,
                                const TransposeArgs& args) {
  return implementation.needs_workspace ? args.rows * args.cols * args.element_bytes : 0;
}

absl::Status RunTranspose(const TransposeImplementation& implementation,
                          const TransposeArgs& args) {
  if (implementation.run == nullptr) {
    return absl::UnavailableError(kWithoutDeviceCode);
  }
  TransposeArgs checked = args;
  if (args.block.x == 0 && args.block.y == 0) checked.block = implementation.default_block;
  absl::Status status = CheckTransposeArgs(implementation, checked);
  if (status.ok()) status = implementation.run(checked);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(implementation.name, ": ", status.message()));
}

}  // namespace stridewise

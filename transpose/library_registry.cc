#include <vector>

#include "common/gpu/run_checked.h"
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
  return RunChecked(implementation, args, [](const auto& entry, const auto& checked) {
    return CheckTransposeArgs(entry, checked);
  });
}

}  // namespace stridewise

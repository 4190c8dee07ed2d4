#include "transpose/registry.h"

#include <vector>

#include "transpose/registry_line.h"

namespace stridewise {

absl::Span<const TransposeImplementation> TransposeImplementations() {
  static const auto& implementations = *[] {
    auto* made = new std::vector<TransposeImplementation>;
#include "transpose/kernels.inc"  // NOLINT(build/include)
    made->insert(made->end(), TransposeLibrary().begin(), TransposeLibrary().end());
    return made;
  }();
  return implementations;
}

const TransposeImplementation* FindTransposeImplementation(absl::string_view name) {
  return FindByName(TransposeImplementations(), name);
}

}  // namespace stridewise

#include "benchmarks/operations.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/permute/operation.h"
#include "benchmarks/transpose/operation.h"
#include "common/base/refused_flags.h"

namespace stridewise {

absl::Span<const Operation* const> AllOperations() {
  static const Operation* const operations[] = {&TransposeOperations(), &MatMulOperation(),
                                                &PermuteOperation()};
  return operations;
}

absl::StatusOr<const Operation*> FindOperation(absl::string_view name) {
  for (const Operation* operation : AllOperations()) {
    if (operation->name() == name) return operation;
  }
  return RefuseValue(
      "--operation", name,
      absl::StrJoin(AllOperations(), " or ", [](std::string* out, const Operation* operation) {
        absl::StrAppend(out, operation->name());
      }));
}

}  // namespace stridewise

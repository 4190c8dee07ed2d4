// The operations of the house, for programs that work on any of them.

#ifndef STRIDEWISE_BENCHMARKS_OPERATIONS_H_
#define STRIDEWISE_BENCHMARKS_OPERATIONS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"

namespace stridewise {

// Lists all of them; the first is the default of programs with --operation.
absl::Span<const Operation* const> AllOperations();

// InvalidArgument, naming --operation and what is allowed, when there is none of that name.
absl::StatusOr<const Operation*> FindOperation(absl::string_view name);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_OPERATIONS_H_

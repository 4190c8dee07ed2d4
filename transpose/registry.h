// Matrix transpose, out(c, r) = in(r, c), and the copies that bound its speed: every implementation
// here, by name. Programs that want just the fastest transpose include transpose.h instead.
//
// `in` is rows x cols; a transpose's `out` is cols x rows, a copy's rows x cols. All row-major with
// leading dimensions in elements; any extent may be 0. Elements are bits: 1, 2, 4, 8 or 16 bytes,
// moved and never interpreted (cuBLAS apart, which multiplies by 1). Nothing but the elements of
// `out` is written. `in` and `out` must not overlap, or, for a transpose in place, be the same
// pointer.

#ifndef STRIDEWISE_TRANSPOSE_REGISTRY_H_
#define STRIDEWISE_TRANSPOSE_REGISTRY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/gpu/implementation.h"
#include "common/gpu/launch_status.h"
#include "transpose/args.h"

namespace stridewise {

// Returns the bytes that must move: every element is read once and written once.
double TransposeBytes(int64_t rows, int64_t cols, int64_t element_bytes);

enum class TransposeOperation { kCopy, kTranspose, kInPlace };

// The sum of all element sizes.
inline constexpr int kAllElementSizes = 1 + 2 + 4 + 8 + 16;

// When `auto` runs an implementation, and why.
struct TransposeDispatchRule {
  const char* when = "";      // One line: the condition that `applies` checks.
  const char* measured = "";  // One line: the figures behind it.

  // Looks at shape, type, batch and addresses, never at what they point to. Null for
  // implementations that `auto` never runs.
  bool (*applies)(const TransposeArgs& args) = nullptr;
};

// An entry of the registry, as a line of kernels.inc or library.inc makes it.
struct TransposeImplementation : Implementation {
  TransposeOperation operation = TransposeOperation::kTranspose;
  int element_sizes = kAllElementSizes;  // The sum of the element sizes that it takes.
  bool batches = false;                  // Takes more than one matrix.
  bool square_only = false;
  bool needs_workspace = false;  // args.workspace must be set.
  TransposeDispatchRule dispatch;

  // Null where the program was built without what it needs (device code). Use RunTranspose().
  LaunchStatus (*run)(const TransposeArgs& args) = nullptr;
};

// Returns the bytes of device memory that args.workspace must point to: those of one matrix,
// whatever the batch, for implementations that need a workspace, and else 0.
int64_t TransposeWorkspaceBytes(const TransposeImplementation& implementation,
                                const TransposeArgs& args);

// Returns all implementations: those of kernels.inc, and then the library's.
absl::Span<const TransposeImplementation> TransposeImplementations();

// Returns those of library.inc: what Transpose() chooses among. A program that names no others
// links no others.
absl::Span<const TransposeImplementation> TransposeLibrary();

// Returns the entry of that name; null where there is none.
const TransposeImplementation* FindTransposeImplementation(absl::string_view name);

// Checks the arguments and runs the implementation. Returns InvalidArgument, naming the argument
// and its value, before anything is launched; Unavailable when the implementation was not built in.
// A device implementation is queued on args.stream and not waited for.
absl::Status RunTranspose(const TransposeImplementation& implementation, const TransposeArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_REGISTRY_H_

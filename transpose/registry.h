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
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/matrix.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/implementation.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {

// 16 bytes as one element. A number, and not a struct of two, so that every compiler moves it in
// one access.
using Bits128 = unsigned __int128;

// One transpose or copy. Pointers are device pointers for device implementations and host pointers
// for host ones, each a multiple of the element size; they are borrowed.
struct TransposeArgs {
  int64_t rows = 0;  // Of `in`.
  int64_t cols = 0;
  int64_t element_bytes = 4;
  const void* in = nullptr;
  int64_t ld_in = 0;  // >= cols
  void* out = nullptr;
  int64_t ld_out = 0;  // >= rows for a transpose, >= cols for a copy

  int64_t batch = 1;       // The number of matrices of this shape.
  int64_t stride_in = 0;   // Elements of `in` from one matrix to the next.
  int64_t stride_out = 0;  // The same for `out`.

  // TransposeWorkspaceBytes() of device memory at a multiple of 16; null where those are 0.
  void* workspace = nullptr;

  cudaStream_t stream = nullptr;    // Device implementations queue here and return.
  cublasHandle_t cublas = nullptr;  // For implementations that need cuBLAS.
  Block block = {0, 0, 0};          // Threads of a block; RunTranspose() makes 0 x 0 the default.

  template <typename T>
  ConstMatrix<T> In() const {
    return {static_cast<const T*>(in), rows, cols, ld_in};
  }
  template <typename T>
  Matrix<T> Out() const {
    return {static_cast<T*>(out), cols, rows, ld_out};
  }
};

// Calls fn with an unsigned integer of the element's size.
template <typename Fn>
absl::Status ForElementSize(const TransposeArgs& args, Fn fn) {
  // NOLINTNEXTLINE(bugprone-branch-clone): each branch calls with another type.
  switch (args.element_bytes) {
    case 1:
      return fn(uint8_t());
    case 2:
      return fn(uint16_t());
    case 4:
      return fn(uint32_t());
    case 8:
      return fn(uint64_t());
    case 16:
      return fn(Bits128());
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("element_bytes is ", args.element_bytes, "; allowed is 1, 2, 4, 8 and 16"));
  }
}

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

// An entry of the registry, as a line of kernels.inc makes it.
struct TransposeImplementation : Implementation {
  TransposeOperation operation = TransposeOperation::kTranspose;
  int element_sizes = kAllElementSizes;  // The sum of the element sizes that it takes.
  bool batches = false;                  // Takes more than one matrix.
  bool square_only = false;
  bool needs_workspace = false;  // args.workspace must be set.
  TransposeDispatchRule dispatch;

  // Null where the program was built without what it needs (a CUDA toolkit). Use RunTranspose().
  absl::Status (*run)(const TransposeArgs& args) = nullptr;
};

// Returns the bytes of device memory that args.workspace must point to: those of one matrix,
// whatever the batch, for implementations that need a workspace, and else 0.
int64_t TransposeWorkspaceBytes(const TransposeImplementation& implementation,
                                const TransposeArgs& args);

// Returns all implementations in the order of kernels.inc.
absl::Span<const TransposeImplementation> TransposeImplementations();

// Returns the entry of that name; null where there is none.
const TransposeImplementation* FindTransposeImplementation(absl::string_view name);

// Checks the arguments and runs the implementation. Returns InvalidArgument, naming the argument
// and its value, before anything is launched; Unavailable when the implementation was not built in.
// A device implementation is queued on args.stream and not waited for.
absl::Status RunTranspose(const TransposeImplementation& implementation, const TransposeArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_REGISTRY_H_

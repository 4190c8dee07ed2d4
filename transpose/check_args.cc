#include "transpose/check_args.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/gpu/argument_checks.h"

namespace stridewise {
namespace {

// Checks what CheckMatrixArgument() cannot see from one matrix alone: whether the implementation
// takes batches.
absl::Status CheckBatch(const TransposeImplementation& implementation, const TransposeArgs& args,
                        const TransposeArgumentNames& names) {
  RETURN_IF_ERROR(CheckAtLeast(names.batch, args.batch, 0));
  if (implementation.batches || args.batch == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(names.batch, " is ", args.batch, "; allowed is 1, one matrix"));
}

// The matrices of a batch of `out` must not overlap each other. Those of `in` may, unless they are
// the same memory: then each must also stay clear of what others become.
// REQUIRES: CheckMatrixArgument() was OK with both, so that nothing overflows.
absl::Status CheckStrides(const TransposeImplementation& implementation, const MatrixArgument& in,
                          const MatrixArgument& out) {
  if (out.batch <= 1) return absl::OkStatus();
  int64_t lowest = SpanElements(out.rows, out.cols, out.ld);
  if (implementation.operation == TransposeOperation::kInPlace) {
    RETURN_IF_ERROR(CheckEqual(out.stride_name, out.stride, in.stride_name, in.stride));
    lowest = std::max(lowest, SpanElements(in.rows, in.cols, in.ld));
  }
  return CheckAtLeast(out.stride_name, out.stride, lowest);
}

// Returns whether any byte belongs to both.
bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a);
  const auto second = reinterpret_cast<uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && first < second + static_cast<uintptr_t>(b_bytes) &&
         second < first + static_cast<uintptr_t>(a_bytes);
}

// In place, `in` and `out` must be one pointer, and squares must have one leading dimension.
// Otherwise no byte may belong to both.
absl::Status CheckOverlap(const TransposeImplementation& implementation, const TransposeArgs& args,
                          const TransposeArgumentNames& names, int64_t in_bytes,
                          int64_t out_bytes) {
  if (implementation.operation != TransposeOperation::kInPlace) {
    if (!Overlap(args.in, in_bytes, args.out, out_bytes)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(names.out, " overlaps ", names.in, "; allowed is memory of its own"));
  }
  if (args.in != args.out) {
    return absl::InvalidArgumentError(absl::StrCat(
        names.out, " is not ", names.in, "; allowed is the same pointer: it works in place"));
  }
  if (!implementation.square_only) return absl::OkStatus();
  RETURN_IF_ERROR(CheckEqual(names.cols, args.cols, names.rows, args.rows));
  return CheckEqual(names.ld_out, args.ld_out, names.ld_in, args.ld_in);
}

absl::Status CheckWorkspace(const TransposeImplementation& implementation,
                            const TransposeArgs& args, const TransposeArgumentNames& names,
                            int64_t in_bytes, int64_t out_bytes) {
  const int64_t bytes = TransposeWorkspaceBytes(implementation, args);
  if (bytes == 0) return absl::OkStatus();
  const char* wrong = nullptr;
  if (args.workspace == nullptr) {
    wrong = "null";
  } else if (reinterpret_cast<uintptr_t>(args.workspace) % 16 != 0) {
    wrong = "not a multiple of 16";
  } else if (Overlap(args.workspace, bytes, args.in, in_bytes) ||
             Overlap(args.workspace, bytes, args.out, out_bytes)) {
    wrong = "memory of a matrix";
  }
  if (wrong == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      names.workspace, " is ", wrong, "; allowed is device memory of ", bytes, " bytes"));
}

}  // namespace

absl::Status CheckEqual(const char* name, int64_t value, const char* other_name, int64_t other) {
  if (value == other) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, "; allowed is ", other, ", ", other_name));
}

absl::Status CheckTransposeArgs(const TransposeImplementation& implementation,
                                const TransposeArgs& args, const TransposeArgumentNames& names) {
  const int64_t size = args.element_bytes;
  if (size < 1 || size > 16 || (size & (size - 1)) != 0 ||
      (implementation.element_sizes & size) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        names.element_bytes, " is ", size, "; allowed is ",
        implementation.element_sizes == kAllElementSizes ? "1, 2, 4, 8 and 16" : "4, 8 and 16"));
  }
  RETURN_IF_ERROR(CheckAtLeast(names.rows, args.rows, 0));
  RETURN_IF_ERROR(CheckAtLeast(names.cols, args.cols, 0));
  RETURN_IF_ERROR(CheckBatch(implementation, args, names));
  const MatrixArgument in = {names.in,  names.ld_in, names.stride_in, args.in,        args.rows,
                             args.cols, args.ld_in,  args.batch,      args.stride_in, size};
  MatrixArgument out = {names.out, names.ld_out, names.stride_out, args.out,        args.cols,
                        args.rows, args.ld_out,  args.batch,       args.stride_out, size};
  if (implementation.operation == TransposeOperation::kCopy) std::swap(out.rows, out.cols);
  ASSIGN_OR_RETURN(const int64_t in_bytes, CheckMatrixArgument(in));
  ASSIGN_OR_RETURN(const int64_t out_bytes, CheckMatrixArgument(out));
  RETURN_IF_ERROR(CheckOverlap(implementation, args, names, in_bytes, out_bytes));
  RETURN_IF_ERROR(CheckStrides(implementation, in, out));
  RETURN_IF_ERROR(CheckWorkspace(implementation, args, names, in_bytes, out_bytes));
  return CheckBlock(implementation.blocks, implementation.default_block, args.block);
}

}  // namespace stridewise

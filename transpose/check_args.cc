#include "transpose/check_args.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/gpu/argument_checks.h"

namespace stridewise {
namespace {

// One of the two sides of a transpose or copy.
struct Side {
  const char* name;
  const char* ld_name;
  const char* stride_name;
  const void* data;
  int64_t rows, cols, ld, stride;
};

// Sets `bytes` to what the side's matrices and the gaps between them span.
absl::Status CheckSide(const Side& side, const TransposeArgs& args, int64_t* bytes) {
  RETURN_IF_ERROR(CheckAtLeast(side.ld_name, side.ld, side.cols));
  const bool empty = args.rows == 0 || args.cols == 0 || args.batch == 0;
  *bytes = 0;
  if (empty) return absl::OkStatus();
  int64_t last_row = 0;
  int64_t last_matrix = 0;
  int64_t elements = 0;
  if (__builtin_mul_overflow(side.rows - 1, side.ld, &last_row) ||
      __builtin_mul_overflow(args.batch - 1, side.stride, &last_matrix) ||
      __builtin_add_overflow(last_row, side.cols, &elements) ||
      __builtin_add_overflow(last_matrix, elements, &elements) ||
      __builtin_mul_overflow(elements, args.element_bytes, bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(side.name, " is ", args.batch, " matrices of ",
                                                   side.rows, "x", side.cols, " elements, rows ",
                                                   side.ld, " and matrices ", side.stride,
                                                   " apart; allowed are fewer than 2^63 bytes"));
  }
  if (side.data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(side.name, " is null; allowed only when there are no elements, and there are ",
                     args.rows, "x", args.cols));
  }
  if (reinterpret_cast<uintptr_t>(side.data) % static_cast<uintptr_t>(args.element_bytes) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(side.name, " is not a multiple of ",
                                                   args.element_bytes, ", the element's size"));
  }
  return absl::OkStatus();
}

absl::Status CheckBatch(const TransposeImplementation& implementation, const TransposeArgs& args,
                        const TransposeArgumentNames& names) {
  RETURN_IF_ERROR(CheckAtLeast(names.batch, args.batch, 0));
  if (!implementation.batches && args.batch != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(names.batch, " is ", args.batch, "; allowed is 1, one matrix"));
  }
  if (args.batch <= 1) return absl::OkStatus();
  RETURN_IF_ERROR(CheckAtLeast(names.stride_in, args.stride_in, 0));
  return CheckAtLeast(names.stride_out, args.stride_out, 0);
}

// The matrices of `out` must not lie upon each other; those of `in` may, unless it is the same
// memory: then each must also stay clear of what others become.
// REQUIRES: CheckSide() was OK with both, so that nothing overflows.
absl::Status CheckStrides(const TransposeImplementation& implementation, const TransposeArgs& args,
                          const Side& in, const Side& out) {
  if (args.batch <= 1) return absl::OkStatus();
  int64_t lowest = SpanElements(out.rows, out.cols, out.ld);
  if (implementation.operation == TransposeOperation::kInPlace) {
    RETURN_IF_ERROR(CheckEqual(out.stride_name, out.stride, in.stride_name, in.stride));
    lowest = std::max(lowest, SpanElements(in.rows, in.cols, in.ld));
  }
  return CheckAtLeast(out.stride_name, out.stride, lowest);
}

// Whether the two share a byte.
bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a);
  const auto second = reinterpret_cast<uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && first < second + static_cast<uintptr_t>(b_bytes) &&
         second < first + static_cast<uintptr_t>(a_bytes);
}

// In place: one pointer, and for squares one leading dimension. Else: no byte in both.
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
  const bool copy = implementation.operation == TransposeOperation::kCopy;
  const Side in = {names.in,  names.ld_in, names.stride_in, args.in,
                   args.rows, args.cols,   args.ld_in,      args.stride_in};
  const Side out = {names.out,
                    names.ld_out,
                    names.stride_out,
                    args.out,
                    copy ? args.rows : args.cols,
                    copy ? args.cols : args.rows,
                    args.ld_out,
                    args.stride_out};
  int64_t in_bytes = 0;
  int64_t out_bytes = 0;
  RETURN_IF_ERROR(CheckSide(in, args, &in_bytes));
  RETURN_IF_ERROR(CheckSide(out, args, &out_bytes));
  RETURN_IF_ERROR(CheckOverlap(implementation, args, names, in_bytes, out_bytes));
  RETURN_IF_ERROR(CheckStrides(implementation, args, in, out));
  RETURN_IF_ERROR(CheckWorkspace(implementation, args, names, in_bytes, out_bytes));
  return CheckBlock(implementation.blocks, implementation.default_block, args.block);
}

}  // namespace stridewise

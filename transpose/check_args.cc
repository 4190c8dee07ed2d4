#include "transpose/check_args.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/argument_checks.h"
#include "common/matrix.h"
#include "common/status_macros.h"

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

// Strides: the matrices of `out` must not lie upon each other; those of `in` may.
absl::Status CheckBatch(const TransposeImplementation& implementation, const TransposeArgs& args,
                        const Side& in, const Side& out) {
  RETURN_IF_ERROR(CheckAtLeast("batch", args.batch, 0));
  if (args.batch <= 1) return absl::OkStatus();
  if (!implementation.batches) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch is ", args.batch, "; allowed is one matrix"));
  }
  RETURN_IF_ERROR(CheckAtLeast(in.stride_name, in.stride, 0));
  return CheckAtLeast(out.stride_name, out.stride, SpanElements(out.rows, out.cols, out.ld));
}

// In place: one pointer, and squares with one leading dimension and stride. Else: no byte in both.
absl::Status CheckOverlap(const TransposeImplementation& implementation, const TransposeArgs& args,
                          int64_t in_bytes, int64_t out_bytes) {
  const auto in = reinterpret_cast<uintptr_t>(args.in);
  const auto out = reinterpret_cast<uintptr_t>(args.out);
  if (implementation.operation != TransposeOperation::kInPlace) {
    if (in_bytes == 0 || in + static_cast<uintptr_t>(in_bytes) <= out ||
        out + static_cast<uintptr_t>(out_bytes) <= in) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError("out overlaps in; allowed is memory of its own");
  }
  if (in != out) {
    return absl::InvalidArgumentError("out is not in; allowed is the same pointer: in place");
  }
  if (!implementation.square_only) return absl::OkStatus();
  if (args.rows != args.cols) {
    return absl::InvalidArgumentError(
        absl::StrCat("cols is ", args.cols, "; allowed is ", args.rows, ", as many as rows"));
  }
  if (args.ld_in != args.ld_out) {
    return absl::InvalidArgumentError(
        absl::StrCat("ld_out is ", args.ld_out, "; allowed is ", args.ld_in, ", ld_in"));
  }
  if (args.batch > 1 && args.stride_in != args.stride_out) {
    return absl::InvalidArgumentError(absl::StrCat("stride_out is ", args.stride_out,
                                                   "; allowed is ", args.stride_in, ", stride_in"));
  }
  return absl::OkStatus();
}

absl::Status CheckWorkspace(const TransposeImplementation& implementation,
                            const TransposeArgs& args) {
  const int64_t bytes = TransposeWorkspaceBytes(implementation, args);
  if (bytes == 0 ||
      (args.workspace != nullptr && reinterpret_cast<uintptr_t>(args.workspace) % 16 == 0)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("workspace is ", args.workspace == nullptr ? "null" : "not a multiple of 16",
                   "; allowed is device memory of ", bytes, " bytes"));
}

}  // namespace

absl::Status CheckTransposeArgs(const TransposeImplementation& implementation,
                                const TransposeArgs& args) {
  const int64_t size = args.element_bytes;
  if (size < 1 || size > 16 || (size & (size - 1)) != 0 ||
      (implementation.element_sizes & size) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "element_bytes is ", size, "; allowed is ",
        implementation.element_sizes == kAllElementSizes ? "1, 2, 4, 8 and 16" : "4, 8 and 16"));
  }
  RETURN_IF_ERROR(CheckAtLeast("rows", args.rows, 0));
  RETURN_IF_ERROR(CheckAtLeast("cols", args.cols, 0));
  const bool copy = implementation.operation == TransposeOperation::kCopy;
  const Side in = {"in",      "ld_in",   "stride_in", args.in,
                   args.rows, args.cols, args.ld_in,  args.stride_in};
  const Side out = {"out",
                    "ld_out",
                    "stride_out",
                    args.out,
                    copy ? args.rows : args.cols,
                    copy ? args.cols : args.rows,
                    args.ld_out,
                    args.stride_out};
  RETURN_IF_ERROR(CheckBatch(implementation, args, in, out));
  int64_t in_bytes = 0;
  int64_t out_bytes = 0;
  RETURN_IF_ERROR(CheckSide(in, args, &in_bytes));
  RETURN_IF_ERROR(CheckSide(out, args, &out_bytes));
  RETURN_IF_ERROR(CheckOverlap(implementation, args, in_bytes, out_bytes));
  RETURN_IF_ERROR(CheckWorkspace(implementation, args));
  return CheckBlock(implementation.blocks, implementation.default_block, args.block);
}

}  // namespace stridewise

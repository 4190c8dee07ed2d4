#include "common/gpu/argument_checks.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// Without a division, where it can: element sizes are powers of two.
bool IsMultiple(uintptr_t address, uintptr_t bytes) {
  return (bytes & (bytes - 1)) == 0 ? (address & (bytes - 1)) == 0 : address % bytes == 0;
}

}  // namespace

absl::Status CheckAtLeast(absl::string_view argument, int64_t value, int64_t lowest) {
  if (value >= lowest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is ", value, "; allowed is ", lowest, " or more"));
}

absl::Status CheckAtMost(absl::string_view argument, int64_t value, int64_t highest) {
  if (value <= highest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is ", value, "; allowed is at most ", highest));
}

absl::StatusOr<int64_t> CheckMatrixArgument(const MatrixArgument& matrix) {
  // Each call of the library comes here several times: names are looked at only for a message.
  if (matrix.ld < matrix.cols) return CheckAtLeast(matrix.ld_name, matrix.ld, matrix.cols);
  if (matrix.batch > 1 && matrix.stride < 0) {
    return CheckAtLeast(matrix.stride_name, matrix.stride, 0);
  }
  if (matrix.rows == 0 || matrix.cols == 0 || matrix.batch == 0) return 0;
  int64_t last_row = 0;
  int64_t last_matrix = 0;
  int64_t elements = 0;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(matrix.rows - 1, matrix.ld, &last_row) ||
      __builtin_mul_overflow(matrix.batch - 1, matrix.stride, &last_matrix) ||
      __builtin_add_overflow(last_row, matrix.cols, &elements) ||
      __builtin_add_overflow(last_matrix, elements, &elements) ||
      __builtin_mul_overflow(elements, matrix.element_bytes, &bytes)) {
    const std::string stride =
        matrix.batch > 1 ? absl::StrCat(", ", matrix.stride_name, " ", matrix.stride) : "";
    return absl::InvalidArgumentError(
        absl::StrCat(matrix.name, " has ", matrix.ld_name, " ", matrix.ld, stride,
                     "; allowed are matrices of fewer than 2^63 bytes together"));
  }
  if (matrix.data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(matrix.name, " is null; allowed only when it has no elements, and it has ",
                     matrix.rows * matrix.cols));
  }
  if (!IsMultiple(reinterpret_cast<uintptr_t>(matrix.data),
                  static_cast<uintptr_t>(matrix.element_bytes))) {
    return absl::InvalidArgumentError(absl::StrCat(matrix.name, " is not a multiple of ",
                                                   matrix.element_bytes, ", the element's size"));
  }
  return bytes;
}

absl::Status CheckBlock(Blocks blocks, const Block& own, const Block& asked) {
  if (blocks == Blocks::kAny || (asked.x == own.x && asked.y == own.y)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("block is ", asked.x, "x", asked.y, "; allowed is ", own.x, "x", own.y));
}

}  // namespace stridewise

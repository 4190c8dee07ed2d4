#include "matmul/check_args.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/gpu/argument_checks.h"

namespace stridewise {
namespace {

absl::Status NotTaken(const char* argument, absl::string_view value, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat(argument, " is ", value, "; allowed is ", allowed,
                                                 ", the only one that it takes"));
}

// Refuses the first operand whose type the implementation does not take beside those before it.
absl::Status CheckTypes(const MatMulImplementation& implementation, const MatMulArgs& args,
                        const MatMulArgumentNames& names) {
  std::vector<MatMulTypes> left(implementation.types.begin(), implementation.types.end());
  const struct {
    const char* name;
    ElementType type;
    ElementType MatMulTypes::*allowed;
  } operands[] = {{names.a, args.a.type, &MatMulTypes::a},
                  {names.b, args.b.type, &MatMulTypes::b},
                  {"c", args.c.type, &MatMulTypes::c}};
  for (const auto& operand : operands) {
    std::vector<MatMulTypes> matching;
    std::vector<absl::string_view> allowed;
    for (const MatMulTypes& types : left) {
      if (types.*operand.allowed == operand.type) matching.push_back(types);
      allowed.push_back(ElementTypeName(types.*operand.allowed));
    }
    if (matching.empty()) {
      allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
      return absl::InvalidArgumentError(absl::StrCat(operand.name, " has elements of type ",
                                                     ElementTypeName(operand.type), "; allowed is ",
                                                     absl::StrJoin(allowed, " or ")));
    }
    left = std::move(matching);
  }
  return absl::OkStatus();
}

// Refuses the general form where the implementation does not take it.
absl::Status CheckForm(const MatMulImplementation& implementation, const MatMulArgs& args) {
  if (implementation.general) return absl::OkStatus();
  if (args.a.transposed) return NotTaken("transpose_a", "true", "false");
  if (args.b.transposed) return NotTaken("transpose_b", "true", "false");
  if (args.alpha != 1) return NotTaken("alpha", absl::StrCat(args.alpha), "1");
  if (args.beta != 0) return NotTaken("beta", absl::StrCat(args.beta), "0");
  if (args.batch != 1) return NotTaken("batch", absl::StrCat(args.batch), "1");
  return absl::OkStatus();
}

// One of the three matrices, as it is stored.
struct Operand {
  const char* name;
  const char* ld_name;
  const char* stride_name;
  ConstMatrix<char> view;  // Of elements of any type.
  int64_t stride;
  ElementType type;
};

absl::Status CheckOperand(const Operand& operand, int64_t batch) {
  const ConstMatrix<char>& view = operand.view;
  const int64_t element_bytes = ElementBytes(operand.type);
  RETURN_IF_ERROR(CheckAtLeast(operand.ld_name, view.ld, view.cols));
  if (batch > 1) RETURN_IF_ERROR(CheckAtLeast(operand.stride_name, operand.stride, 0));
  if (view.rows == 0 || view.cols == 0 || batch == 0) return absl::OkStatus();
  int64_t last_row = 0;
  int64_t last_matrix = 0;
  int64_t span = 0;
  if (__builtin_mul_overflow(view.rows - 1, view.ld, &last_row) ||
      __builtin_mul_overflow(batch - 1, operand.stride, &last_matrix) ||
      __builtin_add_overflow(last_row, view.cols, &span) ||
      __builtin_add_overflow(span, last_matrix, &span) ||
      __builtin_mul_overflow(span, element_bytes, &span)) {
    return absl::InvalidArgumentError(
        absl::StrCat(operand.name, " has ", operand.ld_name, " ", view.ld,
                     batch > 1 ? absl::StrCat(", ", operand.stride_name, " ", operand.stride) : "",
                     "; allowed are matrices of fewer than 2^63 bytes together"));
  }
  if (view.data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(operand.name, " is null; allowed only when it has no elements, and it has ",
                     view.rows * view.cols));
  }
  if (reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(element_bytes) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(operand.name, " is not a multiple of ",
                                                   element_bytes, ", the element's size"));
  }
  return absl::OkStatus();
}

absl::Status CheckWorkspace(const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckAtLeast("workspace_bytes", args.workspace_bytes, 0));
  if (args.workspace_bytes > 0 && args.workspace == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("workspace is null; allowed only when workspace_bytes is 0, and it is ",
                     args.workspace_bytes));
  }
  constexpr uintptr_t kAlignment = 16;
  if (reinterpret_cast<uintptr_t>(args.workspace) % kAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat("workspace is not a multiple of ", kAlignment));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMatMulArgs(const MatMulImplementation& implementation, const MatMulArgs& args,
                             const MatMulArgumentNames& names) {
  RETURN_IF_ERROR(CheckAtLeast(names.m, args.m, 0));
  RETURN_IF_ERROR(CheckAtLeast(names.n, args.n, 0));
  RETURN_IF_ERROR(CheckAtLeast("k", args.k, 0));
  RETURN_IF_ERROR(CheckAtLeast("batch", args.batch, 0));
  RETURN_IF_ERROR(CheckTypes(implementation, args, names));
  RETURN_IF_ERROR(CheckForm(implementation, args));
  // Our kernels count along k in 32 bits; offsets have 64.
  constexpr int64_t kMaxK = std::numeric_limits<int32_t>::max();
  if (implementation.target.where == Where::kDevice && !implementation.needs_cublas &&
      args.k > kMaxK) {
    return absl::InvalidArgumentError(
        absl::StrCat("k is ", args.k, "; allowed is at most ", kMaxK));
  }
  const Operand operands[] = {
      {names.a, names.lda, names.stride_a, args.A<char>(), args.a.stride, args.a.type},
      {names.b, names.ldb, names.stride_b, args.B<char>(), args.b.stride, args.b.type},
      {"c", "ldc", "stride_c", args.C<char>(), args.c.stride, args.c.type},
  };
  for (const Operand& operand : operands) RETURN_IF_ERROR(CheckOperand(operand, args.batch));
  // Of a batch only C must not overlap itself: A and B are only read.
  if (args.batch > 1) {
    RETURN_IF_ERROR(
        CheckAtLeast("stride_c", args.c.stride, SpanElements(args.m, args.n, args.c.ld)));
  }
  RETURN_IF_ERROR(CheckWorkspace(args));
  return CheckBlock(implementation.blocks, implementation.default_block, args.block);
}

}  // namespace stridewise

#include "matmul/check_args.h"

#include <algorithm>
#include <cmath>
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
  if (FindTypes(implementation, args) != nullptr) return absl::OkStatus();
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
      const absl::string_view name = ElementTypeName(types.*operand.allowed);
      if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) allowed.push_back(name);
    }
    if (matching.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(operand.name, " has elements of type ",
                                                     ElementTypeName(operand.type), "; allowed is ",
                                                     absl::StrJoin(allowed, " or ")));
    }
    left = std::move(matching);
  }
  return absl::OkStatus();
}

// Refuses a precision that the implementation does not have, and names those that it has.
absl::Status CheckPrecision(const MatMulImplementation& implementation, const MatMulArgs& args) {
  if (TakesPrecision(implementation, args.precision, args.a.type)) return absl::OkStatus();
  std::vector<absl::string_view> allowed;
  for (const MatMulPrecision precision : kAllPrecisions) {
    if (TakesPrecision(implementation, precision, args.a.type)) {
      allowed.push_back(PrecisionName(precision));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "precision is ", PrecisionName(args.precision), "; allowed is ",
      absl::StrJoin(allowed, " or "), " beside elements of type ", ElementTypeName(args.a.type)));
}

// Refuses an epilogue and scales where the implementation does not take them.
absl::Status CheckEpilogueAndScales(const MatMulImplementation& implementation,
                                    const MatMulArgs& args) {
  if (!implementation.takes_epilogue) {
    if (args.epilogue.bias != nullptr) return NotTaken("epilogue.bias", "given", "null");
    if (args.epilogue.activation != Activation::kNone) {
      return NotTaken("epilogue.activation", "given", "none");
    }
  }
  if (reinterpret_cast<uintptr_t>(args.epilogue.bias) %
          static_cast<uintptr_t>(ElementBytes(args.c.type)) !=
      0) {
    return absl::InvalidArgumentError("epilogue.bias is not aligned to an element of c");
  }
  const bool scaled = args.scales.a != nullptr || args.scales.b != nullptr;
  if (scaled && !implementation.takes_scales) return NotTaken("scales", "given", "null");
  const bool fp8 = args.a.type == ElementType::kE4m3 || args.a.type == ElementType::kE5m2;
  if (scaled && !fp8) {
    return absl::InvalidArgumentError(absl::StrCat("scales are given beside elements of type ",
                                                   ElementTypeName(args.a.type),
                                                   "; allowed is beside e4m3 and e5m2"));
  }
  return absl::OkStatus();
}

// Refuses factors of integers that are not, and their epilogues.
absl::Status CheckFactors(const MatMulArgs& args) {
  if (args.c.type != ElementType::kInt) return absl::OkStatus();
  if (HasEpilogue(args)) {
    return absl::InvalidArgumentError(
        "epilogue is given; allowed is none beside elements of type int");
  }
  for (const auto& [name, factor] :
       {std::pair("alpha", args.alpha), std::pair("beta", args.beta)}) {
    constexpr double kMost = std::numeric_limits<int32_t>::max();
    if (std::abs(factor) <= kMost && factor == std::trunc(factor)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is ", factor, "; allowed are integers of 32 bits beside elements of type int"));
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

// Checks a matrix as it is stored, or a batch of them. `view` is of elements of any type.
absl::Status CheckOperand(const char* name, const char* ld_name, const char* stride_name,
                          const ConstMatrix<char>& view, int64_t stride, ElementType type,
                          int64_t batch) {
  return CheckMatrixArgument({name, ld_name, stride_name, view.data, view.rows, view.cols, view.ld,
                              batch, stride, ElementBytes(type)})
      .status();
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
  if (std::min({args.m, args.n, args.k, args.batch}) < 0) {
    RETURN_IF_ERROR(CheckAtLeast(names.m, args.m, 0));
    RETURN_IF_ERROR(CheckAtLeast(names.n, args.n, 0));
    RETURN_IF_ERROR(CheckAtLeast("k", args.k, 0));
    RETURN_IF_ERROR(CheckAtLeast("batch", args.batch, 0));
  }
  RETURN_IF_ERROR(CheckTypes(implementation, args, names));
  RETURN_IF_ERROR(CheckPrecision(implementation, args));
  RETURN_IF_ERROR(CheckFactors(args));
  RETURN_IF_ERROR(CheckForm(implementation, args));
  RETURN_IF_ERROR(CheckEpilogueAndScales(implementation, args));
  // Our kernels count along k in 32 bits; offsets have 64.
  if (implementation.on_device() && !implementation.needs_cublas) {
    RETURN_IF_ERROR(CheckAtMost("k", args.k, std::numeric_limits<int32_t>::max()));
  }
  RETURN_IF_ERROR(CheckOperand(names.a, names.lda, names.stride_a, args.A<char>(), args.a.stride,
                               args.a.type, args.batch));
  RETURN_IF_ERROR(CheckOperand(names.b, names.ldb, names.stride_b, args.B<char>(), args.b.stride,
                               args.b.type, args.batch));
  RETURN_IF_ERROR(
      CheckOperand("c", "ldc", "stride_c", args.C<char>(), args.c.stride, args.c.type, args.batch));
  // Of a batch only C must not overlap itself: A and B are only read.
  if (args.batch > 1) {
    RETURN_IF_ERROR(
        CheckAtLeast("stride_c", args.c.stride, SpanElements(args.m, args.n, args.c.ld)));
  }
  RETURN_IF_ERROR(CheckWorkspace(args));
  return CheckBlock(implementation.blocks, implementation.default_block, args.block);
}

}  // namespace stridewise

// What an entry of the registry says of itself, and how it is run.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/element_type.h"
#include "common/gpu/run_checked.h"
#include "matmul/args.h"
#include "matmul/check_args.h"
#include "matmul/operands.h"
#include "matmul/registry.h"

namespace stridewise {

double MatMulBytes(int64_t m, int64_t n, int64_t k, const MatMulTypes& types) {
  const auto bytes = [](int64_t rows, int64_t cols, ElementType type) {
    return static_cast<double>(rows) * static_cast<double>(cols) *
           static_cast<double>(ElementBytes(type));
  };
  return bytes(m, k, types.a) + bytes(k, n, types.b) + bytes(m, n, types.c);
}

double MatMulFlops(int64_t m, int64_t n, int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

int64_t MatMulWorkspaceBytes(const MatMulImplementation& implementation, const MatMulArgs& args) {
  return implementation.workspace_bytes == nullptr ? 0 : implementation.workspace_bytes(args);
}

const MatMulTypes* FindTypes(const MatMulImplementation& implementation, const MatMulArgs& args) {
  for (const MatMulTypes& types : implementation.types) {
    if (types.a == args.a.type && types.b == args.b.type && types.c == args.c.type) return &types;
  }
  return nullptr;
}

const char* PrecisionName(MatMulPrecision precision) {
  constexpr const char* kNames[] = {"fp32",        "fp32_split", "tf32", "fp32_split_int8",
                                    "fp32_medium", "bf16",       "fp16", "fp16_sums",
                                    "fast_sums"};
  return kNames[static_cast<int>(precision)];
}

bool IsPrecisionOf(MatMulPrecision precision, ElementType operands) {
  switch (precision) {
    case MatMulPrecision::kFp32:
      return true;
    case MatMulPrecision::kFp16Sums:
      return operands == ElementType::kFp16;
    case MatMulPrecision::kFastSums:
      return operands == ElementType::kE4m3 || operands == ElementType::kE5m2;
    default:
      return operands == ElementType::kFloat;
  }
}

bool TakesPrecision(const MatMulImplementation& implementation, MatMulPrecision precision,
                    ElementType operands) {
  if (!IsPrecisionOf(precision, operands)) return false;
  if (operands != ElementType::kFloat && precision == MatMulPrecision::kFp32) return true;
  const absl::Span<const MatMulPrecision> taken = implementation.precisions;
  return std::find(taken.begin(), taken.end(), precision) != taken.end();
}

bool TakesType(const MatMulImplementation& implementation, ElementType type) {
  MatMulArgs args;
  args.a.type = args.b.type = args.c.type = type;
  return FindTypes(implementation, args) != nullptr;
}

absl::Status RunMatMul(const MatMulImplementation& implementation, const MatMulArgs& args) {
  return RunChecked(implementation, args, [](const auto& entry, const auto& checked) {
    return CheckMatMulArgs(entry, checked);
  });
}

}  // namespace stridewise

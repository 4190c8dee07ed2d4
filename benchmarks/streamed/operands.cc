#include "benchmarks/streamed/operands.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/verify/freivalds.h"
#include "common/verify/validation.h"
#include "matmul/reference.h"

namespace stridewise {
namespace {

constexpr MatMulTypes kProductTypes = AllOf(ElementType::kFloat);

absl::StatusOr<HostMatrix> MakeMatrix(const StreamedSettings& settings, int64_t rows,
                                      int64_t cols) {
  return settings.directory.empty() ? AllocateHostMatrix(rows, cols, settings.memory)
                                    : CreateMappedMatrix(rows, cols, settings.directory);
}

}  // namespace

absl::Status CheckHostMemory(const StreamedSettings& settings,
                             const std::vector<std::pair<int64_t, int64_t>>& matrices,
                             int64_t available) {
  if (!settings.directory.empty())
    return absl::OkStatus();  // Of mapped files only parts are there.
  double bytes = 0;
  for (const auto& [rows, cols] : matrices) {
    bytes += static_cast<double>(rows) * static_cast<double>(cols) * sizeof(float);
  }
  if (bytes <= static_cast<double>(available)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "--memory: %s operands take %.1f GB, and %.1f GB of the host are available; --memory=file "
      "with --directory maps them from files",
      settings.memory_text, bytes / 1e9, static_cast<double>(available) / 1e9));
}

absl::StatusOr<StreamedOperands> MakeStreamedOperands(const StreamedSettings& settings,
                                                      const std::vector<int64_t>& shape) {
  using Extents = std::pair<int64_t, int64_t>;
  std::vector<Extents> matrices = {{shape[0], shape[1]}, {shape[1], shape[0]}};
  if (settings.is_product) {
    matrices = {{shape[0], shape[2]}, {shape[2], shape[1]}, {shape[0], shape[1]}};
  }
  RETURN_IF_ERROR(CheckHostMemory(settings, matrices));
  StreamedOperands operands;
  for (const auto& [rows, cols] : matrices) {
    ASSIGN_OR_RETURN(HostMatrix matrix, MakeMatrix(settings, rows, cols));
    operands.inputs.push_back(std::move(matrix));
  }
  operands.output = std::move(operands.inputs.back());
  operands.inputs.pop_back();
  uint64_t seed = 0;
  for (HostMatrix& input : operands.inputs) {
    RETURN_IF_ERROR(FillUniformThroughDevice(seed++, &input));
  }
  return operands;
}

absl::Status VerifyStreamed(const StreamedSettings& settings, const StreamedOperands& operands) {
  const bool all = settings.verify == VerifyMode::kFull;
  const auto view = [](const HostMatrix& matrix) { return ConstMatrix<float>(matrix.view); };
  const ConstMatrix<float> out = view(operands.output);
  if (!settings.is_product) return CheckTransposed(view(operands.inputs[0]), out, all);
  const ConstMatrix<float> a = view(operands.inputs[0]);
  const ConstMatrix<float> b = view(operands.inputs[1]);
  const ProductAccuracy accuracy = AccuracyOf(kProductTypes, settings.precision);
  if (all) {
    return CheckProduct(CheckProductFast<float, float>(a, b, out, 1, accuracy), a.cols, accuracy);
  }
  const ProductError error = SampledEntries<float, float>(a, b, out, 1, accuracy);
  if (error.max_error_over_bound <= 1) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("C(", error.worst_row, ", ", error.worst_col,
                                          ") is off by ", error.max_error_over_bound,
                                          " times its bound"));
}

}  // namespace stridewise

#include "benchmarks/streamed/operands.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/verify/freivalds.h"
#include "common/verify/validation.h"

namespace stridewise {
namespace {

absl::StatusOr<HostMatrix> MakeMatrix(const StreamedSettings& settings, int64_t rows,
                                      int64_t cols) {
  return settings.directory.empty() ? AllocateHostMatrix(rows, cols, settings.memory)
                                    : CreateMappedMatrix(rows, cols, settings.directory);
}

}  // namespace

absl::StatusOr<StreamedOperands> MakeStreamedOperands(const StreamedSettings& settings,
                                                      const std::vector<int64_t>& shape) {
  StreamedOperands operands;
  const auto add_input = [&](int64_t rows, int64_t cols) -> absl::Status {
    ASSIGN_OR_RETURN(HostMatrix matrix, MakeMatrix(settings, rows, cols));
    RETURN_IF_ERROR(FillUniformThroughDevice(operands.inputs.size(), &matrix));
    operands.inputs.push_back(std::move(matrix));
    return absl::OkStatus();
  };
  if (settings.is_product) {
    RETURN_IF_ERROR(add_input(shape[0], shape[2]));
    RETURN_IF_ERROR(add_input(shape[2], shape[1]));
  } else {
    RETURN_IF_ERROR(add_input(shape[0], shape[1]));
  }
  ASSIGN_OR_RETURN(operands.output, MakeMatrix(settings, settings.is_product ? shape[0] : shape[1],
                                               settings.is_product ? shape[1] : shape[0]));
  return operands;
}

absl::Status VerifyStreamed(const StreamedSettings& settings, const StreamedOperands& operands) {
  const bool all = settings.verify == VerifyMode::kFull;
  const auto view = [](const HostMatrix& matrix) { return ConstMatrix<float>(matrix.view); };
  const ConstMatrix<float> out = view(operands.output);
  if (!settings.is_product) return CheckTransposed(view(operands.inputs[0]), out, all);
  const ConstMatrix<float> a = view(operands.inputs[0]);
  const ConstMatrix<float> b = view(operands.inputs[1]);
  if (all)
    return CheckProduct(CheckProductFast<float, float>(a, b, out, 1), a.cols, AccuracyOf<float>());
  const ProductError error = SampledEntries<float, float>(a, b, out, 1);
  if (error.max_error_over_bound <= 1) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("C(", error.worst_row, ", ", error.worst_col,
                                          ") is off by ", error.max_error_over_bound,
                                          " times its bound"));
}

}  // namespace stridewise

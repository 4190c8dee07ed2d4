#include "common/verify/validation.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/verify/one_pass_median.h"

namespace stridewise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ProductAccuracy AccuracyOf(ElementType operands, ElementType accumulator, ElementType output) {
  ProductAccuracy accuracy;
  accuracy.unit = UnitRoundoff(accumulator);
  accuracy.toward_zero = ElementBytes(operands) < ElementBytes(accumulator);
  if (output != accumulator) {
    accuracy.output_unit = UnitRoundoff(output);
  }
  if (output == ElementType::kFp16) accuracy.output_least = 0x1p-25;
  return accuracy;
}

double BeyondOutputRounding(double difference, double want, const ProductAccuracy& accuracy) {
  // The sum that is rounded differs a little from the reference: hence 1/64 more.
  const double rounding = accuracy.output_unit * std::abs(want) * (1 + 1.0 / 64);
  return std::max(0.0, difference - std::max(rounding, accuracy.output_least));
}

template <typename T>
ProductError CompareProduct(ConstMatrix<T> c, ConstMatrix<double> r,
                            ConstMatrix<double> abs_product, int64_t k_extent,
                            const ProductAccuracy& accuracy) {
  const double scale = static_cast<double>(k_extent) * accuracy.unit;
  ProductError error;
  double difference_squares = 0;
  double reference_squares = 0;
  double abs_squares = 0;
  OnePassMedian errors;
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.cols; ++j) {
      const double got = static_cast<double>(c(i, j));
      const double want = r(i, j);
      if (!std::isfinite(got) || !std::isfinite(want)) {
        if (error.non_finite++ == 0) {
          error.worst_row = i;
          error.worst_col = j;
        }
        continue;
      }
      const double difference = std::abs(got - want);
      difference_squares += difference * difference;
      reference_squares += want * want;
      abs_squares += abs_product(i, j) * abs_product(i, j);
      const double entry_error = OverBound(difference, abs_product(i, j));
      errors.Add(entry_error);
      error.max_error = std::max(error.max_error, entry_error);
      const double over_bound =
          OverBound(BeyondOutputRounding(difference, want, accuracy), scale * abs_product(i, j));
      if (error.non_finite == 0 &&
          (error.worst_row < 0 || over_bound > error.max_error_over_bound)) {
        error.max_error_over_bound = over_bound;
        error.worst_row = i;
        error.worst_col = j;
      }
    }
  }
  SetNormErrors(std::sqrt(difference_squares), std::sqrt(reference_squares), std::sqrt(abs_squares),
                k_extent, &error);
  error.median_error = errors.Median();
  if (error.non_finite > 0) error.max_error_over_bound = error.max_error = kInfinity;
  return error;
}

#define STRIDEWISE_INSTANTIATE(T)                                                                \
  template ProductError CompareProduct(ConstMatrix<T>, ConstMatrix<double>, ConstMatrix<double>, \
                                       int64_t, const ProductAccuracy&)
STRIDEWISE_INSTANTIATE(float);
STRIDEWISE_INSTANTIATE(double);
STRIDEWISE_INSTANTIATE(Bf16);
STRIDEWISE_INSTANTIATE(Fp16);
STRIDEWISE_INSTANTIATE(int32_t);
#undef STRIDEWISE_INSTANTIATE

void SetNormErrors(double difference_norm, double norm, double abs_norm, int64_t k_extent,
                   ProductError* error) {
  if (error->non_finite > 0) {
    error->relative_error = error->norm_error = kInfinity;
    return;
  }
  // An entry of R is about sqrt(K)/3 and one of |A||B| about K/4.
  const double expected_norm =
      k_extent == 0 ? 0 : 4.0 / 3 * abs_norm / std::sqrt(static_cast<double>(k_extent));
  error->relative_error = OverBound(difference_norm, norm);
  error->norm_error = OverBound(difference_norm, std::max(norm, expected_norm));
}

double OverBound(double difference, double bound) {
  if (difference == 0) return 0;
  const double ratio = difference / bound;
  return std::isnan(ratio) ? kInfinity : ratio;
}

double EntryTolerance(int64_t k_extent, const ProductAccuracy& accuracy) {
  const auto k = static_cast<double>(std::max<int64_t>(k_extent, 1));
  // 2 w and its square, in units of K u.
  const double operands = accuracy.operand_unit == 0
                              ? 0
                              : std::min(2 + accuracy.operand_unit, 16 / std::sqrt(k)) *
                                    accuracy.operand_unit / (k * accuracy.unit);
  if (k_extent <= 16) return 1 + operands;
  const double drift = accuracy.toward_zero ? 4.0 / 3 / std::sqrt(k) : 0;
  return std::min(1.0, 16 / k + drift) + operands;
}

double NormTolerance(int64_t k_extent, const ProductAccuracy& accuracy) {
  const auto k = static_cast<double>(k_extent);
  const double drift = accuracy.toward_zero ? k / 4 : 0;
  return (2 * std::sqrt(k) + 2 + drift) * accuracy.unit + accuracy.output_unit +
         2 * accuracy.operand_unit;
}

absl::Status CheckProduct(const ProductError& error, int64_t k_extent,
                          const ProductAccuracy& accuracy) {
  const auto entry = [&] {
    return absl::StrCat("entry (", error.worst_row, ", ", error.worst_col, ")");
  };
  if (error.non_finite > 0) {
    return absl::DataLossError(
        absl::StrCat(error.non_finite, " entries are NaN or infinite, the first is ", entry()));
  }
  const double for_reference = accuracy.unit <= UnitRoundoff(ElementType::kDouble) ? 2 : 1;

  const double entry_tolerance = for_reference * EntryTolerance(k_extent, accuracy);
  if (!(error.max_error_over_bound <= entry_tolerance)) {
    return absl::DataLossError(absl::StrCat(entry(), " is off by ", error.max_error_over_bound,
                                            " of K*u*(|A||B|), tolerance ", entry_tolerance,
                                            " for K = ", k_extent));
  }
  if (!(error.max_residual_over_tolerance <= for_reference)) {
    return absl::DataLossError(
        absl::StrCat("row ", error.worst_residual_row, " of C*x - A*(B*x) is off by ",
                     error.max_residual_over_tolerance, " of its tolerance for K = ", k_extent));
  }
  const double norm_tolerance = for_reference * NormTolerance(k_extent, accuracy);
  if (!(error.norm_error <= norm_tolerance)) {
    return absl::DataLossError(absl::StrCat("relative error of all entries together is ",
                                            error.norm_error, ", tolerance ", norm_tolerance,
                                            " for K = ", k_extent));
  }
  return absl::OkStatus();
}

}  // namespace stridewise

#include "common/verify/validation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/parallel_rows.h"
#include "common/verify/one_pass_median.h"

namespace stridewise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The errors of some consecutive rows.
class RowsError {
 public:
  // Adds entry (i, j), behind those before it.
  void Add(int64_t i, int64_t j, double got, double want, double abs_product, double scale,
           const ProductAccuracy& accuracy) {
    if (!std::isfinite(got) || !std::isfinite(want)) {
      if (error_.non_finite++ == 0) SetWorst(kInfinity, i, j);
      return;
    }
    const double difference = std::abs(got - want);
    difference_squares_ += difference * difference;
    reference_squares_ += want * want;
    abs_squares_ += abs_product * abs_product;
    const double entry_error = OverBound(difference, abs_product);
    errors_.Add(entry_error);
    error_.max_error = std::max(error_.max_error, entry_error);
    if (error_.non_finite > 0) return;
    const double over_bound =
        OverBound(BeyondOutputRounding(difference, want, accuracy), scale * abs_product);
    if (error_.worst_row < 0 || over_bound > error_.max_error_over_bound)
      SetWorst(over_bound, i, j);
  }

  // Adds the rows that follow.
  void Add(const RowsError& next) {
    difference_squares_ += next.difference_squares_;
    reference_squares_ += next.reference_squares_;
    abs_squares_ += next.abs_squares_;
    errors_.Add(next.errors_);
    error_.max_error = std::max(error_.max_error, next.error_.max_error);
    // The first entry that is not finite counts as the worst.
    const bool is_worse = next.error_.non_finite > 0 ||
                          next.error_.max_error_over_bound > error_.max_error_over_bound;
    if (next.error_.worst_row >= 0 && error_.non_finite == 0 &&
        (error_.worst_row < 0 || is_worse)) {
      SetWorst(next.error_.max_error_over_bound, next.error_.worst_row, next.error_.worst_col);
    }
    error_.non_finite += next.error_.non_finite;
  }

  ProductError Finish(int64_t k_extent) {
    SetNormErrors(std::sqrt(difference_squares_), std::sqrt(reference_squares_),
                  std::sqrt(abs_squares_), k_extent, &error_);
    error_.median_error = errors_.Median();
    if (error_.non_finite > 0) error_.max_error = kInfinity;
    return error_;
  }

 private:
  void SetWorst(double over_bound, int64_t i, int64_t j) {
    error_.max_error_over_bound = over_bound;
    error_.worst_row = i;
    error_.worst_col = j;
  }

  ProductError error_;
  double difference_squares_ = 0;
  double reference_squares_ = 0;
  double abs_squares_ = 0;
  OnePassMedian errors_;
};

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
  constexpr int64_t kOperations = 8;  // Of an entry: a thread has a million of them or more.
  std::mutex mutex;
  std::map<int64_t, RowsError> parts;  // By their first rows.
  ForRowsInParallel(c.rows, c.cols * kOperations, [&](int64_t first, int64_t last) {
    RowsError part;
    for (int64_t i = first; i < last; ++i) {
      for (int64_t j = 0; j < c.cols; ++j) {
        part.Add(i, j, static_cast<double>(c(i, j)), r(i, j), abs_product(i, j), scale, accuracy);
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    parts.emplace(first, std::move(part));
  });
  RowsError all = std::move(parts.begin()->second);
  for (auto part = std::next(parts.begin()); part != parts.end(); ++part) all.Add(part->second);
  return all.Finish(k_extent);
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

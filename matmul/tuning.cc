#include "matmul/tuning.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace stridewise {
namespace {

constexpr MatMulTuning kTunings[] = {
#define MATMUL_THRESHOLD(...)
#define MATMUL_TUNING(...) {__VA_ARGS__},
#include "matmul/tuning.inc"  // NOLINT(build/include)
};

constexpr MatMulThreshold kThresholds[] = {
#define MATMUL_THRESHOLD(name, least, most) {#name, &MatMulTuning::name, least, most},
#define MATMUL_TUNING(...)
#include "matmul/tuning.inc"  // NOLINT(build/include)
};

constexpr size_t kMaxColumns = 100;

}  // namespace

absl::Span<const MatMulThreshold> MatMulThresholds() { return kThresholds; }

absl::Span<const MatMulTuning> MatMulTunings() { return kTunings; }

const MatMulTuning& NearestTuning(absl::Span<const MatMulTuning> tunings, int compute_capability) {
  const auto distance = [&](const MatMulTuning& tuning) {
    return std::abs(tuning.compute_capability - compute_capability);
  };
  const MatMulTuning* nearest = tunings.data();
  for (const MatMulTuning& tuning : tunings) {
    if (distance(tuning) < distance(*nearest)) nearest = &tuning;
  }
  return *nearest;
}

const MatMulTuning& TuningFor(int compute_capability) {
  return NearestTuning(kTunings, compute_capability);
}

std::string TuningLine(const MatMulTuning& tuning) {
  const std::string opening = "MATMUL_TUNING(";
  std::string text;
  std::string line = absl::StrCat(opening, tuning.compute_capability);
  for (const MatMulThreshold& threshold : kThresholds) {
    const std::string argument = absl::StrCat("/*", threshold.name, "=*/", tuning.*threshold.value);
    // A comma or a parenthesis follows.
    if (line.size() + 2 + argument.size() + 1 <= kMaxColumns) {
      absl::StrAppend(&line, ", ", argument);
    } else {
      absl::StrAppend(&text, line, ",\n");
      line = absl::StrCat(std::string(opening.size(), ' '), argument);
    }
  }
  return absl::StrCat(text, line, ")\n");
}

}  // namespace stridewise

#include "matmul/tuning.h"

#include <cstdlib>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace stridewise {
namespace {

constexpr MatMulTuning kTunings[] = {
#define MATMUL_TUNING(...) {__VA_ARGS__},
#include "matmul/tuning.inc"  // NOLINT(build/include)
#undef MATMUL_TUNING
};

// The ranges are generous: what is chosen at their ends no kernel was made for.
constexpr MatMulThreshold kThresholds[] = {
    {"tiny_work", &MatMulTuning::tiny_work, 1000, 250000},
    {"tiny_terms", &MatMulTuning::tiny_terms, 1, 4096},
    {"thin_lines", &MatMulTuning::thin_lines, 1, 128},
    {"thin_terms", &MatMulTuning::thin_terms, 16, 16384},
    {"tiles_32x32", &MatMulTuning::tiles_32x32, 1, 16384},
    {"few_terms", &MatMulTuning::few_terms, 16, 65536},
    {"tiles_32x64", &MatMulTuning::tiles_32x64, 1, 16384},
    {"short_terms", &MatMulTuning::short_terms, 1, 1024},
    {"tiles_64x64", &MatMulTuning::tiles_64x64, 1, 16384},
    {"round_from", &MatMulTuning::round_from, 1, 16384},
    {"round_to", &MatMulTuning::round_to, 1, 16384},
    {"slower_32x32", &MatMulTuning::slower_32x32, 100, 400},
    {"slower_32x64", &MatMulTuning::slower_32x64, 100, 300},
    {"slower_64x64", &MatMulTuning::slower_64x64, 100, 200},
    {"slower_128x128", &MatMulTuning::slower_128x128, 100, 200},
};
static_assert(sizeof(MatMulTuning) == sizeof(int64_t) * (1 + std::size(kThresholds)),
              "a field of MatMulTuning is not in the list");

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
    // With a comma or a parenthesis behind it.
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

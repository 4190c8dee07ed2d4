// The thresholds of `auto` (dispatch.h), and their values for each architecture on which
// block_search measured them: all from tuning.inc.

#ifndef STRIDEWISE_MATMUL_TUNING_H_
#define STRIDEWISE_MATMUL_TUNING_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace stridewise {

// The thresholds of one architecture: a field for each MATMUL_THRESHOLD of tuning.inc, which says
// what it means, in that order.
struct MatMulTuning {
  int64_t compute_capability = 0;  // Of the device that was measured: 90 for 9.0.
#define MATMUL_THRESHOLD(name, least, most) int64_t name = 0;
#define MATMUL_TUNING(...)
#include "matmul/tuning.inc"  // NOLINT(build/include)
};

// A field of MatMulTuning, and the range of sensible values.
struct MatMulThreshold {
  const char* name;  // Its name in tuning.inc and in the texts of the dispatch table.
  int64_t MatMulTuning::*value;
  int64_t least;
  int64_t most;
};

// Returns all of them, in the order of the fields.
absl::Span<const MatMulThreshold> MatMulThresholds();

// Returns those measured, by ascending compute capability.
absl::Span<const MatMulTuning> MatMulTunings();

// Returns the tuning of this compute capability or, where it was not measured, that of the nearest
// number; of two equally near, the older. REQUIRES: `tunings` is not empty and is ascending.
const MatMulTuning& NearestTuning(absl::Span<const MatMulTuning> tunings, int compute_capability);

// Returns NearestTuning() of those measured, which `auto` chooses by.
const MatMulTuning& TuningFor(int compute_capability);

// Returns the MATMUL_TUNING line of tuning.inc for it, wrapped at 100 columns, with a newline.
std::string TuningLine(const MatMulTuning& tuning);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TUNING_H_

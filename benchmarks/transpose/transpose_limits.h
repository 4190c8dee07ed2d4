// What the transposes are held to: for each case the least share of a copy's speed, and of
// cuBLAS's.
//
// One table: the preset `limits` of transpose_sweep measures it (transpose_plan.h), and
// limit_verdicts.h judges what was measured.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_LIMITS_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_LIMITS_H_

#include <cstdint>

#include "absl/types/span.h"

namespace stridewise {

struct TransposeLimit {
  const char* name;
  const char* implementation;
  const char* sizes;   // Squares as of --sizes; may be empty.
  const char* shapes;  // Of the input, as of --shapes; may be empty.
  const char* types;   // As of --types.
  int64_t batch;
  double floor;            // Of the speed over memcpy's, the driver's copy of the same bytes.
  double aim;              // The same; 0 for none.
  double floor_vs_cublas;  // Of the speed over cublas_geam's; 0 for none.
};

absl::Span<const TransposeLimit> TransposeLimits();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_LIMITS_H_

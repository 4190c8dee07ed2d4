// What `auto` is held to: for each case the least speed over cuBLAS's, both sampled in turn.
//
// One table: the preset `limits` of matmul_sweep measures it (matmul_plan.h), and matmul_verdicts.h
// judges what was measured.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_LIMITS_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_LIMITS_H_

#include <cstdint>

#include "absl/types/span.h"

namespace stridewise {

struct MatMulLimit {
  const char* name;
  const char* implementation;
  const char* sizes;    // Squares as of --sizes; may be empty.
  const char* shapes;   // MxNxK, as of --shapes; may be empty.
  const char* layouts;  // As of --layouts.
  double beta;
  int64_t batch;
  double floor;  // Of the speed over that of cuBLAS in its default math mode.
};

absl::Span<const MatMulLimit> MatMulLimits();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_LIMITS_H_

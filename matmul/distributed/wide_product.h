// The local product of tests without a GPU: MatMulOnHost(), with operands of Bf16 made floats.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_WIDE_PRODUCT_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_WIDE_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/base/half_types.h"
#include "common/gpu/cuda_handles.h"
#include "matmul/matmul.h"
#include "matmul/on_host.h"

namespace stridewise {

inline absl::Status WideProductOnHost(const MatMulProblem& problem, cudaStream_t /*stream*/) {
  if (problem.a.type != ElementType::kBf16) return MatMulOnHost(problem);
  const auto widened = [](const MatMulInput& in, int64_t rows, int64_t cols) {
    const auto* const from = static_cast<const Bf16*>(in.data);
    std::vector<float> wide(rows * cols);
    for (int64_t i = 0; i < rows * cols; ++i) wide[i] = from[i / cols * in.ld + i % cols];
    return wide;
  };
  const std::vector<float> a = widened(problem.a, problem.m, problem.k);
  const std::vector<float> b = widened(problem.b, problem.k, problem.n);
  MatMulProblem wide = problem;
  wide.a = {a.data(), problem.k};
  wide.b = {b.data(), problem.n};
  return MatMulOnHost(wide);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_WIDE_PRODUCT_H_

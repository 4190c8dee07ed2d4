// The matrices that streamed_sweep measures with: made, filled and judged.

#ifndef STRIDEWISE_BENCHMARKS_STREAMED_OPERANDS_H_
#define STRIDEWISE_BENCHMARKS_STREAMED_OPERANDS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/streamed/host_matrices.h"
#include "benchmarks/streamed/settings.h"
#include "common/base/available_memory.h"
#include "common/base/matrix.h"
#include "matmul/matmul.h"
#include "transpose/transpose.h"

namespace stridewise {

// The host's matrices of a shape: A, B and C, or in and out.
struct StreamedOperands {
  std::vector<HostMatrix> inputs;
  HostMatrix output;

  MatMulProblem Product() {
    MatMulProblem problem;
    problem.m = output.view.rows;
    problem.n = output.view.cols;
    problem.k = inputs[0].view.cols;
    problem.a = {inputs[0].view.data, inputs[0].view.ld};
    problem.b = {inputs[1].view.data, inputs[1].view.ld};
    problem.c = {output.view.data, output.view.ld};
    return problem;
  }
  MatrixView In() const {
    const Matrix<float>& in = inputs[0].view;
    return {in.data, in.rows, in.cols, in.ld, sizeof(float)};
  }
  MutableMatrixView Out() const {
    const Matrix<float>& out = output.view;
    return {out.data, out.rows, out.cols, out.ld, sizeof(float)};
  }
};

// Returns ResourceExhausted, naming --memory, where matrices of these rows and columns are to lie
// in host memory and together take more than is available.
absl::Status CheckHostMemory(const StreamedSettings& settings,
                             const std::vector<std::pair<int64_t, int64_t>>& matrices,
                             int64_t available = AvailableHostBytes());

// Makes them in host memory or in mapped files, the inputs filled. ResourceExhausted where there is
// no memory, before any is taken that all of them together do not have.
absl::StatusOr<StreamedOperands> MakeStreamedOperands(const StreamedSettings& settings,
                                                      const std::vector<int64_t>& shape);

// Returns DataLoss where the output is not the product or the transpose of the inputs.
absl::Status VerifyStreamed(const StreamedSettings& settings, const StreamedOperands& operands);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_STREAMED_OPERANDS_H_

// One permutation as a problem of the harness.

#ifndef STRIDEWISE_BENCHMARKS_PERMUTE_PERMUTED_TENSOR_H_
#define STRIDEWISE_BENCHMARKS_PERMUTE_PERMUTED_TENSOR_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "benchmarks/harness/problem.h"
#include "benchmarks/permute/operation.h"
#include "transpose/permute.h"

namespace stridewise {

class PermutedTensor : public Problem {
 public:
  PermutedTensor(Permutation permutation, int64_t element_bytes)
      : permutation_(std::move(permutation)), element_bytes_(element_bytes) {}

  // Every element is read once and written once.
  Work work() const override;

  // Returns the problem without gaps, without pointers.
  PermuteProblem Gapless() const;

  std::vector<BufferSpec> inputs() const override;
  BufferSpec output() const override;

  // The input is random, and a normal number where it is taken for one of floating point.
  void Fill(size_t input, uint64_t seed, void* data) const override;

  Binding Bind(const Implementation& implementation, const Block& block) const override;

  // Judges bit for bit; DataLoss, with the first element that is wrong. kFast compares 65536
  // elements at random coordinates, and the sum of all.
  absl::Status Verify(const Implementation& implementation, const Result& result, VerifyMode mode,
                      cublasHandle_t cublas, ResultRow* row) override;

 private:
  size_t bytes() const;

  Permutation permutation_;
  int64_t element_bytes_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PERMUTE_PERMUTED_TENSOR_H_

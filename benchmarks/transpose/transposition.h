// One transpose or copy, or a batch, as a problem of the harness: its input and the judge of
// results.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSITION_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSITION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "benchmarks/harness/problem.h"
#include "transpose/registry.h"

namespace stridewise {

class Transposition : public Problem {
 public:
  // `point.extents` are the input's rows and columns.
  Transposition(const Point& point, int64_t element_bytes)
      : rows_(point.extents[0]),
        cols_(point.extents[1]),
        batch_(point.batch),
        element_bytes_(element_bytes) {}

  // Every element is read once and written once.
  Work work() const override;

  // Returns what an implementation of this operation is called with, without pointers.
  TransposeArgs ArgsFor(TransposeOperation operation) const;

  std::vector<BufferSpec> inputs() const override;
  BufferSpec output() const override;

  // The input is random bits. As float (4 bytes) and as double (8 and 16 bytes) the elements are
  // positive normal numbers: an implementation that multiplies by 1 must not change them, and need
  // not keep the payload of a NaN.
  void Fill(size_t input, uint64_t seed, void* data) const override;

  // A copy takes a batch as one matrix of batch * rows rows.
  Binding Bind(const Implementation& implementation, const Block& block) const override;

  // Judges bit for bit; DataLoss, with the first mismatches of the first matrix that has any. kFull
  // compares every element, at about a nanosecond each. kFast compares the first and the last row
  // and column of the first and the last matrix, 65536 elements at random coordinates, and the sum
  // of all elements, which a lost or repeated element changes; two elements that were exchanged may
  // escape it.
  absl::Status Verify(const Implementation& implementation, const Result& result, VerifyMode mode,
                      cublasHandle_t cublas, ResultRow* row) override;

 private:
  size_t bytes() const;

  int64_t rows_;
  int64_t cols_;
  int64_t batch_;
  int64_t element_bytes_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSITION_H_

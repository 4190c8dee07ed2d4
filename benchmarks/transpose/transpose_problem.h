// The input of one transpose or copy, or of a batch, on the host, room for a result, and the judge
// of results.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_PROBLEM_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_PROBLEM_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/sweep_args.h"
#include "common/gpu/buffer.h"
#include "transpose/registry.h"

namespace stridewise {

// The arguments of one operation on `batch` matrices without gaps, pointers apart. A copy takes all
// of them as one matrix of batch * rows rows.
TransposeArgs GaplessArgs(TransposeOperation operation, const Shape2& shape, int64_t batch,
                          int64_t element_bytes);

class TransposeProblem {
 public:
  // The input is random bits from the seed. As float (4 bytes) and as double (8 and 16 bytes) the
  // elements are positive normal numbers: an implementation that multiplies by 1 must not change
  // them, and need not keep the payload of a NaN. ResourceExhausted where the host has too little
  // memory.
  static absl::StatusOr<TransposeProblem> Create(const Shape2& shape, int64_t batch,
                                                 int64_t element_bytes, uint64_t seed,
                                                 HostMemory host_memory);

  // Whether it was made for these.
  bool IsOf(const Shape2& shape, int64_t batch, int64_t element_bytes) const;

  // Host pointers, gapless; `out` is the room for a result, for transposes in place too.
  TransposeArgs Args(TransposeOperation operation) const;

  // Of the input, which are those of the result too.
  size_t bytes() const { return in_.bytes(); }

  void PoisonOut() { out_.Poison(); }

  // Judges what is in `out`, bit for bit; DataLoss, with the first mismatches of the first matrix
  // that has any, if it is wrong. kFull compares every element, at about a nanosecond each. kFast
  // compares the first and the last row and column of the first and the last matrix, 65536 elements
  // at random places, and the sum of all elements, which a lost or repeated element changes; two
  // elements that changed places may escape it. kOff does nothing.
  absl::Status Verify(TransposeOperation operation, VerifyMode mode) const;

 private:
  Shape2 shape_;
  int64_t batch_ = 1;
  int64_t element_bytes_ = 4;
  uint64_t seed_ = 0;
  HostBuffer in_, out_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_PROBLEM_H_

// Random calls of cuBLAS's functions, made twice: as the program would, so that the drop-in may
// take them, and of the real library.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_TEST_RANDOM_CALLS_H_
#define STRIDEWISE_BINDINGS_CUBLAS_TEST_RANDOM_CALLS_H_

#include <cstdint>
#include <memory>
#include <random>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stridewise::drop_in {

enum class Function { kSgemm, kSgemm64, kBatch, kBatch64, kGemmEx, kGemmBatchEx, kGeam };
inline constexpr int kFunctions = 7;

// Returns its name in cuBLAS.
const char* FunctionName(Function function);

struct RandomCall {
  Function function = Function::kSgemm;
  bool transpose_a = false, transpose_b = false;
  int64_t m = 1, n = 1, k = 1, batch = 1;
  int64_t lda = 1, ldb = 1, ldc = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  int64_t offset_a = 0, offset_b = 0, offset_c = 0;  // Elements from a multiple of 256 bytes.
  float alpha = 1, beta = 0;
};

// Draws a call of at most `most_flops`.
RandomCall DrawCall(std::mt19937_64& random, double most_flops);

struct CallResult {
  double error_over_bound = 0;      // Of the difference; at most 1 where both are right.
  double ours_us = 0, real_us = 0;  // Medians, where there were samples; cold L2.
};

// The buffers, streams and handles of one thread.
class CallRunner {
 public:
  // Returns Unavailable where there is no GPU or no cuBLAS.
  static absl::StatusOr<std::unique_ptr<CallRunner>> Create(uint32_t seed);
  virtual ~CallRunner() = default;

  // Makes the call and compares; then times it `samples` times, in turn.
  virtual absl::StatusOr<CallResult> Run(const RandomCall& call, int samples) = 0;

  // Does the same with both calls captured into a graph that is launched twice.
  virtual absl::StatusOr<CallResult> RunCaptured(const RandomCall& call) = 0;
};

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_TEST_RANDOM_CALLS_H_

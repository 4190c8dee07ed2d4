// Makes calls of cuBLAS's functions twice, as the program would, so that the drop-in may take them,
// and of the real library, and compares the results.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_TEST_CALL_RUNNER_H_
#define STRIDEWISE_BINDINGS_CUBLAS_TEST_CALL_RUNNER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "bindings/cublas/test/random_calls.h"

namespace stridewise::drop_in {

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

  // Makes the call `settle` times through the drop-in, which may decide by them how to make it;
  // then makes it and compares; then times it `samples` times, in turn.
  virtual absl::StatusOr<CallResult> Run(const RandomCall& call, int samples, int settle = 0) = 0;

  // Does the same with both calls captured into a graph that is launched twice.
  virtual absl::StatusOr<CallResult> RunCaptured(const RandomCall& call) = 0;
};

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_TEST_CALL_RUNNER_H_

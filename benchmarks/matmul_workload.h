// The inputs of one multiplication on the host, room for a result, and the judge of results.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_WORKLOAD_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_WORKLOAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/buffer.h"
#include "common/sweep_args.h"
#include "common/validation.h"
#include "matmul/registry.h"

namespace stridewise {

class MatMulWorkload {
 public:
  // A and B are filled with U[-1, 1). ResourceExhausted where the host has too little memory.
  static absl::StatusOr<MatMulWorkload> Create(const Shape3& shape, ElementType type, uint64_t seed,
                                               HostMemory host_memory);

  // Host pointers, gapless; C is the room for a result.
  const MatMulArgs& args() const { return args_; }

  void PoisonC() { c_.Poison(); }

  // Judges what is in C. The reference of kFull is computed at the first call, by the device if
  // `cublas` is not null; where it costs too much memory, or too much time without a device, the
  // check is that of kFast. DataLoss if C is wrong; `error` is set in any case, unless kOff.
  absl::Status Verify(VerifyMode mode, cublasHandle_t cublas, std::optional<ProductError>* error);

  // Compares C with the results that earlier calls kept under other names, then keeps it. DataLoss,
  // naming the pair, if two differ by more than their tolerances together.
  absl::Status CrossCheck(const std::string& name);

 private:
  template <typename T>
  absl::StatusOr<ProductError> Judge(VerifyMode mode, cublasHandle_t cublas);
  absl::StatusOr<bool> EnsureReference(cublasHandle_t cublas);

  MatMulArgs args_;
  uint64_t seed_ = 0;
  HostBuffer a_, b_, c_;
  HostBuffer reference_;      // A * B in FP64, and
  HostBuffer abs_reference_;  // |A| * |B|, once computed.
  bool reference_tried_ = false;
  std::vector<std::pair<std::string, std::vector<double>>> kept_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_WORKLOAD_H_

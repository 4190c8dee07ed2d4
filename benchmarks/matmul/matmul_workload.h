// The inputs of one multiplication, or a batch, on the host, room for a result, and the judge of
// results.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_WORKLOAD_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/matmul/matmul_config.h"
#include "common/base/sweep_args.h"
#include "common/gpu/buffer.h"
#include "common/verify/validation.h"
#include "matmul/registry.h"

namespace stridewise {

class MatMulWorkload {
 public:
  // For the configuration's shape, type and form. A, B and, where beta is not 0, what C holds
  // before are filled with U[-1, 1). ResourceExhausted where the host has too little memory.
  static absl::StatusOr<MatMulWorkload> Create(const MatMulConfig& config, uint64_t seed,
                                               HostMemory host_memory);

  // Whether it is the workload of this configuration too.
  bool IsOf(const MatMulConfig& config) const;

  // Host pointers, gapless (matmul_config.h); C is the room for a result.
  const MatMulArgs& args() const { return args_; }

  // What C holds before each run; empty where beta is 0.
  const HostBuffer& old_c() const { return old_c_; }

  void PoisonC() { c_.Poison(); }
  void RestoreC();  // To old_c(), where there is one.

  // Judges what is in C; of a batch the first and the last matrix by their values, the others by
  // being finite. The reference of kFull is computed at the first call, by the device if `cublas`
  // is not null; where it costs too much memory, or too much time without a device, the check is
  // that of kFast. That one knows products of matrices only: those with transposed operands, alpha
  // or beta have a reference in any case, ResourceExhausted where there is no memory for it.
  // DataLoss if C is wrong; `error`, the worse of the two, is set in any case, unless kOff.
  absl::Status Verify(VerifyMode mode, cublasHandle_t cublas, std::optional<ProductError>* error);

  // Compares C with the results that earlier calls kept under other names, then keeps it. DataLoss,
  // naming the pair, if two differ by more than their tolerances together.
  absl::Status CrossCheck(const std::string& name);

 private:
  // In FP64, and as ReferenceProducts() computes them; empty where they are too expensive.
  struct Reference {
    HostBuffer product;
    HostBuffer abs_product;
  };

  MatMulArgs OneMatrix(int64_t index) const;
  bool NeedsReference() const;
  absl::StatusOr<const Reference*> ReferenceOf(int64_t index, cublasHandle_t cublas);
  absl::StatusOr<Reference> ComputeReference(int64_t index, cublasHandle_t cublas) const;
  template <typename T>
  absl::StatusOr<ProductError> Judge(int64_t index, VerifyMode mode, cublasHandle_t cublas);
  template <typename T>
  absl::Status CheckFinite() const;

  MatMulArgs args_;
  MatMulForm form_;
  Shape3 shape_;
  uint64_t seed_ = 0;
  HostBuffer a_, b_, c_, old_c_;
  std::map<int64_t, std::optional<Reference>> references_;  // By matrix, once tried.
  std::vector<std::pair<std::string, std::vector<double>>> kept_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_WORKLOAD_H_

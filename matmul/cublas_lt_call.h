// A multiplication as cuBLASLt takes it: on column-major matrices, so that its A is our B and its B
// our A, as in cublas.cc.

#ifndef STRIDEWISE_MATMUL_CUBLAS_LT_CALL_H_
#define STRIDEWISE_MATMUL_CUBLAS_LT_CALL_H_

#include <cublasLt.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "matmul/args.h"

namespace stridewise {

// Returns whether sums are FP16, and alpha and beta with them.
bool SumsInFp16(const MatMulArgs& args);

// Return the vendor's names of an element type, of how a call's operands are multiplied, and of an
// epilogue.
cudaDataType CublasTypeOf(ElementType type);
cublasComputeType_t CublasComputeTypeOf(const MatMulArgs& args);
cublasLtEpilogue_t CublasLtEpilogueOf(const MatMulEpilogue& epilogue);

class CublasLtCall {
 public:
  // Describes the call. REQUIRES: C has elements.
  static absl::StatusOr<CublasLtCall> Create(const MatMulArgs& args);

  // Returns the algorithms that the heuristics name, at most eight, the best guess first.
  absl::StatusOr<std::vector<cublasLtMatmulAlgo_t>> Algorithms(const MatMulArgs& args) const;

  // Queues the call with C at `c`.
  absl::Status Run(const MatMulArgs& args, const cublasLtMatmulAlgo_t& algorithm, void* c) const;

 private:
  template <typename T, cublasStatus_t (*kDestroy)(T)>
  struct Destroyer {
    using pointer = T;
    void operator()(T object) const { (void)kDestroy(object); }
  };
  using Description =
      std::unique_ptr<void, Destroyer<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>>;
  using Layout =
      std::unique_ptr<void, Destroyer<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>>;
  using Preference =
      std::unique_ptr<void, Destroyer<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>>;

  static absl::StatusOr<Layout> MakeLayout(ElementType type, int64_t rows, int64_t cols, int64_t ld,
                                           int64_t batch, int64_t stride);

  Description description_;
  Layout a_, b_, c_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CUBLAS_LT_CALL_H_

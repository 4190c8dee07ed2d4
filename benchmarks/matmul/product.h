// One multiplication, or a batch, as a problem of the harness: its operands, its references in
// FP64, and the judge of results.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_PRODUCT_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_PRODUCT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/problem.h"
#include "benchmarks/matmul/axes.h"
#include "common/gpu/buffer.h"
#include "common/verify/validation.h"
#include "matmul/registry.h"

namespace stridewise {

class Product : public Problem {
 public:
  explicit Product(const Point& point);

  // A and B are read once, C is written once and, where beta is not 0, read once.
  Work work() const override;
  std::vector<BufferSpec> inputs() const override;  // a, b and, where beta is not 0, what c holds.
  BufferSpec output() const override;
  void Fill(size_t input, uint64_t seed, void* data) const override;  // U[-1, 1)
  Binding Bind(const Implementation& implementation, const Block& block) const override;

  // Judges the first and the last matrix of a batch by their values, the others by being finite.
  // The reference of kFull is computed at the first call, by the device if `cublas` is not null;
  // where it costs too much memory, or too much time without a device, the check is that of kFast.
  // That one knows products of matrices only: those with transposed operands, alpha or beta have a
  // reference in any case, ResourceExhausted where there is no memory for it. Sets the columns of
  // accuracy to the worse of the two matrices, whether it passes or not.
  absl::Status Verify(const Implementation& implementation, const Result& result, VerifyMode mode,
                      cublasHandle_t cublas, ResultRow* row) override;

  absl::Status CheckAgreement(const void* output, const void* other) const override;

 private:
  // In FP64, and as ReferenceProducts() computes them; empty where they are too expensive.
  struct Reference {
    HostBuffer product;
    HostBuffer abs_product;
  };

  MatMulArgs ArgsOf(const Result& result) const;
  bool NeedsReference() const;
  absl::StatusOr<const Reference*> ReferenceOf(int64_t index, const Result& result,
                                               cublasHandle_t cublas);
  absl::StatusOr<Reference> ComputeReference(int64_t index, const Result& result,
                                             cublasHandle_t cublas) const;
  template <typename T, typename Out>
  absl::StatusOr<ProductError> Judge(int64_t index, const Result& result, VerifyMode mode,
                                     cublasHandle_t cublas, const ProductAccuracy& accuracy);

  MatMulForm form_;
  MatMulTypes types_;
  ProductAccuracy accuracy_;
  MatMulArgs args_;                                         // Without pointers.
  std::map<int64_t, std::optional<Reference>> references_;  // By matrix, once tried.
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_PRODUCT_H_

// Decides whether a product that a program asks cuBLAS for is ours, and computes it.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_OFFER_H_
#define STRIDEWISE_BINDINGS_CUBLAS_OFFER_H_

#include <cstdint>

#include "bindings/cublas/call_trials.h"
#include "bindings/cublas/record.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/matmul.h"

namespace stridewise::drop_in {

// Returns how many times longer cuBLAS is predicted to take for a product than we do, on an H200,
// at least: where predictions are unsure it is near the least of similar calls. Below 1 the call is
// passed on. `our_us` is our own predicted time. REQUIRES: the product has elements and k.
double CublasOverOurs(const MatMulArgs& args, double our_us);

// How a product would be computed.
struct ProductPlan {
  MatMulPrecision precision = MatMulPrecision::kFp32;
  int64_t workspace_bytes = 0;   // Which make it fastest.
  const char* kernel = "";       // Lives forever.
  double us = 0, cublas_us = 0;  // The predicted times of it and of cuBLAS's SGEMM.

  // Returns which of them is predicted to be faster: ours, where they are alike.
  Way Faster() const { return cublas_us < us ? Way::kCublas : Way::kOurs; }
};

// Plans a product on such a device. Where its precision is kFp32Split that may be taken, and is
// where it is faster than FP32.
ProductPlan PlanProduct(MatMulProblem problem, const DeviceModel& device);

// Returns the precision that the settings allow products of float: a pedantic one is never split.
MatMulPrecision ProductPrecision(bool pedantic);

// Offers a column-major product of the current device. `owner` is the handle that the call came
// with: beside the workspace of the problem, one is kept for each stream of it. Returns true if the
// product was queued; *record says why not, or by which kernel.
bool TakeProduct(MatMulProblem problem, const void* owner, cudaStream_t stream, Record* record);

// Offers C = A^T of column-major matrices of float: A is n x m, C m x n.
bool TakeTranspose(int64_t m, int64_t n, const float* a, int64_t lda, float* c, int64_t ldc,
                   cudaStream_t stream, Record* record);

// Frees what is kept for a handle that ends. REQUIRES: no call uses it.
void ForgetOwner(const void* owner);

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_OFFER_H_

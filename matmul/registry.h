// Matrix multiplication C = A * B, and C = alpha * op(A) * op(B) + beta * C: every implementation
// of the house, by name. Programs that want one multiplication, the fastest, include matmul.h
// instead.
//
// op(A) is m x k, op(B) is k x n, C is m x n, all row-major with leading dimensions in elements;
// any extent may be 0 (k = 0 gives beta * C); k is below 2^31 for our own kernels. C must not
// overlap A or B. What C held before is not read where beta is 0, and A and B are not where alpha
// is 0. Rounding: each element is a sum of k products in the order and with the roundings that the
// implementation's `math` says; common/verify/validation.h bounds the error.

#ifndef STRIDEWISE_MATMUL_REGISTRY_H_
#define STRIDEWISE_MATMUL_REGISTRY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/element_type.h"
#include "common/base/matrix.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/implementation.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {

// One multiplication, or a batch. Pointers are device pointers for device implementations and host
// pointers for host ones; they are borrowed.
struct MatMulArgs {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  ElementType type = ElementType::kFloat;
  const void* a = nullptr;
  int64_t lda = 0;  // >= k, or >= m where A is stored transposed.
  const void* b = nullptr;
  int64_t ldb = 0;  // >= n, or >= k where B is stored transposed.
  void* c = nullptr;
  int64_t ldc = 0;  // >= n

  // The general form, which only implementations with `general` take.
  bool transpose_a = false;  // A is stored k x m, and op(A) is its transpose.
  bool transpose_b = false;  // B is stored n x k.
  double alpha = 1;          // Rounded to the element type.
  double beta = 0;
  int64_t batch = 1;     // Multiplications of this shape, their matrices so many elements apart. A
  int64_t stride_a = 0;  // stride of 0 for A or B has all use the same.
  int64_t stride_b = 0;
  int64_t stride_c = 0;

  // Device memory that belongs to the call until its work on the stream is done, a multiple of 16.
  // Never needed; see MatMulImplementation::workspace_bytes.
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;

  cudaStream_t stream = nullptr;    // Device implementations queue here and return.
  cublasHandle_t cublas = nullptr;  // For cuBLAS implementations; see common/gpu/cublas_handle.h.
  Block block = {0, 0, 0};          // Threads of a block; RunMatMul() makes 0 x 0 the default.

  // The (first) matrices as they are stored.
  template <typename T>
  ConstMatrix<T> A() const {
    return {static_cast<const T*>(a), transpose_a ? k : m, transpose_a ? m : k, lda};
  }
  template <typename T>
  ConstMatrix<T> B() const {
    return {static_cast<const T*>(b), transpose_b ? n : k, transpose_b ? k : n, ldb};
  }
  template <typename T>
  Matrix<T> C() const {
    return {static_cast<T*>(c), m, n, ldc};
  }
};

// Calls fn(float()) or fn(double()), as args.type says.
template <typename Fn>
absl::Status ForElementType(const MatMulArgs& args, Fn fn) {
  // NOLINTNEXTLINE(bugprone-branch-clone): another type in each branch.
  return args.type == ElementType::kFloat ? fn(float()) : fn(double());
}

// What any implementation must move and do: A and B read once and C written once; a multiply-add
// counts as two.
double MatMulBytes(int64_t m, int64_t n, int64_t k, ElementType type);
double MatMulFlops(int64_t m, int64_t n, int64_t k);

// An entry of the registry, as a line of kernels.inc makes it.
struct MatMulImplementation : Implementation {
  std::string math;  // How products are summed: "fma", "multiply_add", or the library's mode.
  bool takes_double = false;  // Takes ElementType::kDouble too.
  bool general = false;       // Takes transposed operands, alpha, beta and batches.

  // How much workspace makes it fastest, for these arguments; less, or none, is allowed. Null for
  // most: none makes a difference.
  int64_t (*workspace_bytes)(const MatMulArgs& args) = nullptr;

  // Null where the program was built without what it needs (a CUDA toolkit). Use RunMatMul().
  absl::Status (*run)(const MatMulArgs& args) = nullptr;
};

// All implementations in the order of kernels.inc: each is a step up from the one before it.
absl::Span<const MatMulImplementation> MatMulImplementations();

// As the implementation's workspace_bytes(); 0 where it has none.
int64_t MatMulWorkspaceBytes(const MatMulImplementation& implementation, const MatMulArgs& args);

// The entry of that name; null where there is none.
const MatMulImplementation* FindMatMulImplementation(absl::string_view name);

// Checks the arguments and runs. InvalidArgument, naming the argument and its value, before
// anything is launched; also for what the implementation does not take. Unavailable when it was not
// built in. A device implementation is queued on args.stream and not waited for.
absl::Status RunMatMul(const MatMulImplementation& implementation, const MatMulArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_REGISTRY_H_

// The arguments of a matrix multiplication C = alpha * op(A) * op(B) + beta * C, as every
// implementation receives them. Callers outside the house use MatMulProblem of matmul.h.

#ifndef STRIDEWISE_MATMUL_ARGS_H_
#define STRIDEWISE_MATMUL_ARGS_H_

#include <cstdint>

#include "common/base/element_type.h"
#include "common/base/matrix.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_geometry.h"
#include "common/gpu/launch_status.h"
#include "matmul/operands.h"

namespace stridewise {

struct DeviceModel;

// One multiplication, or a batch. op(A) is m x k, op(B) is k x n and C is m x n, all row-major.
// Pointers are device pointers for device implementations and host pointers for host ones; they are
// borrowed.
struct MatMulArgs {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatMulInput a;   // Stored m x k, or k x m where it is transposed.
  MatMulInput b;   // Stored k x n, or n x k where it is transposed.
  MatMulOutput c;  // Stored m x n.

  // Only implementations with `general` take other values than these, and transposed operands.
  double alpha = 1;   // Rounded to ScaleType().
  double beta = 0;    // Rounded to ScaleType().
  int64_t batch = 1;  // The number of multiplications of this shape.
  MatMulPrecision precision = MatMulPrecision::kFp32;
  MatMulEpilogue epilogue;
  MatMulScales scales;

  // Device memory that belongs to the call until its work on the stream is done, a multiple of 16.
  // Never needed; see MatMulImplementation::workspace_bytes.
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;

  // What plans and choices are computed from; null: the calling thread's device.
  const DeviceModel* device_model = nullptr;
  cudaStream_t stream = nullptr;    // Device implementations queue their work here and return.
  cublasHandle_t cublas = nullptr;  // For cuBLAS implementations; see common/gpu/cublas_handle.h.
  Block block = {0, 0, 0};          // Threads of a block; RunMatMul() makes 0 x 0 the default.

  // Return the (first) matrices as they are stored.
  template <typename T>
  ConstMatrix<T> A() const {
    return {static_cast<const T*>(a.data), a.transposed ? k : m, a.transposed ? m : k, a.ld};
  }
  template <typename T>
  ConstMatrix<T> B() const {
    return {static_cast<const T*>(b.data), b.transposed ? n : k, b.transposed ? k : n, b.ld};
  }
  template <typename T>
  Matrix<T> C() const {
    return {static_cast<T*>(c.data), m, n, c.ld};
  }
};

// The functions of an implementation. Null where there is none.
struct MatMulFunctions {
  LaunchStatus (*run)(const MatMulArgs& args);
  int64_t (*workspace_bytes)(const MatMulArgs& args);
};

// Returns the type that alpha and beta are rounded to: double where C is, else float.
inline ElementType ScaleType(const MatMulArgs& args) {
  return args.c.type == ElementType::kDouble ? ElementType::kDouble : ElementType::kFloat;
}

// Calls fn(float()) or fn(double()), for implementations of kFp32AndFp64.
template <typename Fn>
LaunchStatus ForElementType(const MatMulArgs& args, Fn fn) {
  return ForElementType<float, double>(args.c.type, fn);
}

// Returns whether anything is done to alpha * op(A) * op(B) + beta * C before it is stored.
inline bool HasEpilogue(const MatMulArgs& args) { return !(args.epilogue == MatMulEpilogue()); }

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_ARGS_H_

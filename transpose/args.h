// The arguments of a transpose or copy, as every implementation receives them. Callers outside the
// house use the views of transpose.h.

#ifndef STRIDEWISE_TRANSPOSE_ARGS_H_
#define STRIDEWISE_TRANSPOSE_ARGS_H_

#include <cstdint>

#include "common/base/matrix.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_geometry.h"
#include "common/gpu/launch_status.h"
#include "transpose/element_size.h"

namespace stridewise {

struct DeviceModel;

// One transpose or copy. Pointers are device pointers for device implementations and host pointers
// for host ones, each a multiple of the element size; they are borrowed.
struct TransposeArgs {
  int64_t rows = 0;  // Of `in`.
  int64_t cols = 0;
  int64_t element_bytes = 4;
  const void* in = nullptr;
  int64_t ld_in = 0;  // >= cols
  void* out = nullptr;
  int64_t ld_out = 0;  // >= rows for a transpose, >= cols for a copy

  int64_t batch = 1;       // The number of matrices of this shape.
  int64_t stride_in = 0;   // Elements of `in` from one matrix to the next.
  int64_t stride_out = 0;  // The same for `out`.

  // TransposeWorkspaceBytes() of device memory at a multiple of 16; null where those are 0.
  void* workspace = nullptr;

  // What grids of persistent blocks are computed from; null: the calling thread's device.
  const DeviceModel* device_model = nullptr;
  cudaStream_t stream = nullptr;    // Device implementations queue here and return.
  cublasHandle_t cublas = nullptr;  // For implementations that need cuBLAS.
  Block block = {0, 0, 0};          // Threads of a block; RunTranspose() makes 0 x 0 the default.

  template <typename T>
  ConstMatrix<T> In() const {
    return {static_cast<const T*>(in), rows, cols, ld_in};
  }
  template <typename T>
  Matrix<T> Out() const {
    return {static_cast<T*>(out), cols, rows, ld_out};
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_ARGS_H_

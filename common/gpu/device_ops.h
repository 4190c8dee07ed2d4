// What the harness itself does on the device: inputs, cold caches, its own overhead. Not exercises.
//
// All calls queue work on `stream` and return; pointers are device pointers. Without a CUDA toolkit
// every call returns Unavailable.

#ifndef STRIDEWISE_COMMON_GPU_DEVICE_OPS_H_
#define STRIDEWISE_COMMON_GPU_DEVICE_OPS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

// FillUniform of fill.h on the device: the same values.
absl::Status FillUniformOnDevice(Matrix<float> matrix, uint64_t seed, cudaStream_t stream);
absl::Status FillUniformOnDevice(Matrix<double> matrix, uint64_t seed, cudaStream_t stream);

// Writes the matrix, or its absolute values, as doubles without gaps between the rows.
absl::Status WidenOnDevice(ConstMatrix<float> in, bool absolute, double* out, cudaStream_t stream);
absl::Status WidenOnDevice(ConstMatrix<double> in, bool absolute, double* out, cudaStream_t stream);

// Copies with 16-byte accesses, the practical ceiling of memory bandwidth. REQUIRES: both pointers
// aligned to 16 bytes.
absl::Status CopyVectorised(void* to, const void* from, size_t bytes, cudaStream_t stream);

// Reads all of a buffer. One larger than the L2 leaves the L2 full of clean lines of no use to
// anyone: what runs next finds it cold and writes nobody else's dirty lines back.
// REQUIRES: bytes is a multiple of 16.
absl::Status ReadThroughL2(const void* buffer, size_t bytes, cudaStream_t stream);

// Keeps the stream busy for some microseconds, so that the host can queue what is to be timed
// behind it and its own slowness stays out of the time.
absl::Status HoldStream(int microseconds, cudaStream_t stream);

// A kernel that does nothing: what the harness adds to every time.
absl::Status LaunchEmptyKernel(cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_DEVICE_OPS_H_

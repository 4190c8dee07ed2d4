// Device work of the measuring side itself: inputs, cold caches, holding a stream.
//
// All calls queue work on `stream` and return; pointers are device pointers unless stated
// otherwise. Without a CUDA toolkit every call returns Unavailable.

#ifndef STRIDEWISE_COMMON_GPU_DEVICE_OPS_H_
#define STRIDEWISE_COMMON_GPU_DEVICE_OPS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/base/matrix.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

// Fill a matrix with the values of FillUniform() of fill.h.
absl::Status FillUniformOnDevice(Matrix<float> matrix, uint64_t seed, cudaStream_t stream);
absl::Status FillUniformOnDevice(Matrix<double> matrix, uint64_t seed, cudaStream_t stream);

// Write the matrix, or its absolute values, to `out` as doubles without padding between the rows.
// Defined for float, double, Bf16, Fp16, int8_t, int32_t, E4m3 and E5m2.
template <typename T>
absl::Status WidenOnDevice(ConstMatrix<T> in, bool absolute, double* out, cudaStream_t stream);

// Copies with 16-byte accesses, which reach the practical ceiling of memory bandwidth. REQUIRES:
// both pointers are aligned to 16 bytes.
absl::Status CopyVectorised(void* to, const void* from, size_t bytes, cudaStream_t stream);

// Reads all of a buffer. A buffer larger than the L2 leaves the L2 full of its clean lines: the
// next kernel finds none of its data there and writes no other kernel's dirty lines back. REQUIRES:
// bytes is a multiple of 16.
absl::Status ReadThroughL2(const void* buffer, size_t bytes, cudaStream_t stream);

// The two words through which the host ends a hold, in pinned host memory: with unified addressing
// the device reads and writes them at the host's address. Tickets only grow, so that no word is
// ever reset while a kernel may still look at it.
struct HoldFlags {
  volatile uint64_t released = 0;   // Written by the host: ends the holds up to this ticket.
  volatile uint64_t timed_out = 0;  // Written by the device: the last hold that ended by itself.
};

// Holds back all work that is queued behind it on the stream until flags->released >= ticket. After
// timeout_ns of the GPU's clock it gives up: it sets flags->timed_out to the ticket and lets the
// work run. REQUIRES: ticket > 0, and `flags` outlives the kernel.
absl::Status HoldStream(HoldFlags* flags, uint64_t ticket, uint64_t timeout_ns,
                        cudaStream_t stream);

// Launches a kernel that does nothing: its time is what the timer adds to every other.
absl::Status LaunchEmptyKernel(cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_DEVICE_OPS_H_

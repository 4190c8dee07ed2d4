// Kernels of the drop-in's tests.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_TEST_COMPARE_H_
#define STRIDEWISE_BINDINGS_CUBLAS_TEST_COMPARE_H_

#include <cstdint>

#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_status.h"

namespace stridewise::drop_in {

// Fills with values between -1 and 1 that follow from seed and index, and their absolute values.
LaunchStatus FillRandom(float* values, float* magnitudes, int64_t count, uint32_t seed,
                        cudaStream_t stream);

// Sets *worst to the largest |ours[i] - real[i]| / (factor * magnitudes[i]), 0 where both are the
// same; infinite where an element that is outside the matrices, or of which magnitudes[i] is 0,
// differs. Matrix j of the batch begins at j * stride, and has columns of `rows` elements.
LaunchStatus FindWorst(const float* ours, const float* real, const float* magnitudes, int64_t count,
                       int64_t rows, int64_t cols, int64_t ld, int64_t stride, int64_t batch,
                       float factor, float* worst, cudaStream_t stream);

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_TEST_COMPARE_H_

// Compares two arrays on the device, where copying them to the host would take longer than the
// product that made them.

#ifndef STRIDEWISE_MATMUL_TEST_DIFFERENCES_H_
#define STRIDEWISE_MATMUL_TEST_DIFFERENCES_H_

#include <cstdint>

#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_status.h"

namespace stridewise {

// What CountDifferences() found so far. All bytes 0 at first.
struct Differences {
  unsigned long long count = 0;      // NOLINT(google-runtime-int): as atomicAdd() takes it.
  unsigned long long last_plus = 0;  // NOLINT(google-runtime-int): the last index, plus one.
  unsigned greatest_bits = 0;        // Of the greatest |x - y| as a float; NaN counts as infinite.
};

// Adds to *found, in device memory, the elements of x and y whose bits differ or, with a tolerance
// above 0, that are farther apart than that, or NaN.
LaunchStatus CountDifferences(const float* x, const float* y, int64_t count, float tolerance,
                              Differences* found, cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_DIFFERENCES_H_

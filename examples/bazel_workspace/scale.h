// A kernel of this workspace's own.

#ifndef SCALE_H_
#define SCALE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"

// Queues out[i] = factor * in[i] for `count` elements.
absl::Status Scale(const float* in, float factor, int64_t count, float* out, cudaStream_t stream);

#endif  // SCALE_H_

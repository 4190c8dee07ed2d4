// A BlockCopy as the copies that CUDA takes: pitches of cudaMemcpy2DAsync() are at most 2^31 - 1
// bytes (cudaDeviceProp::memPitch), lengths of cudaMemcpyAsync() have 64 bits.

#ifndef STRIDEWISE_COMMON_STREAMING_DEVICE_COPIES_H_
#define STRIDEWISE_COMMON_STREAMING_DEVICE_COPIES_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/streaming/stream_queues.h"

namespace stridewise {

inline constexpr int64_t kMaxCopyPitch = (int64_t{1} << 31) - 1;

// Calls copy(block) for blocks that together are `whole`: one of a single row where its rows follow
// each other on both sides, one for each row where a pitch is too long, else `whole` itself.
template <typename Copy>
absl::Status ForDeviceCopies(const BlockCopy& whole, const Copy& copy) {
  if (whole.rows <= 0 || whole.row_bytes <= 0) return absl::OkStatus();
  const bool is_dense = whole.to_pitch == whole.row_bytes && whole.from_pitch == whole.row_bytes;
  if (is_dense || whole.rows == 1) {
    const int64_t bytes = whole.row_bytes * whole.rows;
    return copy(BlockCopy{whole.to, bytes, whole.from, bytes, bytes, 1});
  }
  if (std::max(whole.to_pitch, whole.from_pitch) <= kMaxCopyPitch) return copy(whole);
  for (int64_t row = 0; row < whole.rows; ++row) {
    RETURN_IF_ERROR(
        copy(BlockCopy{static_cast<char*>(whole.to) + row * whole.to_pitch, whole.row_bytes,
                       static_cast<const char*>(whole.from) + row * whole.from_pitch,
                       whole.row_bytes, whole.row_bytes, 1}));
  }
  return absl::OkStatus();
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_DEVICE_COPIES_H_

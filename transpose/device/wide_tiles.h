// Which device is faster with tiles that fill a multiprocessor. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_WIDE_TILES_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_WIDE_TILES_H_

#include "common/gpu/current_device.h"

namespace stridewise {

// Returns whether the current device has room for tiles of `tile_bytes`, and a memory that is slow
// enough to gain from them. An H100's delivers more where more neighbouring bytes of a row are read
// at a time: 16384 x 16384 floats have 0.971 of a copy in such tiles and 0.968 in others. On an
// H200, whose memory is faster beside equal multiprocessors, they have 0.933 and 0.971.
inline bool GainsFromWideTiles(int tile_bytes) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  return tile_bytes > 0;
#else
  constexpr int kFastMemory = 4000;  // GB/s, between those of an H100 and of an H200.
  const DeviceModel& device = CurrentDeviceModel();
  return tile_bytes <= device.max_shared_bytes && device.memory_gbps < kFastMemory;
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_WIDE_TILES_H_

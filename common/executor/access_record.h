// The requests to memory of one block, lane by lane, as the block's warps issued them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_ACCESS_RECORD_H_
#define STRIDEWISE_COMMON_EXECUTOR_ACCESS_RECORD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/executor/trace.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::executor {

// One memory instruction of a warp.
struct AccessRequest {
  static constexpr int kShared = -1;

  Site site = 0;
  uint64_t block = 0;    // Its linear index in the grid.
  int warp = 0;          // Its number in the block.
  int barriers = 0;      // The number of __syncthreads() that the block had passed.
  int buffer = kShared;  // An index of AccessRecord::buffers; kShared for shared memory.
  uint32_t lanes = 0;    // A bit for each active lane.
  // The byte of the buffer, or of shared memory, at which each active lane's access begins. A lane
  // that accesses another buffer than the first active lane is outside of that lane's buffer.
  std::array<int64_t, kWarpLanes> offset = {};
};

// The requests of one block, or of all blocks that were run, ascending. Those of each warp are in
// program order.
struct AccessRecord {
  struct Buffer {
    std::string name;
    size_t bytes = 0;
  };

  Extent3 block = {0, 0, 0};  // Its index in the grid.
  std::vector<Buffer> buffers;
  std::vector<AccessRequest> requests;
  uint64_t left_out = 0;  // The number of requests beyond ExecutorOptions::max_recorded_requests.
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_ACCESS_RECORD_H_

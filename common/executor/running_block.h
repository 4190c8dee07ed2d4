// What a worker keeps of the blocks that it runs, beside their threads.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUNNING_BLOCK_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUNNING_BLOCK_H_

#include <array>
#include <cstdint>
#include <vector>

#include "common/executor/ptx/mbarrier.h"
#include "common/executor/shim/simt_entry_points.h"

namespace stridewise::executor {

inline constexpr int kNamedBarriers = 16;

// A block of the running ones.
struct RunningBlock {
  SimtIndex index{0, 0, 0};
  bool recorded = false;    // Whether its requests are.
  int barriers_passed = 0;  // By all of its threads.
  std::array<Mbarrier, kNamedBarriers> named_barriers;
};

// A __shared__ variable. Each starts at a multiple of 128 bytes, in bank 0, and ends with a gap.
struct Variable {
  const void* control;
  uint32_t offset;
  uint32_t bytes;
  bool is_static;
};

// 16 bytes at an offset in shared memory, of which [begin, end) are copied from or to the address
// in global memory, and the others are 0 where they are loaded.
struct BulkPiece {
  uint32_t shared = 0;
  uintptr_t global = 0;
  int64_t begin = 0;
  int64_t end = 0;
  bool rounds_to_tf32 = false;
};

// A load that has started. It arrives when nothing else can run.
struct BulkLoad {
  int lane;
  uintptr_t pc;
  uintptr_t barrier;
  std::vector<BulkPiece> pieces;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUNNING_BLOCK_H_

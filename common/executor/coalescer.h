// What one warp-wide memory instruction costs: from the addresses of its lanes to sectors, lines
// and wavefronts. Pure functions, the model of the memory pipeline of compute capability 7.0
// to 9.0.

#ifndef STRIDEWISE_COMMON_EXECUTOR_COALESCER_H_
#define STRIDEWISE_COMMON_EXECUTOR_COALESCER_H_

#include <cstdint>

#include "common/executor/trace.h"

namespace stridewise::executor {

inline constexpr int kSectorBytes = 32;
inline constexpr int kLineBytes = 128;
inline constexpr int kBanks = 32;  // Of 4 bytes each.

struct GlobalCost {
  uint32_t distinct_bytes = 0;  // A byte that several lanes ask for counts once.
  uint32_t sectors = 0;         // Distinct aligned 32 bytes.
  uint32_t lines = 0;           // Distinct aligned 128 bytes.
  uint32_t ideal_sectors = 0;   // Of distinct_bytes packed densely.
};

// `address[i]` is that of lane i; only the lanes in `mask` count. `bytes` is 1, 2, 4, 8 or 16, and
// every address a multiple of it.
GlobalCost CoalesceGlobal(const uint64_t address[kWarpLanes], uint32_t mask, int bytes);

struct SharedCost {
  uint32_t distinct_bytes = 0;
  uint32_t wavefronts = 0;        // Passes through the banks.
  uint32_t ideal_wavefronts = 0;  // Without bank conflicts: one for each group of lanes below.
};

// Addresses are offsets in shared memory.
//
// A request of up to 4 bytes a lane goes through the banks as one; one of 8 bytes by half-warps, of
// 16 bytes by quarter-warps. Loads have an exception, which holds exactly on an H200 (1122
// patterns, testdata/h200_shared_wavefronts.csv): where every lane l asks for the same as lane l ^
// 1 (or one of the two is off), or every lane for the same as lane l ^ 2, 8 bytes go as a whole
// warp and 16 bytes by half-warps. Stores have none.
SharedCost CoalesceShared(const uint64_t address[kWarpLanes], uint32_t mask, int bytes, bool store);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_COALESCER_H_

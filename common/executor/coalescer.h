// Computes the cost of one memory instruction of a warp, in sectors, lines and wavefronts, from the
// addresses of its lanes. Pure functions that model the memory pipeline of compute capability 7.0
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
  uint32_t distinct_bytes = 0;  // A byte that several lanes access counts once.
  uint32_t sectors = 0;         // Distinct aligned 32 bytes.
  uint32_t lines = 0;           // Distinct aligned 128 bytes.
  uint32_t ideal_sectors = 0;   // The sectors of distinct_bytes packed densely.
};

// Returns the cost of an access to global memory. `address[i]` is the address of lane i; only the
// lanes in `mask` count. `bytes` is 1, 2, 4, 8 or 16, and every address is a multiple of it.
GlobalCost CoalesceGlobal(const uint64_t address[kWarpLanes], uint32_t mask, int bytes);

struct SharedCost {
  uint32_t distinct_bytes = 0;
  uint32_t wavefronts = 0;          // Passes through the banks.
  uint32_t ideal_wavefronts = 0;    // Without bank conflicts: one for each group of lanes below.
  int lanes_together = kWarpLanes;  // The lanes of such a group: 32, 16 or 8 neighbours.
};

// Returns the cost of an access to shared memory; addresses are offsets there.
//
// A request of up to 4 bytes per lane is processed for the whole warp at once, one of 8 bytes by
// half-warps and one of 16 bytes by quarter-warps. Loads have an exception, which holds exactly on
// an H200 (1122 patterns, testdata/h200_shared_wavefronts.csv): where every lane l loads the same
// bytes as lane l ^ 1 (or one of the two is inactive), or every lane the same as lane l ^ 2, 8
// bytes are processed for the whole warp and 16 bytes by half-warps. Stores have no exception.
SharedCost CoalesceShared(const uint64_t address[kWarpLanes], uint32_t mask, int bytes, bool store);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_COALESCER_H_

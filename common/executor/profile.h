// Counts the memory behaviour of a launch in exact integers, under the names of Nsight Compute.
//
//   requests          l1tex__t_requests_pipe_lsu_mem_global_op_{ld,st}.sum (global)
//                     smsp__inst_executed_op_shared_{ld,st}.sum (shared; the GPU also counts
//                     instructions without active lanes)
//   sectors           l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum
//   wavefronts        smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum
//   DistinctByteShare smsp__sass_average_data_bytes_per_sector_mem_global_op_{ld,st}.pct

#ifndef STRIDEWISE_COMMON_EXECUTOR_PROFILE_H_
#define STRIDEWISE_COMMON_EXECUTOR_PROFILE_H_

#include <cstdint>
#include <map>

#include "common/executor/trace.h"

namespace stridewise::executor {

// The counters of one site, or of all sites of one kind. Fields without meaning for a memory space
// are 0.
struct MemoryCounters {
  uint64_t requests = 0;          // Instructions that a warp issued with at least one active lane.
  uint64_t lanes = 0;             // Active lanes, summed over requests.
  uint64_t requested_bytes = 0;   // Bytes of each active lane, summed.
  uint64_t distinct_bytes = 0;    // A byte that several lanes of a request access counts once.
  uint64_t sectors = 0;           // Global.
  uint64_t lines = 0;             // Global.
  uint64_t ideal_sectors = 0;     // Global: of the distinct bytes, packed.
  uint64_t wavefronts = 0;        // Shared.
  uint64_t ideal_wavefronts = 0;  // Shared: without bank conflicts.
  uint32_t max_wavefronts = 0;    // Shared: of the worst request.

  void Add(const MemoryCounters& other);
  bool operator==(const MemoryCounters& other) const;

  uint64_t bank_conflicts() const { return wavefronts - ideal_wavefronts; }

  // Returns the fraction of the bytes moved in sectors that lanes requested, or 1 where there was
  // no access: gld_efficiency, gst_efficiency.
  double SectorEfficiency() const;
  // Return 0 where there was no request.
  double SectorsPerRequest() const;
  double WavefrontsPerRequest() const;
};

struct Profile {
  // Holds the counters of each site that accessed memory, in the order of the machine code.
  std::map<Site, MemoryCounters> sites;

  uint64_t warps = 0;
  uint64_t divergent_warps = 0;
  uint64_t divergent_branches = 0;
  uint64_t barriers = 0;            // __syncthreads() that a block passed.
  uint64_t events = 0;              // Events of all lanes: the cost of the run.
  uint64_t issued_blocks = 0;       // Basic blocks that warps issued.
  uint64_t issued_block_lanes = 0;  // Active lanes of those, summed.

  // Counts one issue of a warp; see IssueSink of reconvergence.h.
  void Count(Site site, uint32_t lanes, const uint64_t address[kWarpLanes]);

  // Returns the sum over all sites of one kind.
  MemoryCounters Total(EventKind kind) const;

  void Add(const Profile& other);
  bool operator==(const Profile& other) const;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PROFILE_H_

// What a launch asks of a machine: the totals from which predict_time.h computes a time.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_DEMAND_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_DEMAND_H_

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/executor.h"
#include "common/executor/predict/compiled_kernel.h"
#include "common/executor/predict/machine_model.h"
#include "common/executor/trace.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::executor {

// A total over the whole launch. All of them add up over blocks, sites and launches.
enum class Quantity {
  kWarps,
  kBarriers,      // __syncthreads() that blocks passed.
  kBasicBlocks,   // Basic blocks that warps issued, as clang compiled them.
  kInstructions,  // That warps issued, from compiled code; 0 where there is none.
  // Groups of global loads that a warp waits for together, over all warps, by where the slowest is
  // served from.
  kL1Rounds,
  kL2Rounds,
  kDramRounds,
  kSharedRounds,   // Waits for loads from shared memory, from compiled code; 0 where there is none.
  kLoadRequests,   // Of global memory, by warps.
  kLoadTags,       // Cache lines of those requests.
  kLoadCycles,     // Of L1 for them: one for each line, or for 128 bytes to registers.
  kLoadSectors,    // Sectors of those requests.
  kL2LoadSectors,  // Those that L1 does not have.
  kDramLoadSectors,  // Those that L2 does not have either.
  kStoreRequests,
  kStoreTags,
  kFullStoreSectors,     // Sectors that a store request writes whole.
  kPartialStoreSectors,  // Sectors of which it writes a part.
  kAtomicSectors,
  kSharedRequests,
  kSharedWavefronts,
  kSharedCycles,       // Of shared memory: wavefronts, or one for 128 bytes to registers.
  kBankConflicts,      // Those of the wavefronts above that a layout without conflicts lacks.
  kFusedMultiplyAdds,  // Instructions of warps. The executor sees no arithmetic: without compiled
                       // code the caller sets it.
};
inline constexpr int kQuantities = 24;

absl::string_view QuantityName(Quantity quantity);  // "load_tags" and so on.

class Totals {
 public:
  double& operator[](Quantity q) { return values_[static_cast<int>(q)]; }
  double operator[](Quantity q) const { return values_[static_cast<int>(q)]; }

  // Adds `factor` times the other totals.
  void Add(const Totals& other, double factor = 1);

 private:
  std::array<double, kQuantities> values_ = {};
};

// The demand of one launch, or of several that run one after the other.
struct Demand {
  Totals totals;
  std::map<Site, Totals> sites;  // The parts that belong to a memory instruction.
  double launches = 0;
  double blocks = 0;         // Of all launches.
  double block_threads = 0;  // Of the last launch, as the next two.
  double shared_bytes = 0;
  double resident_blocks = 1;  // Blocks that a multiprocessor holds at a time.
  bool fp64 = false;           // Whether the multiply-adds are of doubles. The caller's.
  // Bytes of the buffers that are read and that are written, each counted once.
  double read_buffer_bytes = 0;
  double written_buffer_bytes = 0;

  void Add(const Demand& other, double factor = 1);
};

// Returns the linear indices, ascending, of at most about `most` blocks that stand for the grid:
// all of a small grid; of a larger one those that a few multiprocessors run one after the other,
// from the middle of the grid, where block i runs on multiprocessor i modulo their number.
std::vector<uint64_t> SampleBlocks(const MachineModel& machine, uint64_t blocks, int most);

// Returns the number of blocks that a multiprocessor holds at a time, at least 1. `registers` are
// those of a thread, or 0 where they are not known.
int ResidentBlocks(const MachineModel& machine, int64_t block_threads, size_t shared_bytes,
                   int registers);

// Returns the demand of a launch whose sampled blocks were recorded (with record_every_block and
// `only`), scaled to all blocks of its grid. `compiled` is the kernel's machine code, or null where
// it is not known.
Demand DemandOf(const LaunchReport& launch, const MachineModel& machine,
                const CompiledKernel* compiled = nullptr);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_DEMAND_H_

// Descriptions of GPUs from which predict_time.h computes times. Nobody has to own them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_MACHINE_MODEL_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_MACHINE_MODEL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace stridewise::executor {

// A GPU. The second half of the fields are rates and times that were fitted; machines.cc says to
// what.
struct MachineModel {
  absl::string_view name;         // As in --machine.
  absl::string_view description;  // For people.

  // From the vendor's documents.
  int multiprocessors;
  double clock_ghz;
  int schedulers;  // Of a multiprocessor; each issues one instruction of a warp a cycle.
  int fp32_lanes;  // FP32 multiply-adds of a multiprocessor in a cycle.
  int fp64_lanes;
  int max_warps;              // Of a multiprocessor.
  int max_blocks;             // Of a multiprocessor.
  int64_t registers;          // Of a multiprocessor, of 32 bits.
  double shared_bytes;        // Of a multiprocessor.
  int shared_reserved_bytes;  // That each block takes in addition.
  double l1_bytes;            // Of a multiprocessor; with shared memory where l1_holds_shared.
  bool l1_holds_shared;
  bool l1_caches_global;  // Whether plain loads of global memory are kept in L1.
  double l2_bytes;
  double dram_gbps;  // Peak, both directions together.

  // Fitted, or carried over from a machine to which they were.
  double l2_bytes_per_cycle;   // Of the whole L2, in both directions.
  double dram_latency_cycles;  // Of a load; from published microbenchmarks, as the next three.
  double l2_latency_cycles;
  double l1_latency_cycles;
  double shared_latency_cycles;
  double block_cycles;      // To start a block, and to end it with its last store.
  double barrier_cycles;    // Of a barrier where no warp is late.
  double blocks_per_cycle;  // That the whole GPU can start.
  double launch_us;         // Of a kernel that does nothing.
};

// What is the same for all machines, fitted on the H200.
struct CommonRates {
  double dram_efficiency = 0.71;     // Of the peak.
  double written_that_stays = 0.72;  // Of written bytes, up to the size of L2: not yet in DRAM.
  double partial_store_cost = 1.59;  // Of a sector that is written in part, over a whole one.
  double load_tag_cycles = 1.01;     // Of L1, for each line of a load request.
  double store_tag_cycles = 1.49;    // For each line of a store request.
  double instructions_of_a_block = 5.13;  // Of a basic block beside its accesses and multiply-adds.
  double others_in_step = 0.243;  // How much of the block's other warps' work a warp waits for.
  double l2_bytes_per_cycle_and_sm = 64;  // That one multiprocessor can get; documented.
};

// All machines, the H200 first.
absl::Span<const MachineModel> Machines();

// Returns the machine with this name. InvalidArgument, in one line that names `flag` and all
// machines, if there is none.
absl::StatusOr<const MachineModel*> FindMachine(absl::string_view flag, absl::string_view name);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_MACHINE_MODEL_H_

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
  int schedulers;              // Of a multiprocessor; each issues one instruction of a warp a cycle.
  int fp32_lanes;              // FP32 multiply-adds of a multiprocessor in a cycle.
  int fp64_lanes;
  int max_warps;               // Of a multiprocessor.
  int max_blocks;              // Of a multiprocessor.
  int64_t registers;           // Of a multiprocessor, of 32 bits.
  double shared_bytes;         // Of a multiprocessor.
  int shared_reserved_bytes;   // That each block takes in addition.
  double l1_bytes;             // Of a multiprocessor; with shared memory where l1_holds_shared.
  bool l1_holds_shared;
  bool l1_caches_global;       // Whether plain loads of global memory are kept in L1.
  double l2_bytes;
  double dram_gbps;            // Peak, both directions together.
};

// All machines, the H200 first.
absl::Span<const MachineModel> Machines();

// Returns the machine with this name. InvalidArgument, in one line that names `flag` and all
// machines, if there is none.
absl::StatusOr<const MachineModel*> FindMachine(absl::string_view flag, absl::string_view name);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_MACHINE_MODEL_H_

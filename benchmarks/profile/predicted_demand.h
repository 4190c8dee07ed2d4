// What a configuration demands of a machine, counted by the host executor for a sample of blocks.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_PREDICTED_DEMAND_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_PREDICTED_DEMAND_H_

#include "absl/status/statusor.h"
#include "benchmarks/harness/operation.h"
#include "common/executor/predict/demand.h"
#include "common/executor/predict/machine_model.h"

namespace stridewise {

// Runs a sample of the configuration's blocks. Large problems are counted at a smaller shape of
// the same pattern and scaled: an extent of 3072 and more at 2048 plus its rest modulo 1024, by
// the number of elements; a product's depth of 512 and more at two smaller depths, from which the
// counts are continued on a straight line. Errors are those of ExecutorRun.
absl::StatusOr<executor::Demand> PredictedDemand(const Config& config,
                                                 const executor::MachineModel& machine);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_PREDICTED_DEMAND_H_

// Measures one problem on all ranks of a grid, each a thread with a device.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_MEASUREMENT_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_MEASUREMENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/distributed/grid_devices.h"
#include "benchmarks/distributed/grid_problem.h"
#include "common/base/sweep_args.h"
#include "common/distributed/block_cyclic.h"
#include "common/gpu/nvml.h"
#include "common/measure/sampler.h"
#include "common/measure/statistics.h"

namespace stridewise {

struct GridSubject {
  RankGrid grid;
  std::function<absl::StatusOr<std::unique_ptr<GridProblem>>(int rank)> make_problem;
  bool is_direct = false;        // From and to the memory of the other ranks, without messages.
  bool by_cublasmp = false;      // Measures its call, not this repository's.
  bool beside_cublasmp = false;  // Samples its call in turn.
  VerifyMode verify = VerifyMode::kFull;
  uint64_t seed = 1;
  SamplingOptions sampling;
  int first_device = 0;
  double seconds = 120;                 // The deadline of each message; see communicator.h.
  std::function<bool()> interrupted{};  // Empty for never.
};

struct GridMeasurement {
  Summary run;  // Milliseconds, from one barrier to the next.
  double first_run_ms = 0;
  double over_cublasmp = 0;  // cuBLASMp's time over the run's; 0 where it was not sampled.
  DeviceState state;         // Right after the last sample, of the device with the lowest clock.

  // Of this repository's call on several ranks, where what is sent can be told from the rest: all
  // that goes by messages, and products. See docs/csv_columns.md.
  std::optional<double> communication_ms;
  std::optional<double> overlap_pct;
};

// Runs, judges, samples, and judges again. Rank 0 takes the times and decides when it is enough.
//
// Returns Unavailable, before anything is allocated, without the devices, NCCL or the cuBLASMp that
// is measured; ResourceExhausted where a rank has no memory; DataLoss for a wrong result;
// Cancelled; Internal, naming the rank, for what else ends a rank. The others end with it.
absl::StatusOr<GridMeasurement> MeasureOnGrid(const GridSubject& subject,
                                              const GridDevices& devices);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_MEASUREMENT_H_

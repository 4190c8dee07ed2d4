// One rank of a grid while it measures: it opens its device, runs what rank 0 says, and judges its
// part.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_MEASURING_RANK_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_MEASURING_RANK_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/distributed/cublasmp_grid.h"
#include "benchmarks/distributed/grid_devices.h"
#include "benchmarks/distributed/grid_measurement.h"
#include "benchmarks/distributed/grid_problem.h"
#include "common/base/clock.h"
#include "common/distributed/communicator.h"
#include "common/distributed/cublasmp_library.h"
#include "common/distributed/measured_communicator.h"
#include "common/distributed/nccl_communicator.h"
#include "common/distributed/nccl_library.h"
#include "common/measure/sampler.h"
#include "common/streaming/partial_queues.h"
#include "common/streaming/stream_queues.h"

namespace stridewise {

class MeasuringRank {
 public:
  MeasuringRank(const GridSubject& subject, const NcclLibrary* nccl,
                const CublasMpLibrary* cublasmp, Communicator* control)
      : subject_(subject), nccl_library_(nccl), cublasmp_library_(cublasmp), control_(*control) {}

  // Measures with the other ranks, each of which calls this. `measured` is rank 0's to fill; see
  // MeasureOnGrid() for what is returned.
  absl::Status Measure(const GridDevices& devices, GridMeasurement* measured);

 private:
  // What rank 0 tells the others to do next.
  enum class Next { kEnd = 0, kRun = 1, kRunCublasMp = 2, kStop = 3 };

  absl::Status MeasureAll(const GridDevices& devices, GridMeasurement* measured);

  absl::Status Open(const GridDevices& devices);

  // A form that cuBLASMp refuses is measured without it.
  absl::Status BindCublasMp();

  // Returns the milliseconds of one run, between two barriers.
  absl::StatusOr<double> TimedRun(Next what) { return TimedRun(what, ranks_.get(), &control_); }

  absl::StatusOr<double> TimedRun(Next what, Communicator* ranks, Communicator* barriers,
                                  std::optional<PartialQueues::Part> part = std::nullopt);

  // Rank 0 says what is next, and all return it.
  absl::StatusOr<Next> Agree(Next next);

  absl::StatusOr<double> RunTogether(Next next);

  static absl::Status Stopped() { return absl::CancelledError("interrupted"); }

  // Rank 0 samples. The others run what it runs, and have no samples.
  absl::StatusOr<Samples> SampleTogether();

  // What the call takes where nothing is sent, of the slowest rank, says what communication adds.
  absl::Status MeasureOverlap(double communication_seconds, GridMeasurement* measured);

  // The same of a call that sends by copies, which take what the call takes without all else.
  absl::Status MeasureOverlapOfCopies(GridMeasurement* measured);

  absl::StatusOr<double> MedianOfPart(Communicator* ranks,
                                      std::optional<PartialQueues::Part> part = std::nullopt);

  static void SetOverlap(double communication_ms, double alone, GridMeasurement* measured);

  absl::StatusOr<double> MaxOfRanks(double value);

  absl::Status Verify();

  const GridSubject& subject_;
  const NcclLibrary* const nccl_library_;          // Null where nothing asks for it.
  const CublasMpLibrary* const cublasmp_library_;  // Null where it is not asked for.
  Communicator& control_;
  SteadyClock clock_;
  Next own_ = Next::kRun;
  bool beside_cublasmp_ = false;
  int64_t runs_ = 0;  // Of this repository's call, not the silent ones, since sampling began.

  // In the order in which they are needed.
  GridDevice device_;
  std::unique_ptr<StreamQueues> memory_;
  std::unique_ptr<GridProblem> problem_;
  std::unique_ptr<NcclCommunicator> nccl_;
  std::unique_ptr<TimedCommunicator> ranks_;
  std::unique_ptr<CublasMpGrid> cublasmp_;
  CublasMpGrid::Call cublasmp_call_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_MEASURING_RANK_H_

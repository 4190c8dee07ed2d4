// Measures one piece of device work from end to end: phases, kernel time, correctness, GPU state.
//
// The order, which keeps initialisation and copies apart from kernel time (docs/measuring.md):
//   1. whole passes, as a caller would make them: alloc, h2d, one launch, d2h, free;
//   2. a run into a poisoned buffer with canaries on both sides, checked by the caller's verifier;
//   3. samples of the kernel alone, with warm-up and a stopping rule, in turn with a reference
//      where there is one, again into a poisoned buffer;
//   4. the canaries again, and the result again: bit for bit the checked one, or else checked anew;
//   5. the kernels' names, from a run that is captured and not executed.

#ifndef STRIDEWISE_COMMON_MEASURE_DEVICE_MEASUREMENT_H_
#define STRIDEWISE_COMMON_MEASURE_DEVICE_MEASUREMENT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/clock.h"
#include "common/gpu/nvml.h"
#include "common/measure/gpu_timer.h"
#include "common/measure/phase_timer.h"
#include "common/measure/sampler.h"
#include "common/measure/statistics.h"

namespace stridewise {

// Work on copies of host buffers. The pointers stay the caller's and must outlive the measurement.
struct DeviceSubject {
  struct Input {
    const void* host = nullptr;
    size_t bytes = 0;
  };
  std::vector<Input> inputs;
  void* host_output = nullptr;  // Filled before each call of `verify`.
  size_t output_bytes = 0;

  // Queues the work. `inputs` are the device copies, in order.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>
      run;

  // Queues what has to be done before each run and is no part of it, such as bringing the input to
  // where work in place expects it; empty for nothing. Runs before the L2 is flushed, outside of
  // kernel times; in the whole passes it is a part of h2d.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>
      prepare;

  // Queues the work to be paired with, of which `run` is a fraction; empty for none.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>
      reference;

  // As `prepare`, on the reference's output before each of its runs; empty for nothing.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>
      prepare_reference;

  // Judges host_output. DataLoss means a wrong result. Empty: nothing is checked.
  std::function<absl::Status()> verify;
};

// What MeasureOnDevice() found.
struct DeviceMeasurement {
  Summary kernel;                      // Milliseconds.
  std::optional<double> of_reference;  // The reference's time over ours, paired; 1 is as fast.
  PhaseMedians phases;                 // alloc, h2d, first_launch, d2h, free, total.
  DeviceState state;                   // Read right after the last sample.
  std::vector<std::string> kernels;    // That `run` launches; none where it cannot be captured.
};

// Returns DataLoss for a wrong result or a write outside the output, ResourceExhausted where memory
// does not suffice, Cancelled once `interrupted` (may be empty) says true.
absl::StatusOr<DeviceMeasurement> MeasureOnDevice(const DeviceSubject& subject,
                                                  const SamplingOptions& options,
                                                  const Clock& clock, GpuTimer& timer,
                                                  const Nvml& nvml,
                                                  const std::function<bool()>& interrupted);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_DEVICE_MEASUREMENT_H_

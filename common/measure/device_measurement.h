// Measures one piece of device work from end to end: phases, kernel time, correctness, GPU state.
//
// The steps keep initialisation and copies apart from kernel time (docs/measuring.md):
//   1. whole passes, as a caller would make them: alloc, h2d, one launch, d2h, free;
//   2. a run into a poisoned buffer with canaries on both sides, checked by the caller's verifier;
//   3. samples of the kernel alone, with warm-up and a stopping rule, alternating with a reference
//      if there is one, again into a poisoned buffer;
//   4. a second check of canaries and result: the result must have the checked bits or pass again;
//   5. the kernels' names, from a run that is captured and not executed;
//   6. runs for hardware counters, if the caller counts.

#ifndef STRIDEWISE_COMMON_MEASURE_DEVICE_MEASUREMENT_H_
#define STRIDEWISE_COMMON_MEASURE_DEVICE_MEASUREMENT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/clock.h"
#include "common/gpu/counters.h"
#include "common/gpu/nvml.h"
#include "common/measure/gpu_timer.h"
#include "common/measure/phase_timer.h"
#include "common/measure/sampler.h"
#include "common/measure/statistics.h"

namespace stridewise {

// Work on device copies of host buffers. The caller owns the pointers, which must outlive the
// measurement.
struct DeviceSubject {
  struct Input {
    const void* host = nullptr;
    size_t bytes = 0;
  };
  std::vector<Input> inputs;
  void* host_output = nullptr;  // Holds the result when `verify` is called.
  size_t output_bytes = 0;

  // Queues the work. `inputs` are the device copies, in the order above.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>
      run;

  // Queues what each run needs before it and does not count, such as a copy of the input to the
  // buffer of work in place. May be empty. Runs before the L2 is flushed and outside of kernel
  // times; in the whole passes it is a part of h2d.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>
      prepare;

  // Queues the work to compare with, in samples that alternate with those of `run`. May be empty.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>
      reference;

  // Does what `prepare` does for the reference's output. May be empty.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>
      prepare_reference;

  // Judges host_output and returns DataLoss for a wrong result. If empty, nothing is checked.
  std::function<absl::Status()> verify;

  // Runs the work for hardware counters, after all timing: ReadCounters() does. May be empty.
  std::function<absl::Status(const CountedWork& work)> count;
};

// What MeasureOnDevice() found.
struct DeviceMeasurement {
  Summary kernel;                      // Milliseconds.
  std::optional<double> of_reference;  // The reference's time over the work's, of pairs.
  PhaseMedians phases;                 // alloc, h2d, first_launch, d2h, free, total.
  DeviceState state;                   // Read right after the last sample.
  std::vector<std::string> kernels;    // Launched by `run`; empty where it cannot be captured.
};

// Measures the subject. Returns DataLoss for a wrong result or a write outside the output,
// ResourceExhausted where memory does not suffice, Cancelled once `interrupted` (may be empty)
// returns true, and the errors of GpuTimer::TimeOnce().
absl::StatusOr<DeviceMeasurement> MeasureOnDevice(const DeviceSubject& subject,
                                                  const SamplingOptions& options,
                                                  const Clock& clock, GpuTimer& timer,
                                                  const Nvml& nvml,
                                                  const std::function<bool()>& interrupted);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_DEVICE_MEASUREMENT_H_

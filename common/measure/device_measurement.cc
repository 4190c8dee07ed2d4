#include "common/measure/device_measurement.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/launched_kernels.h"

namespace stridewise {
namespace {

// Whole passes cost copies: three give a median, and they get at most a quarter of the time.
constexpr int kMaxPasses = 3;
constexpr double kPassesFraction = 0.25;

using Buffers = std::vector<DeviceBuffer>;

std::vector<void*> Pointers(const Buffers& buffers) {
  std::vector<void*> pointers;
  for (const DeviceBuffer& buffer : buffers) pointers.push_back(buffer.data());
  return pointers;
}

absl::Status AllocateInputs(const DeviceSubject& subject, Buffers* inputs) {
  for (const DeviceSubject::Input& input : subject.inputs) {
    ASSIGN_OR_RETURN(inputs->emplace_back(), DeviceBuffer::Allocate(input.bytes));
  }
  return absl::OkStatus();
}

absl::Status CopyInputs(const DeviceSubject& subject, const Buffers& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    RETURN_IF_ERROR(gpu::Copy(inputs[i].data(), subject.inputs[i].host, subject.inputs[i].bytes));
  }
  return absl::OkStatus();
}

absl::Status OnePass(const DeviceSubject& subject, cudaStream_t stream, PhaseTimer* phases) {
  Buffers inputs;
  DeviceBuffer output;
  return phases->Time(Phase::kTotal, [&]() -> absl::Status {
    RETURN_IF_ERROR(phases->Time(Phase::kAlloc, [&]() -> absl::Status {
      RETURN_IF_ERROR(AllocateInputs(subject, &inputs));
      ASSIGN_OR_RETURN(output, DeviceBuffer::Allocate(subject.output_bytes));
      return absl::OkStatus();
    }));
    RETURN_IF_ERROR(phases->Time(Phase::kH2d, [&]() -> absl::Status {
      RETURN_IF_ERROR(CopyInputs(subject, inputs));
      if (!subject.prepare) return absl::OkStatus();
      RETURN_IF_ERROR(subject.prepare(Pointers(inputs), output.data(), stream));
      return gpu::Synchronize(stream);
    }));
    RETURN_IF_ERROR(phases->Time(Phase::kFirstLaunch, [&]() -> absl::Status {
      RETURN_IF_ERROR(subject.run(Pointers(inputs), output.data(), stream));
      return gpu::Synchronize(stream);
    }));
    RETURN_IF_ERROR(phases->Time(Phase::kD2h, [&] {
      return gpu::Copy(subject.host_output, output.data(), subject.output_bytes);
    }));
    return phases->Time(Phase::kFree, [&]() -> absl::Status {
      for (DeviceBuffer& input : inputs) RETURN_IF_ERROR(input.Free());
      return output.Free();
    });
  });
}

absl::StatusOr<PhaseMedians> MeasurePhases(const DeviceSubject& subject, double max_seconds,
                                           const Clock& clock, cudaStream_t stream) {
  PhaseMedians medians;
  const double start = clock.Now();
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    if (pass > 0 && clock.Now() - start > kPassesFraction * max_seconds) break;
    PhaseTimer phases(&clock);
    RETURN_IF_ERROR(OnePass(subject, stream, &phases));
    medians.Add(phases);
  }
  return medians;
}

// Copies the output to the host and checks it and its canaries.
absl::Status CheckOutput(const DeviceSubject& subject, const DeviceBuffer& output) {
  RETURN_IF_ERROR(output.CheckGuards());
  RETURN_IF_ERROR(gpu::Copy(subject.host_output, output.data(), subject.output_bytes));
  return subject.verify ? subject.verify() : absl::OkStatus();
}

// Does what CheckOutput() does, after timing, but skips the verifier for a result that has the bits
// of the checked one.
absl::Status CheckOutputAgain(const DeviceSubject& subject, const DeviceBuffer& output) {
  if (!subject.verify) return output.CheckGuards();
  ASSIGN_OR_RETURN(HostBuffer checked,
                   HostBuffer::Allocate(subject.output_bytes, HostMemory::kPageable));
  if (subject.output_bytes > 0) {
    std::memcpy(checked.data(), subject.host_output, subject.output_bytes);
  }
  RETURN_IF_ERROR(output.CheckGuards());
  RETURN_IF_ERROR(gpu::Copy(subject.host_output, output.data(), subject.output_bytes));
  if (subject.output_bytes == 0 ||
      std::memcmp(checked.data(), subject.host_output, subject.output_bytes) == 0) {
    return absl::OkStatus();
  }
  const absl::Status status = subject.verify();
  return status.ok()
             ? status
             : absl::Status(status.code(), absl::StrCat("after timing: ", status.message()));
}

}  // namespace

absl::StatusOr<DeviceMeasurement> MeasureOnDevice(const DeviceSubject& subject,
                                                  const SamplingOptions& options,
                                                  const Clock& clock, GpuTimer& timer,
                                                  const Nvml& nvml,
                                                  const std::function<bool()>& interrupted) {
  DeviceMeasurement result;
  // Memory that was never touched has no pages yet: page faults would take ten times the time of
  // the first copy to the host.
  if (subject.output_bytes > 0) std::memset(subject.host_output, 0, subject.output_bytes);
  ASSIGN_OR_RETURN(result.phases,
                   MeasurePhases(subject, options.max_seconds, clock, timer.stream()));

  Buffers inputs;
  RETURN_IF_ERROR(AllocateInputs(subject, &inputs));
  ASSIGN_OR_RETURN(DeviceBuffer output, DeviceBuffer::AllocateGuarded(subject.output_bytes));
  RETURN_IF_ERROR(CopyInputs(subject, inputs));
  const std::vector<void*> pointers = Pointers(inputs);
  const DeviceWork run = [&](cudaStream_t stream) {
    return subject.run(pointers, output.data(), stream);
  };
  DeviceWork prepare;
  if (subject.prepare) {
    prepare = [&](cudaStream_t stream) { return subject.prepare(pointers, output.data(), stream); };
  }

  RETURN_IF_ERROR(output.Poison());
  if (prepare) RETURN_IF_ERROR(prepare(timer.stream()));
  RETURN_IF_ERROR(run(timer.stream()));
  RETURN_IF_ERROR(gpu::Synchronize(timer.stream()));
  RETURN_IF_ERROR(CheckOutput(subject, output));
  RETURN_IF_ERROR(output.Poison());

  // The reference writes to a buffer of its own: the subject's must hold the subject's result.
  DeviceBuffer reference_output;
  Measure reference;
  if (subject.reference) {
    ASSIGN_OR_RETURN(reference_output, DeviceBuffer::Allocate(subject.output_bytes));
    const DeviceWork run_reference = [&](cudaStream_t stream) {
      return subject.reference(pointers, reference_output.data(), stream);
    };
    DeviceWork prepare_reference;
    if (subject.prepare_reference) {
      prepare_reference = [&](cudaStream_t stream) {
        return subject.prepare_reference(pointers, reference_output.data(), stream);
      };
    }
    // Its first run loads its kernels, which may wait for the device: not behind the timer's hold.
    if (prepare_reference) RETURN_IF_ERROR(prepare_reference(timer.stream()));
    RETURN_IF_ERROR(run_reference(timer.stream()));
    RETURN_IF_ERROR(gpu::Synchronize(timer.stream()));
    reference = [&timer, run_reference, prepare_reference] {
      return timer.TimeOnce(run_reference, prepare_reference);
    };
  }
  ASSIGN_OR_RETURN(
      const Samples samples,
      Sample(
          options, clock, [&] { return timer.TimeOnce(run, prepare); }, reference, interrupted));
  result.state = nvml.Read();
  if (samples.interrupted) return absl::CancelledError("interrupted");
  result.kernel = Summarize(samples.ms);
  if (reference) result.of_reference = PairedRatio(samples);
  RETURN_IF_ERROR(CheckOutputAgain(subject, output));
  result.kernels = LaunchedKernels(run, timer.stream()).value_or(std::vector<std::string>());
  if (!subject.count) return result;
  // A run of nothing prepares and empties the L2 as before each sample.
  const auto nothing = [](cudaStream_t /*stream*/) { return absl::OkStatus(); };
  RETURN_IF_ERROR(subject.count({[&] { return timer.TimeOnce(nothing, prepare).status(); },
                                 [&]() -> absl::Status {
                                   RETURN_IF_ERROR(run(timer.stream()));
                                   return gpu::Synchronize(timer.stream());
                                 }}));
  return result;
}

}  // namespace stridewise

#include "benchmarks/transpose/transpose_runner.h"

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/row_columns.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/device_measurement.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

const char* OperationName(TransposeOperation operation) {
  switch (operation) {
    case TransposeOperation::kCopy:
      return "copy";
    case TransposeOperation::kTranspose:
      return "transpose";
    case TransposeOperation::kInPlace:
      return "transpose_in_place";
  }
  return "";
}

// What can be said before anything is allocated.
absl::Status CheckSupported(const TransposeConfig& config) {
  const TransposeImplementation& implementation = *config.implementation;
  if (implementation.run == nullptr) return absl::UnavailableError("built without a CUDA toolkit");
  if (implementation.square_only && config.shape.rows != config.shape.cols) {
    return absl::InvalidArgumentError(absl::StrCat(implementation.name, " takes squares only"));
  }
  if (config.batch > 1 && !TakesBatches(implementation)) {
    return absl::InvalidArgumentError(absl::StrCat(implementation.name, " takes one matrix only"));
  }
  if ((implementation.element_sizes & config.type.element_bytes) != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(implementation.name, " takes no elements of ",
                                                 config.type.element_bytes, " bytes"));
}

absl::Status CheckComputeCapability(const TransposeImplementation& implementation,
                                    const DeviceInfo& device) {
  const int has = 10 * device.compute_major + device.compute_minor;
  if (has >= implementation.target.min_compute_capability) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(implementation.name, " needs sm_",
                                                 implementation.target.min_compute_capability,
                                                 "; the device is sm_", has));
}

// What the implementation needs beside its matrices; nothing for most.
absl::StatusOr<DeviceBuffer> AllocateWorkspace(const TransposeImplementation& implementation,
                                               const TransposeArgs& args) {
  return DeviceBuffer::Allocate(static_cast<size_t>(TransposeWorkspaceBytes(implementation, args)));
}

}  // namespace

TransposeRunner::TransposeRunner(const SweepOptions* options, const Machine* machine)
    : options_(*options), machine_(*machine), init_times_(machine), host_rows_(options) {}

ResultRow TransposeRunner::DescribeConfig(const TransposeConfig& config) const {
  const TransposeImplementation& implementation = *config.implementation;
  ResultRow row;
  row.Set(Column::kOperation, OperationName(implementation.operation));
  row.Set(Column::kImplementation, implementation.name);
  row.Set(Column::kDtype, config.type.name);
  row.Set(Column::kRows, config.shape.rows);
  row.Set(Column::kCols, config.shape.cols);
  if (config.batch > 1) row.Set(Column::kBatch, config.batch);
  if (config.block.x > 0) {
    row.Set(Column::kBlockX, config.block.x);
    row.Set(Column::kBlockY, config.block.y);
  }
  if (implementation.target.where == Where::kDevice) {
    row.Set(Column::kL2, L2ModeName(options_.l2));
    row.Set(Column::kHostMemory, HostMemoryName(options_.host_memory));
  }
  return row;
}

void TransposeRunner::Measure(const TransposeConfig& config, ResultRow* row) {
  machine_.Describe(config.implementation->target.where == Where::kDevice, row);
  SetOutcome(MeasureOk(config, row), row);
}

absl::Status TransposeRunner::MeasureOk(const TransposeConfig& config, ResultRow* row) {
  const TransposeImplementation& implementation = *config.implementation;
  const bool device = implementation.target.where == Where::kDevice;
  if (device) RETURN_IF_ERROR(machine_.gpu_status());
  RETURN_IF_ERROR(CheckSupported(config));
  if (device) RETURN_IF_ERROR(CheckComputeCapability(implementation, machine_.device()));
  RETURN_IF_ERROR(host_rows_.CheckTimeout(implementation.name, BytesToMove(config)));
  ASSIGN_OR_RETURN(const double init_ms, InitMs(implementation));
  row->Set(Column::kInitMs, init_ms);
  RETURN_IF_ERROR(EnsureProblem(config));
  return device ? MeasureDevice(config, row) : MeasureHost(config, row);
}

absl::Status TransposeRunner::EnsureProblem(const TransposeConfig& config) {
  if (problem_.has_value()) {
    if (problem_->IsOf(config.shape, config.batch, config.type.element_bytes)) {
      return absl::OkStatus();
    }
    problem_.reset();  // Before the next is made: two may not fit.
  }
  ASSIGN_OR_RETURN(problem_,
                   TransposeProblem::Create(config.shape, config.batch, config.type.element_bytes,
                                            options_.seed, options_.host_memory));
  return absl::OkStatus();
}

// The first use of an implementation in this program, by a matrix of one element.
absl::StatusOr<double> TransposeRunner::InitMs(const TransposeImplementation& implementation) {
  if (const auto known = init_times_.Find(implementation.name)) return *known;
  if (implementation.needs_cublas) RETURN_IF_ERROR(init_times_.EnsureCublas());
  constexpr int64_t kElementBytes = 4;
  ASSIGN_OR_RETURN(
      const TransposeProblem tiny,
      TransposeProblem::Create({1, 1}, 1, kElementBytes, options_.seed, HostMemory::kPageable));
  TransposeArgs args = tiny.Args(implementation.operation);
  DeviceBuffer in;
  DeviceBuffer out;
  DeviceBuffer workspace;
  if (implementation.target.where == Where::kDevice) {
    ASSIGN_OR_RETURN(in, DeviceBuffer::Allocate(tiny.bytes()));
    RETURN_IF_ERROR(in.Poison());  // Else a checker of memory finds reads of what nobody wrote.
    ASSIGN_OR_RETURN(out, DeviceBuffer::Allocate(tiny.bytes()));
    ASSIGN_OR_RETURN(workspace, AllocateWorkspace(implementation, args));
    args.in = in.data();
    args.out = implementation.operation == TransposeOperation::kInPlace ? in.data() : out.data();
    args.workspace = workspace.data();
    args.stream = machine_.timer().stream();
    args.cublas = init_times_.cublas();
  }
  return init_times_.Measure(implementation.name, implementation.target.where,
                             implementation.needs_cublas,
                             [&] { return RunTranspose(implementation, args); });
}

absl::Status TransposeRunner::MeasureHost(const TransposeConfig& config, ResultRow* row) {
  const TransposeImplementation& implementation = *config.implementation;
  HostSubject subject;
  subject.implementation = implementation.name;
  subject.work = BytesToMove(config);
  subject.run = [&] {
    return RunTranspose(implementation, problem_->Args(implementation.operation));
  };
  subject.poison = [&] { problem_->PoisonOut(); };
  subject.verify = [&] { return problem_->Verify(implementation.operation, options_.verify); };
  ASSIGN_OR_RETURN(const Summary kernel, host_rows_.Measure(subject, row));
  row->Set(Column::kGbps, BytesToMove(config) / kernel.median / 1e6);
  return absl::OkStatus();
}

absl::Status TransposeRunner::MeasureDevice(const TransposeConfig& config, ResultRow* row) {
  const TransposeImplementation& implementation = *config.implementation;
  const TransposeArgs host = problem_->Args(implementation.operation);
  const size_t bytes = problem_->bytes();
  const bool in_place = implementation.operation == TransposeOperation::kInPlace;
  ASSIGN_OR_RETURN(const DeviceBuffer workspace, AllocateWorkspace(implementation, host));
  DeviceSubject subject;
  subject.inputs = {{host.in, bytes}};
  subject.host_output = host.out;
  subject.output_bytes = bytes;
  subject.run = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
    TransposeArgs args = host;
    args.in = in_place ? output : inputs[0];
    args.out = output;
    args.workspace = workspace.data();
    args.stream = stream;
    args.cublas = init_times_.cublas();
    args.block = config.block;
    return RunTranspose(implementation, args);
  };
  if (in_place) {
    subject.prepare = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
      return gpu::CopyOnDevice(output, inputs[0], bytes, stream);
    };
  }
  subject.reference = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
    return CopyVectorised(output, inputs[0], bytes, stream);
  };
  // Without a judge the harness keeps no second copy of the result: large shapes need the room.
  if (options_.verify != VerifyMode::kOff) {
    subject.verify = [&] { return problem_->Verify(implementation.operation, options_.verify); };
  }
  ASSIGN_OR_RETURN(const DeviceMeasurement measured,
                   MeasureOnDevice(subject, options_.sampling, clock_, machine_.timer(),
                                   machine_.nvml(), Interrupted));
  SetMeasurement(measured, row);
  return SetBandwidth(measured, BytesToMove(config), machine_.device(), row);
}

}  // namespace stridewise

#include "benchmarks/matmul/matmul_runner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/row_columns.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/device_measurement.h"

namespace stridewise {
namespace {

// What can be said before anything is allocated.
absl::Status CheckSupported(const MatMulConfig& config) {
  const MatMulImplementation& implementation = *config.implementation;
  if (implementation.run == nullptr) return absl::UnavailableError("built without a CUDA toolkit");
  if (config.type != ElementType::kDouble || implementation.takes_double) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(implementation.name, " takes no double"));
}

absl::Status CheckComputeCapability(const MatMulImplementation& implementation,
                                    const DeviceInfo& device) {
  const int has = 10 * device.compute_major + device.compute_minor;
  if (has >= implementation.target.min_compute_capability) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(implementation.name, " needs sm_",
                                                 implementation.target.min_compute_capability,
                                                 "; the device is sm_", has));
}

// The peak of the arithmetic that the configuration uses; 0 where it is not known.
double PeakGflops(const MatMulConfig& config, const DeviceInfo& device) {
  return config.type == ElementType::kFloat ? PeakFp32Gflops(device) : 0;
}

// The roofline: no implementation takes less for work whose data comes from memory; 0 where a peak
// is not known.
double BoundMs(const MatMulConfig& config, const DeviceInfo& device) {
  const double gflops = PeakGflops(config, device);
  const double gbps = PeakBandwidthGbps(device);
  if (gflops == 0 || gbps == 0) return 0;
  return std::max(FlopsToDo(config) / gflops, BytesToMove(config) / gbps) / 1e6;
}

// One arm of a measurement: an implementation, and what it needs beside the matrices.
struct Arm {
  const MatMulImplementation* implementation;
  MatMulArgs args;  // All but the matrices and the stream.
  DeviceBuffer workspace;

  absl::Status Run(absl::Span<void* const> inputs, void* output, cudaStream_t stream) const {
    MatMulArgs all = args;
    all.a = inputs[0];
    all.b = inputs[1];
    all.c = output;
    all.stream = stream;
    return RunMatMul(*implementation, all);
  }
};

absl::StatusOr<Arm> MakeArm(const MatMulImplementation& implementation, const MatMulConfig& config,
                            cublasHandle_t cublas) {
  Arm arm = {&implementation, GaplessArgs(config), {}};
  arm.args.cublas = cublas;
  arm.args.block = config.implementation == &implementation ? config.block : kNoBlock;
  arm.args.workspace_bytes = MatMulWorkspaceBytes(implementation, arm.args);
  ASSIGN_OR_RETURN(arm.workspace,
                   DeviceBuffer::Allocate(static_cast<size_t>(arm.args.workspace_bytes)));
  arm.args.workspace = arm.workspace.data();
  return arm;
}

}  // namespace

MatMulRunner::MatMulRunner(const SweepOptions* options, const Machine* machine)
    : options_(*options), machine_(*machine), init_times_(machine), host_rows_(options) {}

ResultRow MatMulRunner::DescribeConfig(const MatMulConfig& config) const {
  ResultRow row;
  SetProblem(config, &row);
  row.Set(Column::kImplementation, config.implementation->name);
  row.Set(Column::kMath, config.implementation->math);
  if (config.block.x > 0) {
    row.Set(Column::kBlockX, config.block.x);
    row.Set(Column::kBlockY, config.block.y);
  }
  if (config.implementation->target.where == Where::kDevice) {
    row.Set(Column::kL2, L2ModeName(options_.l2));
    row.Set(Column::kHostMemory, HostMemoryName(options_.host_memory));
  }
  return row;
}

void MatMulRunner::Measure(const MatMulConfig& config, const MatMulRowOptions& wanted,
                           ResultRow* row) {
  machine_.Describe(config.implementation->target.where == Where::kDevice, row);
  const absl::Status status = MeasureOk(config, wanted, row);
  if (error_.has_value()) {
    row->Set(Column::kRelativeError, error_->relative_error);
    row->Set(Column::kMaxErrorOverBound, error_->max_error_over_bound);
  }
  SetOutcome(status, row);
}

absl::Status MatMulRunner::MeasureOk(const MatMulConfig& config, const MatMulRowOptions& wanted,
                                     ResultRow* row) {
  error_.reset();
  const MatMulImplementation& implementation = *config.implementation;
  const bool device = implementation.target.where == Where::kDevice;
  if (device) RETURN_IF_ERROR(machine_.gpu_status());
  RETURN_IF_ERROR(CheckSupported(config));
  if (device) RETURN_IF_ERROR(CheckComputeCapability(implementation, machine_.device()));
  RETURN_IF_ERROR(host_rows_.CheckTimeout(implementation.name, FlopsToDo(config)));
  // Before the problem: cuBLAS, once created, also computes the references.
  ASSIGN_OR_RETURN(const double init_ms, InitMs(implementation));
  row->Set(Column::kInitMs, init_ms);
  RETURN_IF_ERROR(EnsureProblem(config));
  RETURN_IF_ERROR(device ? MeasureDevice(config, wanted.pair_with_cublas, row)
                         : MeasureHost(config, row));
  return wanted.cross_check ? problem_->CrossCheck(implementation.name) : absl::OkStatus();
}

absl::Status MatMulRunner::EnsureProblem(const MatMulConfig& config) {
  if (problem_.has_value()) {
    if (problem_->IsOf(config)) return absl::OkStatus();
    problem_.reset();  // Before the next is made: two may not fit.
  }
  ASSIGN_OR_RETURN(problem_, MatMulWorkload::Create(config, options_.seed, options_.host_memory));
  return absl::OkStatus();
}

// The first use of an implementation in this program, by a product of 1x1x1.
absl::StatusOr<double> MatMulRunner::InitMs(const MatMulImplementation& implementation) {
  if (const auto known = init_times_.Find(implementation.name)) return *known;
  const bool device = implementation.target.where == Where::kDevice;
  // Every device row needs the handle, for its reference; only those that compute with it pay.
  if (device) RETURN_IF_ERROR(init_times_.EnsureCublas());
  const MatMulConfig config = {&implementation, {1, 1, 1}};
  ASSIGN_OR_RETURN(const MatMulWorkload tiny,
                   MatMulWorkload::Create(config, /*seed=*/1, HostMemory::kPageable));
  MatMulArgs args = tiny.args();
  DeviceBuffer buffer;
  if (device) {
    ASSIGN_OR_RETURN(buffer, DeviceBuffer::Allocate(3 * sizeof(float)));
    RETURN_IF_ERROR(buffer.Poison());  // Else a checker of memory finds reads of what nobody wrote.
    args.a = buffer.As<float>();
    args.b = buffer.As<float>() + 1;
    args.c = buffer.As<float>() + 2;
    args.cublas = init_times_.cublas();
    args.stream = machine_.timer().stream();
  }
  return init_times_.Measure(implementation.name, implementation.target.where,
                             implementation.needs_cublas,
                             [&] { return RunMatMul(implementation, args); });
}

absl::Status MatMulRunner::MeasureHost(const MatMulConfig& config, ResultRow* row) {
  HostSubject subject;
  subject.implementation = config.implementation->name;
  subject.work = FlopsToDo(config);
  subject.run = [&] { return RunMatMul(*config.implementation, problem_->args()); };
  subject.prepare = [&] { problem_->RestoreC(); };
  subject.poison = [&] { problem_->PoisonC(); };
  subject.verify = [&] { return problem_->Verify(options_.verify, init_times_.cublas(), &error_); };
  ASSIGN_OR_RETURN(const Summary kernel, host_rows_.Measure(subject, row));
  SetRates(config, kernel, row);
  return absl::OkStatus();
}

absl::Status MatMulRunner::MeasureDevice(const MatMulConfig& config, bool pair_with_cublas,
                                         ResultRow* row) {
  const MatMulArgs& host = problem_->args();
  const auto bytes = [&](int64_t elements) {
    return static_cast<size_t>(elements * ElementBytes(config.type));
  };
  ASSIGN_OR_RETURN(const Arm own, MakeArm(*config.implementation, config, init_times_.cublas()));
  ASSIGN_OR_RETURN(const Arm cublas,
                   MakeArm(*FindMatMulImplementation("cublas"), config, init_times_.cublas()));
  DeviceSubject subject;
  subject.inputs = {{host.a, bytes(ElementsOfA(host))}, {host.b, bytes(ElementsOfB(host))}};
  subject.host_output = host.c;
  subject.output_bytes = bytes(ElementsOfC(host));
  subject.run = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
    return own.Run(inputs, output, stream);
  };
  if (pair_with_cublas) {
    subject.reference = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
      return cublas.Run(inputs, output, stream);
    };
  }
  if (host.beta != 0) {
    subject.inputs.push_back({problem_->old_c().data(), problem_->old_c().bytes()});
    subject.prepare = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
      return gpu::CopyOnDevice(output, inputs[2], subject.output_bytes, stream);
    };
    subject.prepare_reference = subject.prepare;
  }
  subject.verify = [&] { return problem_->Verify(options_.verify, init_times_.cublas(), &error_); };
  ASSIGN_OR_RETURN(const DeviceMeasurement measured,
                   MeasureOnDevice(subject, options_.sampling, clock_, machine_.timer(),
                                   machine_.nvml(), Interrupted));
  RETURN_IF_ERROR(CheckPhysicalLimit(config, measured.kernel));
  SetMeasurement(measured, row);
  SetRates(config, measured.kernel, row);
  if (measured.of_reference.has_value()) row->Set(Column::kVsCublas, *measured.of_reference);
  return absl::OkStatus();
}

void MatMulRunner::SetRates(const MatMulConfig& config, const Summary& kernel,
                            ResultRow* row) const {
  const double gflops = FlopsToDo(config) / kernel.median / 1e6;
  row->Set(Column::kGflops, gflops);
  row->Set(Column::kGbps, BytesToMove(config) / kernel.median / 1e6);
  if (config.implementation->target.where == Where::kHost) return;
  const double peak = PeakGflops(config, machine_.device());
  if (peak > 0) row->Set(Column::kPctOfPeak, 100 * gflops / peak);
  const double bound_ms = BoundMs(config, machine_.device());
  if (bound_ms > 0) row->Set(Column::kBoundMs, bound_ms);
}

// A rate that the machine cannot have is an error of the measurement, not a result.
absl::Status MatMulRunner::CheckPhysicalLimit(const MatMulConfig& config,
                                              const Summary& kernel) const {
  const double peak = PeakGflops(config, machine_.device());
  const double gflops = FlopsToDo(config) / kernel.median / 1e6;
  if (peak == 0 || gflops <= peak) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(gflops, " GFLOP/s is above the device's limit of ", peak));
}

}  // namespace stridewise

#include "benchmarks/matmul_runner.h"

#include "absl/strings/str_cat.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/row_columns.h"
#include "common/buffer.h"
#include "common/device_measurement.h"
#include "common/status_macros.h"

namespace stridewise {
namespace {

double Flops(const Shape3& shape) { return MatMulFlops(shape.m, shape.n, shape.k); }

}  // namespace

MatMulRunner::MatMulRunner(const SweepOptions* options, const Machine* machine)
    : options_(*options), machine_(*machine), init_times_(machine), host_rows_(options) {}

ResultRow MatMulRunner::DescribeConfig(const MatMulConfig& config) const {
  const bool device = config.implementation->where == Where::kDevice;
  ResultRow row;
  row.Set(Column::kOperation, "matmul");
  row.Set(Column::kImplementation, config.implementation->name);
  row.Set(Column::kDtype, ElementTypeName(config.type));
  row.Set(Column::kMath, config.implementation->math);
  row.Set(Column::kRows, config.shape.m);
  row.Set(Column::kCols, config.shape.n);
  row.Set(Column::kDepth, config.shape.k);
  if (config.block.x > 0) {
    row.Set(Column::kBlockX, config.block.x);
    row.Set(Column::kBlockY, config.block.y);
  }
  if (device) {
    row.Set(Column::kL2, L2ModeName(options_.l2));
    row.Set(Column::kHostMemory, HostMemoryName(options_.host_memory));
  }
  return row;
}

void MatMulRunner::Measure(const MatMulConfig& config, bool cross_check, ResultRow* row) {
  machine_.Describe(config.implementation->where == Where::kDevice, row);
  const absl::Status status = MeasureOk(config, cross_check, row);
  if (error_.has_value()) {
    row->Set(Column::kRelativeError, error_->relative_error);
    row->Set(Column::kMaxErrorOverBound, error_->max_error_over_bound);
  }
  SetOutcome(status, row);
}

absl::Status MatMulRunner::MeasureOk(const MatMulConfig& config, bool cross_check, ResultRow* row) {
  error_.reset();
  const bool device = config.implementation->where == Where::kDevice;
  if (device) RETURN_IF_ERROR(machine_.gpu_status());
  if (config.implementation->run == nullptr) {
    return absl::UnavailableError("built without a CUDA toolkit");
  }
  RETURN_IF_ERROR(host_rows_.CheckTimeout(config.implementation->name, Flops(config.shape)));
  // Before the problem: cuBLAS, once created, also computes the references.
  ASSIGN_OR_RETURN(const double init_ms, InitMs(*config.implementation));
  row->Set(Column::kInitMs, init_ms);
  RETURN_IF_ERROR(EnsureProblem(config));
  RETURN_IF_ERROR(device ? MeasureDevice(config, row) : MeasureHost(config, row));
  return cross_check ? problem_->CrossCheck(config.implementation->name) : absl::OkStatus();
}

absl::Status MatMulRunner::EnsureProblem(const MatMulConfig& config) {
  if (problem_.has_value()) {
    const MatMulArgs& old = problem_->args();
    if (old.m == config.shape.m && old.n == config.shape.n && old.k == config.shape.k &&
        old.type == config.type) {
      return absl::OkStatus();
    }
    problem_.reset();  // Before the next is made: two may not fit.
  }
  ASSIGN_OR_RETURN(problem_, MatMulWorkload::Create(config.shape, config.type, options_.seed,
                                                   options_.host_memory));
  return absl::OkStatus();
}

// The first use of an implementation in this program, by a product of 1x1x1.
absl::StatusOr<double> MatMulRunner::InitMs(const MatMulImplementation& implementation) {
  if (const auto known = init_times_.Find(implementation.name)) return *known;
  const bool device = implementation.where == Where::kDevice;
  // Every device row needs the handle, for its reference; only those that compute with it pay.
  if (device) RETURN_IF_ERROR(init_times_.EnsureCublas());
  ASSIGN_OR_RETURN(const MatMulWorkload tiny,
                   MatMulWorkload::Create({1, 1, 1}, ElementType::kFloat, 1, HostMemory::kPageable));
  MatMulArgs args = tiny.args();
  DeviceBuffer buffer;
  if (device) {
    ASSIGN_OR_RETURN(buffer, DeviceBuffer::Allocate(3 * sizeof(float)));
    args.a = buffer.As<float>();
    args.b = buffer.As<float>() + 1;
    args.c = buffer.As<float>() + 2;
    args.cublas = init_times_.cublas();
    args.stream = machine_.timer().stream();
  }
  return init_times_.Measure(implementation.name, implementation.where, implementation.needs_cublas,
                             [&] { return RunMatMul(implementation, args); });
}

absl::Status MatMulRunner::MeasureHost(const MatMulConfig& config, ResultRow* row) {
  HostSubject subject;
  subject.implementation = config.implementation->name;
  subject.work = Flops(config.shape);
  subject.run = [&] { return RunMatMul(*config.implementation, problem_->args()); };
  subject.poison = [&] { problem_->PoisonC(); };
  subject.verify = [&] { return problem_->Verify(options_.verify, init_times_.cublas(), &error_); };
  ASSIGN_OR_RETURN(const Summary kernel, host_rows_.Measure(subject, row));
  SetRates(config, kernel, row);
  return absl::OkStatus();
}

absl::Status MatMulRunner::MeasureDevice(const MatMulConfig& config, ResultRow* row) {
  const MatMulArgs& host = problem_->args();
  const auto element = static_cast<size_t>(ElementBytes(config.type));
  DeviceSubject subject;
  subject.inputs = {{host.a, static_cast<size_t>(host.m * host.k) * element},
                    {host.b, static_cast<size_t>(host.k * host.n) * element}};
  subject.host_output = host.c;
  subject.output_bytes = static_cast<size_t>(host.m * host.n) * element;
  subject.run = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
    MatMulArgs args = host;
    args.a = inputs[0];
    args.b = inputs[1];
    args.c = output;
    args.stream = stream;
    args.cublas = init_times_.cublas();
    args.block = config.block;
    return RunMatMul(*config.implementation, args);
  };
  subject.verify = [&] { return problem_->Verify(options_.verify, init_times_.cublas(), &error_); };
  ASSIGN_OR_RETURN(const DeviceMeasurement measured,
                   MeasureOnDevice(subject, options_.sampling, clock_, machine_.timer(),
                                   machine_.nvml(), Interrupted));
  RETURN_IF_ERROR(CheckPhysicalLimit(config, measured.kernel));
  SetMeasurement(measured, row);
  SetRates(config, measured.kernel, row);
  return absl::OkStatus();
}

void MatMulRunner::SetRates(const MatMulConfig& config, const Summary& kernel,
                            ResultRow* row) const {
  const Shape3& s = config.shape;
  const double seconds = kernel.median * 1e-3;
  const double gflops = MatMulFlops(s.m, s.n, s.k) / seconds / 1e9;
  row->Set(Column::kGflops, gflops);
  row->Set(Column::kGbps, MatMulBytes(s.m, s.n, s.k, config.type) / seconds / 1e9);
  if (config.implementation->where == Where::kDevice && config.type == ElementType::kFloat &&
      PeakFp32Gflops(machine_.device()) > 0) {
    row->Set(Column::kPctOfPeak, 100 * gflops / PeakFp32Gflops(machine_.device()));
  }
}

// A rate that the machine cannot have is an error of the measurement, not a result.
absl::Status MatMulRunner::CheckPhysicalLimit(const MatMulConfig& config,
                                              const Summary& kernel) const {
  const double peak = PeakFp32Gflops(machine_.device());
  if (config.type != ElementType::kFloat || peak == 0) return absl::OkStatus();
  const double gflops =
      MatMulFlops(config.shape.m, config.shape.n, config.shape.k) / kernel.median / 1e6;
  if (gflops <= peak) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(gflops, " GFLOP/s is above the device's limit of ", peak));
}

}  // namespace stridewise

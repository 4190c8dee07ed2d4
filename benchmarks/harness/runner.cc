#include "benchmarks/harness/runner.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/device_arm.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/row_columns.h"
#include "benchmarks/harness/row_pair.h"
#include "common/base/host_threads.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/host_peaks.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

// A loop of multiply-adds that is as long has the clock that the processor keeps.
constexpr double kMaxPeakSeconds = 0.5;

}  // namespace

Runner::Runner(const SweepOptions* options, const Machine* machine)
    : options_(*options), machine_(*machine), init_times_(machine), host_rows_(options) {}

ResultRow Runner::Describe(const Config& config) const {
  const Implementation& implementation = *config.implementation;
  ResultRow row;
  SetProblemColumns(*config.operation, config.point, &row);
  config.operation->DescribeImplementation(implementation, &row);
  row.Set(Column::kImplementation, implementation.name);
  if (implementation.step != kNoStep) row.Set(Column::kStep, implementation.step);
  row.Set(Column::kShapeFamily, config.family);
  row.Set(Column::kShard, options_.shard);
  if (config.block.x > 0) {
    row.Set(Column::kBlockX, config.block.x);
    row.Set(Column::kBlockY, config.block.y);
  }
  if (implementation.operands_on_device()) row.Set(Column::kL2, L2ModeName(options_.l2));
  if (implementation.on_device()) {
    row.Set(Column::kHostMemory, HostMemoryName(options_.host_memory));
  }
  return row;
}

void Runner::Measure(const Config& config, const RowOptions& wanted, ResultRow* row) {
  machine_.Describe(config.implementation->on_device(), row);
  SetOutcome(MeasureOk(config, wanted, row), row);
}

absl::Status Runner::CheckSupported(const Config& config) const {
  const Implementation& implementation = *config.implementation;
  if (implementation.on_device()) RETURN_IF_ERROR(machine_.gpu_status());
  if (!implementation.is_built_in) return absl::UnavailableError(kWithoutDeviceCode);
  RETURN_IF_ERROR(config.operation->CheckSupported(implementation, config.point));
  if (!implementation.on_device()) return absl::OkStatus();
  return CheckComputeCapability(implementation, machine_.device());
}

absl::Status Runner::MeasureOk(const Config& config, const RowOptions& wanted, ResultRow* row) {
  const Implementation& implementation = *config.implementation;
  RETURN_IF_ERROR(CheckSupported(config));
  const std::unique_ptr<Problem> problem = config.operation->MakeProblem(config.point);
  if (implementation.operands_on_device()) {
    RETURN_IF_ERROR(CheckDeviceMemory(*problem, machine_.device()));
  }
  const Work work = problem->work();
  RETURN_IF_ERROR(host_rows_.CheckTimeout(implementation.name, WorkToTime(work)));
  // Before the operands are made: cuBLAS, once created, also computes references.
  ASSIGN_OR_RETURN(const double init_ms, InitMs(config));
  row->Set(Column::kInitMs, init_ms);
  ASSIGN_OR_RETURN(Workload * workload, WorkloadOf(config));
  RETURN_IF_ERROR(implementation.operands_on_device() ? MeasureDevice(config, wanted, row)
                  : implementation.on_device()        ? MeasureFromHostMemory(config, row)
                                                      : MeasureHost(config, wanted, row));
  return wanted.cross_check ? workload->CrossCheck(implementation.name) : absl::OkStatus();
}

absl::StatusOr<Workload*> Runner::WorkloadOf(const Config& config) {
  if (!workload_.has_value() || operation_ != config.operation || !(point_ == config.point)) {
    workload_.reset();  // Before the next is made: two may not fit.
    ASSIGN_OR_RETURN(workload_, Workload::Create(config.operation->MakeProblem(config.point),
                                                 options_.seed, options_.host_memory));
    operation_ = config.operation;
    point_ = config.point;
  }
  return &*workload_;
}

// The first use of an implementation in this program, on the smallest problem that it takes.
absl::StatusOr<double> Runner::InitMs(const Config& config) {
  const Implementation& implementation = *config.implementation;
  const std::string key = absl::StrCat(config.operation->name(), " ", implementation.name);
  if (const auto known = init_times_.Find(key)) return *known;
  const bool device = implementation.on_device();
  if (implementation.needs_cublas || (device && config.operation->VerifiesWithCublas())) {
    RETURN_IF_ERROR(init_times_.EnsureCublas());
  }
  std::unique_ptr<Problem> problem =
      config.operation->MakeProblem(config.operation->TinyPoint(config.point));
  if (implementation.operands_on_device()) {
    ASSIGN_OR_RETURN(const TinyOperands tiny, TinyOperands::Create(*problem));
    ASSIGN_OR_RETURN(const DeviceArm arm,
                     DeviceArm::Create(implementation, kNoBlock, *problem, init_times_.cublas()));
    return init_times_.Measure(key, implementation, [&] {
      return arm.Run()(tiny.inputs(), tiny.output(), machine_.timer().stream());
    });
  }
  const Binding binding = problem->Bind(implementation, kNoBlock);
  ASSIGN_OR_RETURN(const Workload workload,
                   Workload::Create(std::move(problem), options_.seed, HostMemory::kPageable));
  return init_times_.Measure(key, implementation, [&] { return workload.Run(binding); });
}

absl::Status Runner::Verify(const Config& config, ResultRow* row) {
  return workload_->Verify(*config.implementation, options_.verify, init_times_.cublas(), row);
}

absl::Status Runner::MeasureHost(const Config& config, const RowOptions& wanted, ResultRow* row) {
  const Problem& problem = workload_->problem();
  const Operation& operation = *config.operation;
  const auto call_of = [&](const Binding& binding) {
    HostCall call;
    Buffers buffers;
    buffers.inputs = workload_->inputs();
    buffers.output = workload_->output();
    call.run = [&binding, buffers] { return binding.run(buffers); };
    if (binding.output_starts_as >= 0) {
      call.prepare = [&] { workload_->PrepareOutput(binding); };
    }
    return call;
  };
  const Binding binding = problem.Bind(*config.implementation, config.block);
  HostSubject subject;
  subject.implementation = config.implementation->name;
  subject.work = WorkToTime(problem.work());
  subject.call = call_of(binding);
  const RowPair pair = PairedWith(config, wanted.peer);
  Binding other;
  if (pair.implementation != nullptr) {
    other = problem.Bind(*pair.implementation, kNoBlock);
    subject.reference = call_of(other);
  }
  const int threads = operation.UsesAllCores(*config.implementation) ? HostThreads() : 1;
  subject.rests = threads > 1;
  subject.poison = [&] { workload_->PoisonOutput(); };
  subject.verify = [&] { return Verify(config, row); };
  const bool is_bf16 = absl::StartsWith(config.point.type, "bf16");
  const VectorMath math = config.point.type == "double" ? VectorMath::kDouble
                          : is_bf16                     ? VectorMath::kBf16
                                                        : VectorMath::kFloat;
  // A core's peak is measured beside each sample, for as long as a sample or a call takes: both
  // have the same clock and the same neighbours then. With several threads it is measured once,
  // for as long as the row's samples took.
  std::vector<double> peaks;
  const auto measure_peak = [&](double seconds) {
    peaks.push_back(MeasureFmaGflops(math, threads, std::min(seconds, kMaxPeakSeconds)));
  };
  if (threads == 1) subject.beside = [&](double ms) { measure_peak(ms * 1e-3); };
  ASSIGN_OR_RETURN(const HostMeasurement measured, host_rows_.Measure(subject, row));
  if (pair.implementation != nullptr) {
    row->Set(pair.peer->column, pair.peer->scale * measured.over_reference);
  }
  row->Set(Column::kThreads, threads);
  const double clock = MeasureHostClockMhz();
  if (clock > 0) row->Set(Column::kCpuClockMhz, clock);
  if (threads > 1) {
    measure_peak(1e-3 * static_cast<double>(measured.kernel.samples) * measured.kernel.mean);
  }
  SetHostRates(problem.work(), measured.kernel, Median(peaks), HostCopyGbps(threads), row);
  if (wanted.host_counters == nullptr) return absl::OkStatus();
  const CountedWork work = {[&]() -> absl::Status {
                              if (subject.call.prepare) subject.call.prepare();
                              return absl::OkStatus();
                            },
                            subject.call.run};
  ASSIGN_OR_RETURN(const std::vector<double> values,
                   ReadCounters(*wanted.host_counters->source, work));
  row->Set(Column::kCounters, CountersText(wanted.host_counters->names, values));
  return absl::OkStatus();
}

// By the host's clock, the copies included: the call returns when the result is in host memory.
absl::Status Runner::MeasureFromHostMemory(const Config& config, ResultRow* row) {
  const Problem& problem = workload_->problem();
  const Operation& operation = *config.operation;
  const Binding binding = problem.Bind(*config.implementation, kNoBlock);
  HostSubject subject;
  subject.implementation = config.implementation->name;
  subject.work = WorkToTime(problem.work());
  subject.call.run = [&] { return workload_->Run(binding); };
  if (binding.output_starts_as >= 0) {
    subject.call.prepare = [&] { workload_->PrepareOutput(binding); };
  }
  subject.poison = [&] { workload_->PoisonOutput(); };
  subject.verify = [&] { return Verify(config, row); };
  ASSIGN_OR_RETURN(const HostMeasurement measured, host_rows_.Measure(subject, row));
  return SetDeviceRates(problem.work(), measured.kernel,
                        operation.PeakGflops(config.point, machine_.device()), machine_.device(),
                        row);
}

absl::Status Runner::MeasureDevice(const Config& config, const RowOptions& wanted, ResultRow* row) {
  const Problem& problem = workload_->problem();
  const Operation& operation = *config.operation;
  ASSIGN_OR_RETURN(const DeviceArm own, DeviceArm::Create(*config.implementation, config.block,
                                                          problem, init_times_.cublas()));
  DeviceSubject subject;
  const std::vector<BufferSpec> specs = problem.inputs();
  for (size_t i = 0; i < specs.size(); ++i) {
    subject.inputs.push_back({workload_->inputs()[i], specs[i].bytes});
  }
  subject.host_output = workload_->output();
  subject.output_bytes = problem.output().bytes;
  subject.run = own.Run();
  subject.prepare = own.Prepare();

  DeviceArm other;
  const RowPair pair = PairedWith(config, wanted.peer);
  if (const Implementation* paired = pair.implementation) {
    if (paired->needs_cublas) RETURN_IF_ERROR(init_times_.EnsureCublas());
    ASSIGN_OR_RETURN(other, DeviceArm::Create(*paired, kNoBlock, problem, init_times_.cublas()));
    subject.reference = other.Run();
    subject.prepare_reference = other.Prepare();
  }
  // Without a judge the harness keeps no second copy of the result: large problems need the room.
  if (options_.verify != VerifyMode::kOff) subject.verify = [&] { return Verify(config, row); };
  if (wanted.counters != nullptr) {
    subject.count = [&](const CountedWork& work) -> absl::Status {
      ASSIGN_OR_RETURN(const std::vector<double> values, ReadCounters(*wanted.counters, work));
      row->Set(Column::kCounters, CountersText(options_.counters, values));
      return absl::OkStatus();
    };
  }
  ASSIGN_OR_RETURN(const DeviceMeasurement measured,
                   MeasureOnDevice(subject, options_.sampling, clock_, machine_.timer(),
                                   machine_.nvml(), Interrupted));
  SetMeasurement(measured, row);
  row->Set(Column::kChosen,
           operation.ChosenBy(*config.implementation, config.point, machine_.device()));
  if (measured.of_reference.has_value()) {
    row->Set(pair.peer->column, pair.peer->scale * *measured.of_reference);
  }
  const double peak_gflops = operation.PeakGflops(config.point, machine_.device());
  return SetDeviceRates(problem.work(), measured.kernel, peak_gflops, machine_.device(), row);
}

}  // namespace stridewise

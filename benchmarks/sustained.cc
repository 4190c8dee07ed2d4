// Work that runs for seconds on end beside the vendor's: how fast it is where power sets the clock,
// and how many joules each run takes.
//
//   bazel run //benchmarks:sustained
//   bazel run //benchmarks:sustained -- --shapes=16384x16384x16384 --type=fp16 --seconds=30
//   bazel run //benchmarks:sustained -- --operation=transpose --shapes=16384x16384 --type=float
//     --implementations=auto,memcpy_d2d --peer=memcpy_d2d

#include "common/measure/sustained.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/harness/workload.h"
#include "benchmarks/operations.h"
#include "common/base/clock.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"
#include "common/base/table.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/cublas_status.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/nvml.h"
#include "common/measure/git_commit.h"

ABSL_FLAG(std::string, operation, "matmul", "matmul, transpose or permute");
ABSL_FLAG(std::string, implementations, "auto,cublas", "Comma list of entries that take turns.");
ABSL_FLAG(std::string, peer, "cublas", "The one of them that ratios compare with.");
ABSL_FLAG(std::string, shapes, "8192x8192x8192", "Comma list of extents, as in the sweeps.");
ABSL_FLAG(std::string, type, "bf16", "The element type, as in the sweeps.");
ABSL_FLAG(double, seconds, 10, "How long each of them runs for each shape. 0.1 to 3600.");
ABSL_FLAG(double, slice_seconds, 2,
          "How long a turn is; a GPU's energy counter moves every 20 to 100 ms. 0.1 to 3600.");
ABSL_FLAG(uint64_t, seed, 1, "Of the operands.");
ABSL_FLAG(std::string, csv, "",
          "Also write the table to this file, or to standard output for -. One that is there is "
          "kept as .bak.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "sustained: speed, clock and joules of work that runs for seconds on end, in turn with a peer.";

struct Settings {
  const Operation* operation = nullptr;
  std::vector<const Implementation*> implementations;
  size_t peer = 0;  // An index of them.
  std::vector<std::vector<int64_t>> shapes;
  std::string type;
  SustainedOptions options;
};

absl::Status Refuse(absl::string_view flag, absl::string_view value, absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": \"", value, "\" is not allowed; allowed is ", allowed));
}

absl::StatusOr<double> ReadSeconds(absl::string_view flag, double value) {
  if (value >= 0.1 && value <= 3600) return value;
  return Refuse(flag, absl::StrCat(value), "0.1 to 3600");
}

absl::StatusOr<Settings> ReadFlags() {
  Settings settings;
  ASSIGN_OR_RETURN(settings.operation, FindOperation(absl::GetFlag(FLAGS_operation)));
  const Operation& operation = *settings.operation;
  const std::string peer = absl::GetFlag(FLAGS_peer);
  const std::string names = absl::GetFlag(FLAGS_implementations);
  settings.peer = std::string::npos;
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    const Implementation* const found = operation.Find(name);
    if (found == nullptr || !found->operands_on_device()) {
      return Refuse("--implementations", name,
                    absl::StrCat("the device entries of ", operation.name(), "_sweep --list"));
    }
    if (name == peer) settings.peer = settings.implementations.size();
    settings.implementations.push_back(found);
  }
  if (settings.peer == std::string::npos) return Refuse("--peer", peer, "one of --implementations");
  ASSIGN_OR_RETURN(settings.shapes, ParseExtents("--shapes", absl::GetFlag(FLAGS_shapes),
                                                 operation.extent_columns().size()));
  settings.type = absl::GetFlag(FLAGS_type);
  if (std::count(operation.types().begin(), operation.types().end(), settings.type) == 0) {
    return Refuse("--type", settings.type, absl::StrJoin(operation.types(), ", "));
  }
  ASSIGN_OR_RETURN(settings.options.seconds,
                   ReadSeconds("--seconds", absl::GetFlag(FLAGS_seconds)));
  ASSIGN_OR_RETURN(settings.options.slice_seconds,
                   ReadSeconds("--slice_seconds", absl::GetFlag(FLAGS_slice_seconds)));
  settings.options.interrupted = Interrupted;
  return settings;
}

// What runs are queued in.
class Queue {
 public:
  static absl::StatusOr<std::unique_ptr<Queue>> Create() {
    std::unique_ptr<Queue> queue(new Queue);
    ASSIGN_OR_RETURN(queue->stream_, gpu::CreateStream());
    for (cudaEvent_t& mark : queue->marks_) {
      ASSIGN_OR_RETURN(mark, gpu::CreateEvent());
    }
    ASSIGN_OR_RETURN(queue->cublas_, CublasHandle::Create());
    RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(queue->cublas_.get(), queue->stream_)));
    return queue;
  }
  ~Queue() {
    for (const cudaEvent_t mark : marks_) {
      if (mark != nullptr) gpu::DestroyEvent(mark).IgnoreError();
    }
    if (stream_ != nullptr) gpu::DestroyStream(stream_).IgnoreError();
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas() const { return cublas_.get(); }

  // Borrows this.
  SustainedQueue Marks() const {
    return {[this](int mark) { return gpu::RecordEvent(marks_[mark], stream_); },
            [this](int mark) -> absl::Status {
              while (true) {
                ASSIGN_OR_RETURN(const bool done, gpu::HasCompleted(marks_[mark]));
                if (done) return absl::OkStatus();
              }
            }};
  }

 private:
  Queue() = default;

  cudaStream_t stream_ = nullptr;
  cudaEvent_t marks_[2] = {};
  CublasHandle cublas_;
};

// A shape's operands on the device, with an output and a workspace for each implementation.
class Contest {
 public:
  static absl::StatusOr<std::unique_ptr<Contest>> Create(const Settings& settings,
                                                         const Point& point, const Queue& queue) {
    std::unique_ptr<Contest> contest(new Contest(settings, queue));
    ASSIGN_OR_RETURN(contest->workload_,
                     Workload::Create(settings.operation->MakeProblem(point),
                                      absl::GetFlag(FLAGS_seed), HostMemory::kPinned));
    const std::vector<BufferSpec> specs = contest->workload_->problem().inputs();
    for (size_t i = 0; i < specs.size(); ++i) {
      ASSIGN_OR_RETURN(DeviceBuffer input, DeviceBuffer::Allocate(specs[i].bytes));
      RETURN_IF_ERROR(gpu::Copy(input.data(), contest->workload_->inputs()[i], specs[i].bytes));
      contest->input_data_.push_back(input.data());
      contest->memory_.push_back(std::move(input));
    }
    for (const Implementation* implementation : settings.implementations) {
      RETURN_IF_ERROR(contest->Add(*implementation));
    }
    return contest;
  }

  // Borrow this.
  std::vector<SustainedRun> Runs() const {
    std::vector<SustainedRun> runs;
    for (const Entry& entry : entries_) {
      runs.push_back([&entry] { return entry.binding.run(entry.buffers); });
    }
    return runs;
  }

  Work work() const { return workload_->problem().work(); }

  // Judges what the last run of each has left.
  absl::Status Verify() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      workload_->PoisonOutput();
      RETURN_IF_ERROR(gpu::Copy(workload_->output(), entries_[i].buffers.output,
                                workload_->problem().output().bytes));
      ResultRow unused;
      RETURN_IF_ERROR(workload_->Verify(*settings_.implementations[i], VerifyMode::kFast,
                                        queue_.cublas(), &unused));
    }
    return absl::OkStatus();
  }

 private:
  struct Entry {
    Binding binding;
    Buffers buffers;
  };

  Contest(const Settings& settings, const Queue& queue) : settings_(settings), queue_(queue) {}

  absl::Status Add(const Implementation& implementation) {
    const Problem& problem = workload_->problem();
    Entry entry;
    entry.binding = problem.Bind(implementation, kNoBlock);
    if (entry.binding.output_starts_as >= 0) {
      return Refuse("--implementations", implementation.name, "what does not work in place");
    }
    ASSIGN_OR_RETURN(DeviceBuffer output, DeviceBuffer::Allocate(problem.output().bytes));
    ASSIGN_OR_RETURN(DeviceBuffer workspace, DeviceBuffer::Allocate(entry.binding.workspace_bytes));
    RETURN_IF_ERROR(output.Poison());
    entry.buffers = {input_data_, output.data(), workspace.data(), queue_.stream(),
                     queue_.cublas()};
    memory_.push_back(std::move(output));
    memory_.push_back(std::move(workspace));
    entries_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  const Settings& settings_;
  const Queue& queue_;
  std::optional<Workload> workload_;
  std::vector<DeviceBuffer> memory_;
  std::vector<void*> input_data_;
  std::vector<Entry> entries_;
};

const std::vector<std::string>& Header() {
  static const auto& header = *new std::vector<std::string>{"git_commit",
                                                            "device",
                                                            "operation",
                                                            "shape",
                                                            "dtype",
                                                            "implementation",
                                                            "runs",
                                                            "seconds",
                                                            "ms",
                                                            "gflops",
                                                            "gbps",
                                                            "power_w",
                                                            "joules_per_run",
                                                            "sm_clock_mhz",
                                                            "temperature_c",
                                                            "throttle_reasons",
                                                            "rate_over_peer",
                                                            "joules_over_peer"};
  return header;
}

std::string Number(const std::optional<double>& value, const char* format = "%.6g") {
  if (!value.has_value()) return "";
  return absl::StrFormat(absl::ParsedFormat<'g'>(format), *value);
}

// What a run of one took.
struct PerRun {
  double ms = 0;
  std::optional<double> joules, watts;
};

PerRun PerRunOf(const Sustained& total) {
  const auto runs = static_cast<double>(total.runs);
  PerRun of = {1e3 * total.seconds / runs, {}, {}};
  if (total.joules.has_value()) {
    of.joules = *total.joules / runs;
    of.watts = *total.joules / total.seconds;
  }
  return of;
}

absl::Status MeasureShape(const Settings& settings, const std::vector<int64_t>& shape,
                          const DeviceInfo& device, const Queue& queue, const Nvml& nvml,
                          Table* table, std::optional<RecordFile>* file) {
  const Operation& operation = *settings.operation;
  Point point = operation.UsualPoint(shape);
  point.type = settings.type;
  for (const Implementation* implementation : settings.implementations) {
    RETURN_IF_ERROR(operation.CheckSupported(*implementation, point));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Contest> contest, Contest::Create(settings, point, queue));
  ASSIGN_OR_RETURN(
      const std::vector<Sustained> totals,
      RunSustained(contest->Runs(), queue.Marks(), settings.options, SteadyClock(), nvml));
  RETURN_IF_ERROR(contest->Verify());
  const PerRun peer = PerRunOf(totals[settings.peer]);
  const std::string extents = absl::StrJoin(shape, "x");
  const Work work = contest->work();
  for (size_t i = 0; i < totals.size(); ++i) {
    const Sustained& total = totals[i];
    const PerRun of = PerRunOf(total);
    const std::string& name = settings.implementations[i]->name;
    std::optional<double> joules_ratio;
    if (of.joules.has_value() && peer.joules.has_value()) joules_ratio = *of.joules / *peer.joules;
    const std::optional<double> temperature = total.state.temperature_c;
    const std::string throttle = total.state.throttle_reasons.value_or("");
    table->PrintRow({name, extents, settings.type, absl::StrFormat("%.4f", of.ms),
                     absl::StrFormat("%.1f", work.flops / of.ms / 1e6),
                     absl::StrFormat("%.1f", work.bytes / of.ms / 1e6), Number(of.watts, "%.4g"),
                     Number(of.joules, "%.4g"), Number(total.sm_clock_mhz, "%.4g"),
                     absl::StrFormat("%.3f", peer.ms / of.ms), Number(joules_ratio, "%.4g"),
                     throttle});
    if (!file->has_value()) continue;
    RETURN_IF_ERROR((*file)->Write(
        {std::string(GitCommit()), device.name, std::string(operation.name()), extents,
         settings.type, name, absl::StrCat(total.runs), Number(total.seconds), Number(of.ms),
         Number(work.flops / of.ms / 1e6), Number(work.bytes / of.ms / 1e6), Number(of.watts),
         Number(of.joules), Number(total.sm_clock_mhz), Number(temperature), throttle,
         Number(peer.ms / of.ms), Number(joules_ratio)}));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const Settings settings, ReadFlags());
  ASSIGN_OR_RETURN(const DeviceInfo device, OpenDevice(0));
  const std::string path = ResolvePath(absl::GetFlag(FLAGS_csv));
  std::optional<RecordFile> file;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(file, RecordFile::Create(path, Header(), CsvMode::kReplace));
  }
  const std::unique_ptr<Nvml> nvml = Nvml::Open(device.pci_bus_id);
  ASSIGN_OR_RETURN(const std::unique_ptr<Queue> queue, Queue::Create());
  CatchInterrupts();
  Table table({{"implementation", 16, false},
               {"shape", 20, false},
               {"type", 6, false},
               {"ms", 9, true},
               {"GFLOP/s", 9, true},
               {"GB/s", 8, true},
               {"W", 6, true},
               {"J/run", 8, true},
               {"MHz", 6, true},
               {"rate/peer", 9, true},
               {"J/peer", 7, true},
               {"throttle", 12, false}},
              path == "-" ? &std::cerr : &std::cout);
  table.PrintHeader();
  for (const std::vector<int64_t>& shape : settings.shapes) {
    const absl::Status status = MeasureShape(settings, shape, device, *queue, *nvml, &table, &file);
    if (absl::IsCancelled(status)) return kExitInterrupted;
    if (!status.ok()) {
      std::cerr << absl::StrJoin(shape, "x") << ": " << status.message() << "\n";
      return absl::IsInvalidArgument(status) ? kExitBadInput : kExitWrongResult;
    }
  }
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}

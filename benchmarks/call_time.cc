// How long calls of the library keep the host: the time until MatMul() and Transpose() return,
// beside cublasSgemm(), cublasSgeam() and the launch of a kernel that does nothing.
//
//   bazel run //benchmarks:call_time
//   bazel run //benchmarks:call_time -- --csv=call_time.csv
//
// Each call is timed alone, with the stream idle (the device has done everything before it) and
// with its queue filled (the device is held, and calls queue behind each other).

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/timed_calls.h"
#include "common/base/clock.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/base/table.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/git_commit.h"
#include "common/measure/statistics.h"

ABSL_FLAG(std::string, csv, "",
          "Also write the table to this file, or to standard output for -. One that is there is "
          "kept as .bak.");
ABSL_FLAG(int, rounds, 10,
          "Each call is timed 100 times a round with either queue; the calls take turns. 1 to "
          "1000.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "call_time: the host's time for a call of the library, of cuBLAS and for the launch of an "
    "empty kernel.";

constexpr int kCallsOfRound = 100;  // Fewer than a stream's queue holds, with three kernels each.

// Holds a stream while calls queue behind it.
class Hold {
 public:
  static absl::StatusOr<Hold> Create() {
    Hold hold;
    ASSIGN_OR_RETURN(hold.flags_, HostBuffer::Allocate(sizeof(HoldFlags), HostMemory::kPinned));
    *hold.flags_.As<HoldFlags>() = HoldFlags();
    return hold;
  }
  absl::Status Begin(cudaStream_t stream) {
    constexpr uint64_t kTimeoutNs = 250'000'000;
    return HoldStream(flags_.As<HoldFlags>(), ++ticket_, kTimeoutNs, stream);
  }
  void End() { flags_.As<HoldFlags>()->released = ticket_; }

 private:
  HostBuffer flags_;
  uint64_t ticket_ = 0;
};

absl::Status Time(const TimedCall& call, cudaStream_t stream, std::vector<double>* times) {
  const SteadyClock clock;
  const double start = clock.Now();
  const absl::Status status = call.run(stream);
  times->push_back(1e6 * (clock.Now() - start));
  return status;
}

absl::Status TimeRound(cudaStream_t stream, Hold* hold, TimedCall* call) {
  RETURN_IF_ERROR(call->run(stream));
  for (int i = 0; i < kCallsOfRound; ++i) {
    RETURN_IF_ERROR(gpu::Synchronize(stream));
    RETURN_IF_ERROR(Time(*call, stream, &call->idle));
  }
  RETURN_IF_ERROR(gpu::Synchronize(stream));
  RETURN_IF_ERROR(hold->Begin(stream));
  absl::Status status;
  for (int i = 0; i < kCallsOfRound && status.ok(); ++i) {
    status = Time(*call, stream, &call->filled);
  }
  hold->End();
  RETURN_IF_ERROR(status);
  return gpu::Synchronize(stream);
}

absl::Status Report(const DeviceInfo& device, const std::vector<TimedCall>& calls,
                    std::optional<RecordFile> file, std::ostream* out) {
  Table table({{"call", 21, false},
               {"shape", 18, false},
               {"queue", 6, false},
               {"median us", 9, true},
               {"95 % us", 8, true},
               {"least us", 8, true}},
              out);
  table.PrintHeader();
  for (const TimedCall& call : calls) {
    for (const bool filled : {false, true}) {
      const Summary summary = Summarize(filled ? call.filled : call.idle);
      const char* queue = filled ? "filled" : "idle";
      table.PrintRow({call.call, call.shape, queue, absl::StrFormat("%.2f", summary.median),
                      absl::StrFormat("%.2f", summary.p95), absl::StrFormat("%.2f", summary.min)});
      if (!file.has_value()) continue;
      RETURN_IF_ERROR(file->Write(
          {std::string(GitCommit()), device.name, call.call, call.shape, queue,
           absl::StrCat(summary.samples), absl::StrFormat("%.3f", summary.median),
           absl::StrFormat("%.3f", summary.p95), absl::StrFormat("%.3f", summary.min)}));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunProgram() {
  const int rounds = absl::GetFlag(FLAGS_rounds);
  RETURN_IF_ERROR(CheckRange("--rounds", rounds, 1, 1000));
  ASSIGN_OR_RETURN(const DeviceInfo device, OpenDevice(0));
  const std::string path = ResolvePath(absl::GetFlag(FLAGS_csv));
  std::optional<RecordFile> file;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(file, RecordFile::Create(path,
                                              {"git_commit", "device", "call", "shape", "queue",
                                               "samples", "median_us", "p95_us", "min_us"},
                                              CsvMode::kReplace));
  }
  ASSIGN_OR_RETURN(const cudaStream_t stream, gpu::CreateStream());
  ASSIGN_OR_RETURN(CallMemory memory, AllocateCallMemory(stream));
  ASSIGN_OR_RETURN(Hold hold, Hold::Create());

  std::vector<TimedCall> calls;
  calls.push_back({"empty kernel", "", LaunchEmptyKernel});
  AddProducts(memory, &calls);
  AddTransposes(memory, &calls);
  CatchInterrupts();
  for (int round = 0; round < rounds && !Interrupted(); ++round) {
    for (TimedCall& call : calls) RETURN_IF_ERROR(TimeRound(stream, &hold, &call));
  }
  RETURN_IF_ERROR(Report(device, calls, std::move(file), path == "-" ? &std::cerr : &std::cout));
  memory.context.reset();  // Which uses the stream.
  RETURN_IF_ERROR(gpu::DestroyStream(stream));
  return Interrupted() ? kExitInterrupted : kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}

// Work that runs for seconds on end beside the vendor's: how fast it is where power sets the clock,
// and how many joules each run takes.
//
//   bazel run //benchmarks:sustained
//   bazel run //benchmarks:sustained -- --shapes=16384x16384x16384 --type=fp16 --seconds=30
//   bazel run //benchmarks:sustained -- --operation=transpose --shapes=16384x16384 --type=float
//     --implementations=auto,memcpy_d2d --peer=memcpy_d2d

#include "common/measure/sustained.h"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/contest/contest.h"
#include "benchmarks/contest/settings.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/operations.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/base/table.h"
#include "common/gpu/device.h"
#include "common/gpu/nvml.h"
#include "common/measure/git_commit.h"

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "sustained: speed, clock and joules of work that runs for seconds on end, in turn with a peer.";

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

absl::Status MeasureShape(const SustainedSettings& settings, const std::vector<int64_t>& shape,
                          const DeviceInfo& device, const ContestQueue& queue, const Nvml& nvml,
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
  ASSIGN_OR_RETURN(const SustainedSettings settings, ReadSustainedFlags());
  ASSIGN_OR_RETURN(const DeviceInfo device, OpenDevice(0));
  std::optional<RecordFile> file;
  if (!settings.csv.empty()) {
    ASSIGN_OR_RETURN(file, RecordFile::Create(settings.csv, Header(), CsvMode::kReplace));
  }
  const std::unique_ptr<Nvml> nvml = Nvml::Open(device.pci_bus_id);
  ASSIGN_OR_RETURN(const std::unique_ptr<ContestQueue> queue, ContestQueue::Create());
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
              settings.csv == "-" ? &std::cerr : &std::cout);
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
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram,
                                 stridewise::AxisFlagsOf(stridewise::AllOperations()));
}

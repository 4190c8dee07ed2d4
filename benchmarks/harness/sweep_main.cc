#include "benchmarks/harness/sweep_main.h"

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
#include "absl/strings/string_view.h"
#include "benchmarks/harness/beyond_card.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/limits.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/memory_behaviour.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/random_report.h"
#include "benchmarks/harness/random_shapes.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/harness/row_columns.h"
#include "benchmarks/harness/runner.h"
#include "benchmarks/harness/speedups.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_counters.h"
#include "common/base/flag_parsing.h"
#include "common/base/host_threads.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/measure/host_counters.h"

ABSL_FLAG(std::string, limits_csv, "",
          "With --preset=limits: a file for the verdicts. One that is there is kept as .bak.");
ABSL_FLAG(std::string, distribution_csv, "",
          "With --preset=random: a file for the distribution. One that is there is kept as .bak.");

namespace stridewise {
namespace {

// Opens the file that `flag` names, for records below this header; nothing without a name.
absl::StatusOr<std::optional<RecordFile>> OpenRecords(absl::string_view flag,
                                                      const std::string& name, const Preset& preset,
                                                      absl::string_view belongs_to,
                                                      const std::vector<std::string>& header) {
  const std::string path = ResolvePath(name);
  if (path.empty()) return std::nullopt;
  if (preset.name != belongs_to) {
    return RefuseFlag(flag, name, absl::StrCat("without --preset=", belongs_to));
  }
  absl::StatusOr<RecordFile> file = RecordFile::Create(path, header, CsvMode::kReplace);
  if (!file.ok()) return OfFlag(flag, file.status());
  return std::optional<RecordFile>(*std::move(file));
}

// Writes the records behind the header, which the file has. Nothing without a file.
absl::Status WriteRecords(const std::vector<std::vector<std::string>>& records,
                          std::optional<RecordFile>* file) {
  if (!file->has_value()) return absl::OkStatus();
  for (size_t i = 1; i < records.size(); ++i) RETURN_IF_ERROR((*file)->Write(records[i]));
  return absl::OkStatus();
}

// Judges all that the file of results holds. A limit that is missed is a finding, not a failure.
absl::Status ReportLimits(const SweepRequest& request, Sweep* sweep,
                          std::optional<RecordFile>* file) {
  const Operation& operation = *request.operation;
  const std::string& preset = request.preset.name;
  ASSIGN_OR_RETURN(const std::vector<LimitVerdict> verdicts,
                   JudgeLimits(operation, sweep->rows(), preset));
  sweep->Print(LimitTable(operation, verdicts, preset));
  return WriteRecords(LimitRecords(operation, verdicts, preset), file);
}

// Measures configurations, one row each.
class Measuring {
 public:
  // All arguments are borrowed. `wanted` has the request's peer.
  Measuring(const SweepRequest& request, const RowOptions& wanted, const Machine& machine,
            Sweep* sweep)
      : request_(request),
        wanted_(wanted),
        machine_(machine),
        sweep_(*sweep),
        runner_(&request.options, &machine),
        // Counting takes longer than timing; of random shapes it is for those who ask.
        counts_memory_(!request.is_random() ||
                       request.options.memory_behaviour == MemoryBehaviour::kAlways) {}

  // Measures these and, for each that the card's memory is too small for, what can be measured
  // instead. Ends early when the program is interrupted.
  absl::Status Run(const std::vector<Config>& configs) {
    for (const Config& config : configs) {
      if (Interrupted()) break;
      RETURN_IF_ERROR(RunOne(config));
      const std::optional<Config> beyond = BeyondCard(config);
      if (!beyond.has_value() || !sweep_.EndedOutOfMemory(runner_.Describe(config))) continue;
      sweep_.Expect(1);
      RETURN_IF_ERROR(RunOne(*beyond));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status RunOne(const Config& config) {
    ResultRow described = runner_.Describe(config);
    if (request_.grid_rows == nullptr) {
      return sweep_.Run(described, [&](ResultRow* row) {
        runner_.Measure(config, wanted_, row);
        if (counts_memory_) FillMemoryBehaviour(config, request_.options, row);
        SetSpeedups(*request_.operation, sweep_.rows(), row);
      });
    }
    described.Set(Column::kHostMemory, "");  // Copies are not measured.
    return sweep_.Run(described, [&](ResultRow* row) {
      machine_.Describe(/*device_row=*/true, row);
      SetOutcome(request_.grid_rows->Measure(config, request_.options, wanted_.peer, machine_, row),
                 row);
    });
  }

  const SweepRequest& request_;
  const RowOptions wanted_;
  const Machine& machine_;
  Sweep& sweep_;
  Runner runner_;
  const bool counts_memory_;
};

absl::StatusOr<int> RunSweep(const Operation& on_one_gpu, const SweepProgram& program) {
  ASSIGN_OR_RETURN(const SweepRequest request, ReadSweepRequest(on_one_gpu, program));
  const SweepOptions& options = request.options;
  if (options.list) {
    std::cout << request.listing;
    return kExitOk;
  }
  const Operation& operation = *request.operation;

  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  RowOptions wanted;
  wanted.cross_check = request.preset.cross_check;
  wanted.peer = request.peer;
  std::string why_no_counters;
  ASSIGN_OR_RETURN(const std::unique_ptr<CounterSource> counters,
                   DeviceCountersFor(options, *machine, &why_no_counters));
  wanted.counters = counters.get();
  ASSIGN_OR_RETURN(const HostCounters host_counters, HostCountersFor(options, &why_no_counters));
  if (host_counters.source != nullptr) wanted.host_counters = &host_counters;
  if (options.threads > 0) SetHostThreads(options.threads);

  ASSIGN_OR_RETURN(
      std::optional<RecordFile> limits_file,
      OpenRecords("--limits_csv", absl::GetFlag(FLAGS_limits_csv), request.preset,
                  request.has_limits() ? absl::string_view(request.preset.name) : kLimitsPreset,
                  LimitRecords(operation, {}, request.preset.name).front()));
  ASSIGN_OR_RETURN(
      std::optional<RecordFile> distribution_file,
      OpenRecords("--distribution_csv", absl::GetFlag(FLAGS_distribution_csv), request.preset,
                  request.is_random() ? absl::string_view(request.preset.name) : kRandomPreset,
                  DistributionRecords(operation, operation.random_shapes(), {}).front()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(request.plan.size())));
  CatchInterrupts();
  sweep->Print(machine->Headline() + "\n" + why_no_counters);

  Measuring measuring(request, wanted, *machine, sweep.get());
  RETURN_IF_ERROR(measuring.Run(request.plan));
  if (request.is_random()) {
    const std::vector<Config> others = OtherPeers(operation, request.judged, sweep->rows());
    sweep->Expect(static_cast<int>(others.size()));
    RETURN_IF_ERROR(measuring.Run(others));
    const std::vector<Config> kernels =
        KernelsAtWorst(operation, request.judged, sweep->rows(), request.worst);
    sweep->Expect(static_cast<int>(kernels.size()));
    RETURN_IF_ERROR(measuring.Run(kernels));
    sweep->Print(sweep->SkippedText() +
                 RandomText(operation, request.judged, sweep->rows(), request.worst));
    RETURN_IF_ERROR(WriteRecords(DistributionRecords(operation, request.judged, sweep->rows()),
                                 &distribution_file));
  } else {
    sweep->Print(sweep->SkippedText() + Conclusions(operation, sweep->rows()));
  }
  if (request.has_limits()) RETURN_IF_ERROR(ReportLimits(request, sweep.get(), &limits_file));
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace

int SweepMain(int argc, char** argv, const Operation& operation, const SweepProgram& program) {
  SweepProgram named = program;
  if (named.name.empty()) named.name = absl::StrCat(operation.name(), "_sweep");
  // One that has implementations of its own measures them at other sizes: the preset's are others.
  const char* const another =
      named.implementations.empty()
          ? " --preset=random --seed=7 --csv=random.csv\n"
            "      shapes that nobody chose, and how the speeds are distributed\n\n"
          : " --sizes=1024:16384:*2 --csv=sizes.csv\n"
            "      other sizes\n\n";
  const std::string usage = absl::StrCat(
      named.name, ": times and checks ", operation.description(),
      " on this machine's CPU and GPU and writes one CSV row for each configuration.\n\n",
      "For example:\n",                                                               //
      "  ", named.name, "                         what is usual, into a CSV file\n",  //
      "  ", named.name, " --list                  presets and implementations\n",     //
      "  ", named.name, another,                                                      //
      "docs/measuring.md explains what is timed, docs/csv_columns.md every column. Ctrl-C loses\n",
      "nothing: --resume goes on where a sweep was stopped.");
  return ProgramMain(argc, argv, usage, [&] { return RunSweep(operation, named); });
}

}  // namespace stridewise

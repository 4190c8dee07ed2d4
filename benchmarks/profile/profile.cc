// The table of the studies: how each kernel uses memory, for kernels x block shapes, into a CSV.
//
//   bazel run //benchmarks:profile
//   bazel run //benchmarks:profile -- --implementations='naive*,tile*' --blocks=8x8,16x16,32x32
//   bazel run //benchmarks:profile -- --operation=matmul --source=executor --shapes=256x256x64
//   bazel run //benchmarks:profile -- --source=both --counts_csv=counts.csv
//
// From the GPU's own counters, for which it runs NVIDIA's profiler ncu on itself, once for each
// configuration (ncu_run.h); or from the host executor, on any machine; or from both, compared.

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/plan_flags.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/operations.h"
#include "benchmarks/profile/kernel_profiler.h"
#include "benchmarks/profile/ncu_run.h"
#include "benchmarks/profile/predicted_demand.h"
#include "benchmarks/profile/profile_tables.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/executor/predict/predict_time.h"

ABSL_FLAG(std::string, operation, "transpose",
          "transpose, copies among them, matmul or, by ncu, permute.");
ABSL_FLAG(
    std::string, source, "auto",
    "ncu: the GPU's counters. executor: the host executor, which runs the kernels on the CPU, "
    "checks every access and counts. both: compares the counts of the two; a difference that "
    "is not known is an error. auto: ncu where there are a GPU and ncu, else executor.");
ABSL_FLAG(std::string, counts_csv, "",
          "With --source=both: a file for the counts of both. One that is there is kept as .bak.");
ABSL_FLAG(
    std::string, machine, "h200",
    "The GPU whose time --source=executor predicts: h200, rtx3080, gtx770m, tegra_x1 or m2090. "
    "It need not be there.");
ABSL_FLAG(std::string, predicted_csv, "",
          "With --source=executor: a file for the predicted times, their limiters and shares. One "
          "that is there is kept as .bak.");
ABSL_FLAG(std::string, ncu, "",
          "NVIDIA's profiler Nsight Compute. Default: ncu on the PATH, or else "
          "/usr/local/cuda/bin/ncu.");
ABSL_FLAG(bool, run_once, false,
          "How this program calls itself under ncu: launches one configuration and measures "
          "nothing.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "profile: tells how each transpose, copy or product kernel uses memory, from the GPU's "
    "counters, by running ncu, or from the host executor, and writes one CSV row for each "
    "configuration.";

// Returns a preset of one size: the host executor takes a thousand times as long as a GPU.
Preset ProfilePreset(const Operation& operation, ProfileSource source) {
  const bool on_gpu = source == ProfileSource::kNcu;
  const bool computes = operation.extent_columns().size() > 2;
  const char* size = computes ? (on_gpu ? "2048" : "256") : (on_gpu ? "8192" : "1024");
  Preset preset;
  preset.name = "profile";
  preset.selections = {Selection("*").Sizes(size)};
  return preset;
}

// Returns one line for each kernel that a profiler could watch.
std::string ListText(const Operation& operation) {
  std::string text = "Kernels:\n";
  for (const Implementation* i : operation.implementations()) {
    if (operation.HasKernel(*i)) absl::StrAppendFormat(&text, "  %-28s %s\n", i->name, i->summary);
  }
  return text;
}

// Line for people: which source it is and, where nobody asked for it, why.
std::string SourceText(ProfileSource source, const absl::Status& why_not_ncu) {
  switch (source) {
    case ProfileSource::kNcu:
      return "Counts from the GPU, through ncu.\n";
    case ProfileSource::kBoth:
      return "Counts from the host executor (predicted) and from the GPU (measured).\n";
    case ProfileSource::kExecutor:
      break;
  }
  return absl::StrCat("Counts from the host executor",
                      why_not_ncu.ok() ? "" : absl::StrCat(": ", why_not_ncu.message()), ".\n");
}

absl::StatusOr<std::optional<RecordFile>> OpenCounts(ProfileSource source,
                                                     const SweepOptions& options) {
  const std::string path = ResolvePath(absl::GetFlag(FLAGS_counts_csv));
  if (path.empty()) return std::nullopt;
  if (source != ProfileSource::kBoth) {
    return RefuseFlag("--counts_csv", path, "without --source=both");
  }
  const CsvMode mode = options.resume ? CsvMode::kResume : CsvMode::kReplace;
  ASSIGN_OR_RETURN(RecordFile file, RecordFile::Create(path, CountHeader(), mode));
  return std::optional<RecordFile>(std::move(file));
}

absl::StatusOr<std::optional<RecordFile>> OpenPredicted(ProfileSource source,
                                                        const SweepOptions& options) {
  const std::string path = ResolvePath(absl::GetFlag(FLAGS_predicted_csv));
  if (path.empty()) return std::nullopt;
  if (source != ProfileSource::kExecutor) {
    return RefuseFlag("--predicted_csv", path, "without --source=executor");
  }
  const CsvMode mode = options.resume ? CsvMode::kResume : CsvMode::kReplace;
  ASSIGN_OR_RETURN(RecordFile file, RecordFile::Create(path, PredictedHeader(), mode));
  return std::optional<RecordFile>(std::move(file));
}

// Flags of the sweeps that a profile does not use: it times, copies and verifies nothing.
std::vector<std::string> UnusedFlags() {
  return {"counters",    "host_memory",      "max_noise", "max_row_seconds",
          "max_seconds", "memory_behaviour", "threads",   "verify"};
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const SweepOptions options, SweepOptionsFromFlags("profile.csv"));
  ASSIGN_OR_RETURN(const Operation* operation, FindOperation(absl::GetFlag(FLAGS_operation)));
  ASSIGN_OR_RETURN(PlanFlags flags, PlanFlagsFor(*operation, AllOperations()));
  if (flags.blocks.empty()) flags.blocks = "16x16";
  if (options.list) {
    std::cout << ListText(*operation);
    return kExitOk;
  }
  if (absl::GetFlag(FLAGS_run_once)) {
    ASSIGN_OR_RETURN(const std::vector<Config> plan,
                     MakePlan(*operation, ProfilePreset(*operation, ProfileSource::kNcu), flags));
    if (plan.size() == 1) return RunOnceUnderNcu(plan.front(), options);
    return absl::InvalidArgumentError(absl::StrCat(
        "--run_once: ", plan.size(), " configurations are not allowed; allowed is one"));
  }
  ASSIGN_OR_RETURN(const std::optional<ProfileSource> wanted,
                   ParseProfileSource("--source", absl::GetFlag(FLAGS_source)));
  ASSIGN_OR_RETURN(const executor::MachineModel* predicted_machine,
                   executor::FindMachine("--machine", absl::GetFlag(FLAGS_machine)));
  const absl::StatusOr<std::string> ncu = FindNcu(absl::GetFlag(FLAGS_ncu));
  if (!ncu.ok() && !absl::GetFlag(FLAGS_ncu).empty()) return ncu.status();
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  const absl::Status why_not_ncu =
      machine->gpu_status().ok() ? ncu.status() : machine->gpu_status();
  const ProfileSource source =
      wanted.value_or(why_not_ncu.ok() ? ProfileSource::kNcu : ProfileSource::kExecutor);
  ASSIGN_OR_RETURN(const std::vector<Config> plan,
                   MakePlan(*operation, ProfilePreset(*operation, source), flags));
  ASSIGN_OR_RETURN(std::optional<RecordFile> counts_file, OpenCounts(source, options));
  ASSIGN_OR_RETURN(std::optional<RecordFile> predicted_file, OpenPredicted(source, options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(plan.size())));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n");
  sweep->Print(SourceText(source, wanted.has_value() ? absl::OkStatus() : why_not_ncu));
  KernelProfiler profiler(source, &options, machine.get(), ncu);
  std::vector<ComparedRow> compared;
  std::vector<PredictedRow> predicted;
  for (const Config& config : plan) {
    if (Interrupted()) break;
    absl::Status written;
    RETURN_IF_ERROR(sweep->Run(profiler.Describe(config), [&](ResultRow* row) {
      profiler.Measure(config, row);
      if (source == ProfileSource::kExecutor && row->Get(Column::kStatus) == "ok") {
        const auto demand = PredictedDemand(config, *predicted_machine);
        if (!demand.ok()) return;  // What ran whole also runs in parts.
        predicted.push_back({*row, executor::PredictTime(*demand, *predicted_machine)});
        if (!predicted_file.has_value()) return;
        written.Update(
            predicted_file->Write(PredictedRecord(predicted.back(), predicted_machine->name)));
      }
      if (!profiler.comparison().has_value()) return;
      compared.push_back({*row, *profiler.comparison()});
      if (!counts_file.has_value()) return;
      for (const std::vector<std::string>& record : CountRecords(compared.back())) {
        written.Update(counts_file->Write(record));
      }
    }));
    RETURN_IF_ERROR(written);
  }
  sweep->Print(sweep->SkippedText() + ProfileTable(sweep->rows()) + ReasonTable(sweep->rows()) +
               CountTable(compared) + PredictedTable(predicted, predicted_machine->description));
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram,
                                 stridewise::UnusedFlags());
}

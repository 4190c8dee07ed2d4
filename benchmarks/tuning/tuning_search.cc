#include "benchmarks/tuning/tuning_search.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/row_comparison.h"
#include "benchmarks/harness/runner.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/matmul/product.h"
#include "benchmarks/tuning/tuning_fit.h"
#include "benchmarks/tuning/tuning_plan.h"
#include "benchmarks/tuning/tuning_report.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"
#include "matmul/dispatch.h"

namespace stridewise {
namespace {

constexpr double kWarmupSeconds = 0.05;  // The rows follow each other: the clock stays up.

absl::Status CannotWrite(const std::string& path, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("--tuning: cannot write \"", path, "\": ", reason));
}

// What can be said before anything is measured.
absl::Status CheckTuningPath(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return CannotWrite(path, "it is a folder");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return absl::OkStatus();
  return CannotWrite(path, "its folder does not exist");
}

absl::Status WriteTuning(const std::string& path, const std::string& line) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    std::filesystem::rename(path, path + ".bak", error);
    if (error) return CannotWrite(path + ".bak", error.message());
  }
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return CannotWrite(path, std::strerror(errno));
  const bool written = std::fwrite(line.data(), 1, line.size(), file) == line.size();
  if (std::fclose(file) == 0 && written) return absl::OkStatus();
  return CannotWrite(path, std::strerror(errno));
}

void MeasureUnlessHopeless(const Config& config, const Machine& machine, Runner* runner,
                           ResultRow* row) {
  if (machine.gpu_status().ok()) {
    const DeviceInfo& device = machine.device();
    if (IsHopeless(config, 10 * device.compute_major + device.compute_minor)) {
      machine.Describe(/*device_row=*/true, row);
      row->SetStatus(RowStatus::kSkipped, "pruned: hopeless for so large a product");
      return;
    }
  }
  runner->Measure(config, {}, row);
}

// The plan's rows that are ok, and the device that they are of.
struct Measured {
  std::vector<MatMulTimes> times;
  std::string device;
  int compute_capability = 0;
};

// "sm_90" is 90.
absl::StatusOr<int> ParseComputeCapability(const std::string& text) {
  absl::string_view digits = text;
  int number = 0;
  if (absl::ConsumePrefix(&digits, "sm_") && absl::SimpleAtoi(digits, &number)) return number;
  return absl::InvalidArgumentError(
      absl::StrCat("--csv: a row has the compute capability '", text, "'; sm_90 would be one"));
}

absl::StatusOr<Measured> ReadTimes(const std::vector<Config>& plan,
                                   const std::vector<ResultRow>& rows, const Runner& runner) {
  std::map<std::string, const ResultRow*> by_key;
  for (const ResultRow& row : rows) by_key.emplace(RowKey(row), &row);
  const auto problem = [](const Config& config) {
    return std::pair(config.point.extents, config.point.batch);
  };
  Measured measured;
  const Config* before = nullptr;
  for (const Config& config : plan) {
    if (before == nullptr || problem(*before) != problem(config)) {
      measured.times.push_back({GaplessArgs(config.point), {}});
    }
    before = &config;
    const auto found = by_key.find(RowKey(runner.Describe(config)));
    if (found == by_key.end() || !IsOk(*found->second)) continue;
    const ResultRow& row = *found->second;
    if (measured.device.empty()) {
      measured.device = row.Get(Column::kDevice);
      ASSIGN_OR_RETURN(measured.compute_capability,
                       ParseComputeCapability(row.Get(Column::kComputeCapability)));
    } else if (measured.device != row.Get(Column::kDevice)) {
      return absl::InvalidArgumentError(absl::StrCat("--csv: it has rows of ", measured.device,
                                                     " and of ", row.Get(Column::kDevice),
                                                     "; thresholds are those of one device"));
    }
    measured.times.back().ms.emplace(config.implementation->name, KernelMs(row));
  }
  return measured;
}

absl::Status FitAndWrite(const std::vector<Config>& plan, const Runner& runner,
                         const std::string& path, Sweep* sweep) {
  ASSIGN_OR_RETURN(const Measured measured, ReadTimes(plan, sweep->rows(), runner));
  if (measured.device.empty()) {
    sweep->Print("No tuning is written: none of these rows is ok.\n");
    return absl::OkStatus();
  }
  const MatMulTuning& present = TuningFor(measured.compute_capability);
  const MatMulTuning fitted = FitTuning(measured.times, measured.compute_capability, present);
  const std::string line = TuningLine(fitted);
  sweep->Print(TuningReport(measured.times, present, fitted));
  sweep->Print(absl::StrCat("For matmul/tuning.inc, from ", measured.device, ":\n", line));
  if (path.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(WriteTuning(path, line));
  sweep->Print(absl::StrCat("Line in ", path, "\n"));
  return absl::OkStatus();
}

}  // namespace

std::string TuningListText() {
  std::string text =
      "auto runs the first of these that applies; the thresholds are searched for:\n";
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    absl::StrAppendFormat(&text, "  %-18s %s\n", row.implementation, row.when);
  }
  for (const MatMulTuning& tuning : MatMulTunings()) absl::StrAppend(&text, TuningLine(tuning));
  return text;
}

absl::StatusOr<int> RunTuningSearch(const SweepOptions& options, const TuningSearchFlags& flags) {
  if (!flags.types.empty() && flags.types != "float") {
    return absl::InvalidArgumentError(
        absl::StrCat("--types: '", flags.types, "' is not allowed; auto multiplies float"));
  }
  const std::string path = ResolvePath(flags.tuning);
  RETURN_IF_ERROR(CheckTuningPath(path));
  ASSIGN_OR_RETURN(const std::vector<Config> plan, MakeTuningPlan(flags.sizes, flags.shapes));
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(plan.size())));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n");
  SweepOptions brief = options;
  brief.sampling.max_warmup_seconds = kWarmupSeconds;
  Runner runner(&brief, machine.get());
  for (const Config& config : plan) {
    if (Interrupted()) break;
    RETURN_IF_ERROR(sweep->Run(runner.Describe(config), [&](ResultRow* row) {
      MeasureUnlessHopeless(config, *machine, &runner, row);
    }));
  }
  sweep->Print(sweep->SkippedText());
  if (Interrupted()) {
    sweep->Print("No tuning is written: not all is measured; --resume goes on.\n");
  } else {
    RETURN_IF_ERROR(FitAndWrite(plan, runner, path, sweep.get()));
  }
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace stridewise

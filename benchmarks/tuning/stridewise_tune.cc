// Fits the choice of MatMul() to this machine's GPU: measures the kernels that `auto` chooses among
// at random products, fits the constants of its predictions, says how good they are at products
// that they were not fitted to, and writes a tuning file.
//
//   bazel run //benchmarks/tuning:stridewise_tune -- --tuning=my_gpu.tuning
//   STRIDEWISE_TUNING=my_gpu.tuning my_program
//
// docs/tuning.md describes it.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/tuning/fit_tuning.h"
#include "benchmarks/tuning/kernel_times.h"
#include "benchmarks/tuning/time_kernels.h"
#include "benchmarks/tuning/tune_report.h"
#include "common/base/clock.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/measure/git_commit.h"
#include "matmul/dispatch.h"

ABSL_FLAG(std::string, csv, "stridewise_tune.csv",
          "The file of the measured times. One that is there is kept as .bak.");
ABSL_FLAG(bool, resume, false, "Go on with the products that --csv does not have yet.");
ABSL_FLAG(
    std::string, kernels, "",
    "Measure only these kernels, a list, and fit nothing: their times take the place of older "
    "ones where --from_csv names this file behind that of the others, of the same --seed. With "
    "--from_csv: fit only these, beside the present tuning of the others.");
ABSL_FLAG(
    int, on_top, 0,
    "With --from_csv and --kernels: leave the constants of these kernels as they are, and add "
    "this number of corrections, 1 to 150. 0: fit from nothing.");
ABSL_FLAG(std::string, from_csv, "",
          "Measure nothing, and fit the times of these files, a list. Needs no GPU.");
ABSL_FLAG(std::string, tuning, "", "The tuning file to write. One that is there is replaced.");
ABSL_FLAG(std::string, regret_csv, "",
          "A file for the distribution of the regret. One that is there is kept as .bak.");
ABSL_FLAG(int, count, 5000, "The number of random products, 10 to 100000.");
ABSL_FLAG(uint64_t, seed, 1, "Of the random products.");
ABSL_FLAG(double, seconds, 480, "Measuring ends after this time, whatever is left. 1 to 86400.");
ABSL_FLAG(int, device, 0, "The GPU.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "stridewise_tune: measures the kernels of MatMul() on this machine's GPU and writes a tuning "
    "file, by which programs choose among them if STRIDEWISE_TUNING names it.";

constexpr size_t kWorst = 10;

// Of five products one is held out.
constexpr int64_t kParts = 5;

struct Flags {
  std::vector<std::string> from_csv;
  std::set<std::string> kernels;  // Empty: all.
  int on_top = 0;
  std::string csv, tuning;
  int count = 0;
  double seconds = 0;
};

absl::StatusOr<Flags> FlagsFromCommandLine() {
  Flags flags;
  const std::string from_csv = absl::GetFlag(FLAGS_from_csv);
  if (!from_csv.empty()) {
    for (const absl::string_view path : absl::StrSplit(from_csv, ',')) {
      flags.from_csv.push_back(ResolvePath(path));
    }
  }
  for (const absl::string_view name :
       absl::StrSplit(absl::GetFlag(FLAGS_kernels), ',', absl::SkipEmpty())) {
    std::vector<std::string> allowed;
    for (const MatMulDispatch& row : MatMulDispatchTable()) {
      allowed.emplace_back(row.implementation);
    }
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      return RefuseValue("--kernels", name, absl::StrJoin(allowed, ", "));
    }
    flags.kernels.emplace(name);
  }
  flags.on_top = absl::GetFlag(FLAGS_on_top);
  constexpr int kMostOnTop = 150;
  RETURN_IF_ERROR(CheckRange("--on_top", flags.on_top, 0, kMostOnTop));
  if (flags.on_top > 0 && (flags.kernels.empty() || flags.from_csv.empty())) {
    return absl::InvalidArgumentError("--on_top: needs --from_csv and --kernels");
  }
  flags.csv = ResolvePath(absl::GetFlag(FLAGS_csv));
  flags.tuning = ResolvePath(absl::GetFlag(FLAGS_tuning));
  flags.count = absl::GetFlag(FLAGS_count);
  flags.seconds = absl::GetFlag(FLAGS_seconds);
  constexpr int kLeastCount = 10;
  constexpr int kMostCount = 100000;
  constexpr double kMostSeconds = 86400;
  RETURN_IF_ERROR(CheckRange("--count", flags.count, kLeastCount, kMostCount));
  RETURN_IF_ERROR(CheckRange("--seconds", flags.seconds, 1, kMostSeconds));
  return flags;
}

// Measures what the file does not have yet.
absl::Status Measure(const Flags& flags) {
  const bool resume = absl::GetFlag(FLAGS_resume) && std::ifstream(flags.csv).good();
  std::set<std::pair<uint64_t, int64_t>> known;
  if (resume) {
    ASSIGN_OR_RETURN(const TuneData data, ReadTuneData({flags.csv}));
    for (const ShapeTimes& shape : data.shapes) known.emplace(shape.shape.seed, shape.shape.number);
  }
  ASSIGN_OR_RETURN(const std::vector<TuneShape> shapes,
                   DrawTuneShapes(flags.count, absl::GetFlag(FLAGS_seed)));
  ASSIGN_OR_RETURN(const DeviceInfo device, OpenDevice(absl::GetFlag(FLAGS_device)));
  ASSIGN_OR_RETURN(const std::unique_ptr<GpuTimer> timer,
                   GpuTimer::Create(device, /*cold_l2=*/true));
  const SteadyClock clock;
  const double start = clock.Now();
  ASSIGN_OR_RETURN(const std::unique_ptr<KernelTimer> kernel_timer,
                   KernelTimer::Create(device, flags.kernels, timer.get()));
  ASSIGN_OR_RETURN(
      RecordFile file,
      RecordFile::Create(flags.csv, TuneHeader(), resume ? CsvMode::kResume : CsvMode::kReplace));
  CatchInterrupts();
  std::cout << device.name << ": up to " << flags.count << " random products in " << flags.seconds
            << " s" << std::endl;
  int measured = 0;
  for (const TuneShape& shape : shapes) {
    if (Interrupted() || clock.Now() - start > flags.seconds) break;
    if (known.count({shape.seed, shape.number}) > 0) continue;
    ASSIGN_OR_RETURN(const ShapeTimes times, kernel_timer->Measure(shape));
    for (const auto& record : TuneRecords(device.name, kernel_timer->model(), times)) {
      RETURN_IF_ERROR(file.Write(record));
    }
    ++measured;
  }
  std::cout << absl::StrFormat("%d products measured in %.0f s; times in %s", measured,
                               clock.Now() - start, flags.csv)
            << std::endl;
  return absl::OkStatus();
}

absl::Status CannotWrite(absl::string_view flag, const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": cannot write \"", path, "\""));
}

// Refuses a file that could not be written after minutes of measuring. Leaves files as they are.
absl::Status CheckCanWrite(absl::string_view flag, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  const bool is_there = std::ifstream(path).good();
  const bool opens = std::ofstream(path, std::ios::app).good();
  if (opens && !is_there) std::remove(path.c_str());
  return opens ? absl::OkStatus() : CannotWrite(flag, path);
}

absl::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file ? absl::OkStatus() : CannotWrite("--tuning", path);
}

absl::Status WriteRegret(const std::string& path, const std::vector<TitledChoices>& choices) {
  if (path.empty()) return absl::OkStatus();
  std::vector<std::vector<std::string>> records = RegretRecords(choices);
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].emplace_back(i == 0 ? "git_commit" : GitCommit());
  }
  ASSIGN_OR_RETURN(RecordFile file, RecordFile::Create(path, records.front(), CsvMode::kReplace));
  for (size_t i = 1; i < records.size(); ++i) RETURN_IF_ERROR(file.Write(records[i]));
  return absl::OkStatus();
}

absl::Status Fit(const Flags& flags, const std::vector<std::string>& paths) {
  ASSIGN_OR_RETURN(const TuneData data, ReadTuneData(paths));
  std::vector<const ShapeTimes*> all, fitted, held_out;
  for (const ShapeTimes& shape : data.shapes) {
    all.push_back(&shape);
    (shape.shape.number % kParts == kParts - 1 ? held_out : fitted).push_back(&shape);
  }
  if (fitted.empty() || held_out.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("too few products for a fit: ", data.shapes.size()));
  }
  // A tuning of a similar device knows more products than are measured here in minutes.
  const MatMulTuning present = ForMemoryRate(TuningFor(data.model), data.model.memory_gbps);
  const MatMulChooser by_present(present);
  const MatMulTuning* start = nullptr;
  const auto fit_kernels = [&](const std::vector<const ShapeTimes*>& shapes) {
    return flags.kernels.empty() ? FitTuning(data, shapes)
                                 : FitKernels(data, shapes, present, flags.kernels, flags.on_top);
  };
  MatMulChooser by_trial(fit_kernels(fitted));
  std::vector<TuneChoice> judged = ChoicesOf(by_trial, data.model, held_out);
  if (flags.kernels.empty() && present.compute_capability == data.model.compute_capability) {
    MatMulChooser by_more(FitTuning(data, fitted, &present, kOnTop));
    std::vector<TuneChoice> by_more_judged = ChoicesOf(by_more, data.model, held_out);
    if (MeanRegret(by_more_judged) < MeanRegret(judged)) {
      start = &present;
      by_trial = std::move(by_more);
      judged = std::move(by_more_judged);
    }
  }
  const std::vector<TitledChoices> all_choices = {
      {"fitted", ChoicesOf(by_trial, data.model, fitted)},
      {"held out", judged},
      {"before", ChoicesOf(by_present, data.model, held_out)}};
  std::cout << data.device << ", " << data.shapes.size()
            << " products: time of the chosen kernel over that of the best\n"
            << RegretTable(all_choices) << "\nFitted "
            << (!flags.kernels.empty() ? absl::StrCat(absl::StrJoin(flags.kernels, ", "), " alone")
                : start == nullptr     ? "from nothing"
                                       : absl::StrCat("on top of ", start->device))
            << ".\nThe worst of those held out:\n"
            << WorstChoices(judged, kWorst);
  RETURN_IF_ERROR(WriteRegret(ResolvePath(absl::GetFlag(FLAGS_regret_csv)), all_choices));
  if (flags.tuning.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(WriteText(
      flags.tuning,
      TuningText(start == nullptr ? fit_kernels(all) : FitTuning(data, all, start, kOnTop))));
  std::cout << "\nTuning, fitted to all products, in " << flags.tuning
            << "\nTo use it: " << kTuningVariable << "=" << flags.tuning << std::endl;
  return absl::OkStatus();
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const Flags flags, FlagsFromCommandLine());
  RETURN_IF_ERROR(CheckCanWrite("--tuning", flags.tuning));
  RETURN_IF_ERROR(CheckCanWrite("--regret_csv", ResolvePath(absl::GetFlag(FLAGS_regret_csv))));
  if (!TuningFileStatus().ok()) std::cerr << TuningFileStatus().message() << std::endl;
  if (flags.from_csv.empty()) RETURN_IF_ERROR(Measure(flags));
  if (Interrupted()) {
    std::cout << "No tuning is written: not all is measured; --resume goes on." << std::endl;
    return kExitInterrupted;
  }
  if (flags.from_csv.empty() && !flags.kernels.empty()) return kExitOk;
  RETURN_IF_ERROR(
      Fit(flags, flags.from_csv.empty() ? std::vector<std::string>{flags.csv} : flags.from_csv));
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram,
                                 stridewise::AxisFlagsOf({&stridewise::MatMulOperation()}));
}

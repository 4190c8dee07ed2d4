// How fast the host executor is: a handful of kernels with and without its checks and its profile,
// on one core and on all of them.
//
//   bazel run //benchmarks:executor_speed
//   bazel run //benchmarks:executor_speed -- --csv=speed.csv

#include <algorithm>
#include <iostream>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/executor_run.h"
#include "benchmarks/harness/implementations_flag.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/operations.h"
#include "common/base/clock.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"
#include "common/base/table.h"
#include "common/executor/executor.h"
#include "common/measure/git_commit.h"

ABSL_FLAG(std::string, csv, "",
          "Also write the table to this file, or to standard output for -. One that is there is "
          "kept as .bak.");
ABSL_FLAG(std::string, modes, "*",
          "Globs, separated by commas: all, checks, profile, neither; see docs/host_executor.md.");
ABSL_FLAG(int, repeats, 3, "Runs of each row, of which the fastest counts. 1 to 1000.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "executor_speed: times the host executor, with and without checks and profile, on one core and "
    "on all.";

constexpr struct {
  const char* operation;
  const char* kernel;
  const char* shape;
} kSubjects[] = {
    {"transpose", "copy_row", "1024x1024"},      {"transpose", "naive_row", "1024x1024"},
    {"transpose", "tile_unrolled", "1024x1024"}, {"matmul", "naive", "256x256x256"},
    {"matmul", "naive", "512x512x512"},          {"matmul", "tiled", "256x256x256"},
};

constexpr struct {
  const char* name;
  bool check;
  bool profile;
} kModes[] = {
    {"all", true, true},
    {"checks", true, false},
    {"profile", false, true},
    {"neither", false, false},
};

// The fastest of some runs, and the events that one has: counted where it profiles.
struct Timing {
  double seconds = std::numeric_limits<double>::infinity();
  uint64_t events = 0;
};

absl::StatusOr<Timing> Time(const Config& config, const executor::ExecutorOptions& options,
                            int repeats) {
  const SteadyClock clock;
  ASSIGN_OR_RETURN(ExecutorRun run, ExecutorRun::Create(config, /*seed=*/1, options));
  Timing timing;
  for (int i = 0; i < repeats; ++i) {
    const double start = clock.Now();
    RETURN_IF_ERROR(run.Run());
    timing.seconds = std::min(timing.seconds, clock.Now() - start);
  }
  timing.events = run.Profile().events;
  return timing;
}

// Prints each line as it comes, and writes it to the file if there is one.
class Report {
 public:
  explicit Report(std::optional<RecordFile> file, std::ostream* out)
      : file_(std::move(file)),
        table_({{"kernel", 14, false},
                {"shape", 11, false},
                {"cores", 5, true},
                {"mode", 7, false},
                {"seconds", 8, true},
                {"events", 10, true},
                {"ns/event", 8, true}},
               out) {
    table_.PrintHeader();
  }

  static std::vector<std::string> Header() {
    return {"git_commit", "implementation", "shape",  "cores",
            "mode",       "seconds",        "events", "ns_per_event"};
  }

  absl::Status Add(const Config& config, int cores, const char* mode, const Timing& timing) {
    const double ns = 1e9 * timing.seconds / static_cast<double>(timing.events);
    const std::string name = config.implementation->name;
    const std::string shape = ShapeText(config);
    table_.PrintRow({name, shape, absl::StrCat(cores), mode,
                     absl::StrFormat("%.4f", timing.seconds), absl::StrCat(timing.events),
                     absl::StrFormat("%.2f", ns)});
    if (!file_.has_value()) return absl::OkStatus();
    return file_->Write({std::string(GitCommit()), name, shape, absl::StrCat(cores), mode,
                         absl::StrCat(timing.seconds), absl::StrCat(timing.events),
                         absl::StrCat(ns)});
  }

 private:
  std::optional<RecordFile> file_;
  Table table_;
};

absl::StatusOr<uint64_t> CountEvents(const Config& config) {
  ASSIGN_OR_RETURN(const Timing timing, Time(config, {}, /*repeats=*/1));
  return timing.events;
}

absl::Status MeasureAll(const Config& config, const std::vector<size_t>& modes, int cores,
                        int repeats, Report* report) {
  ASSIGN_OR_RETURN(const uint64_t events, CountEvents(config));
  for (const size_t selected : modes) {
    const auto& mode = kModes[selected];
    if (Interrupted()) return absl::OkStatus();
    executor::ExecutorOptions options;
    options.check = mode.check;
    options.profile = mode.profile;
    options.threads = cores;
    ASSIGN_OR_RETURN(Timing timing, Time(config, options, repeats));
    timing.events = events;  // The same work, counted or not.
    RETURN_IF_ERROR(report->Add(config, cores, mode.name, timing));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Config>> SelectedConfigs() {
  std::vector<std::string> names;
  for (const auto& subject : kSubjects) names.emplace_back(subject.kernel);
  ASSIGN_OR_RETURN(const ImplementationsFlag flag, GetImplementationsFlag());
  ASSIGN_OR_RETURN(const std::vector<size_t> selected, SelectByGlob(flag.name, flag.text, names));
  std::vector<Config> configs;
  for (const size_t i : selected) {
    ASSIGN_OR_RETURN(const Operation* operation, FindOperation(kSubjects[i].operation));
    Preset preset;
    preset.selections = {Selection(kSubjects[i].kernel).Shapes(kSubjects[i].shape)};
    ASSIGN_OR_RETURN(const std::vector<Config> plan, MakePlan(*operation, preset, {}));
    configs.push_back(plan.front());
  }
  return configs;
}

absl::StatusOr<int> RunProgram() {
  const int repeats = absl::GetFlag(FLAGS_repeats);
  RETURN_IF_ERROR(CheckRange("--repeats", repeats, 1, 1000));
  ASSIGN_OR_RETURN(const std::vector<Config> configs, SelectedConfigs());
  std::vector<std::string> names;
  for (const auto& mode : kModes) names.emplace_back(mode.name);
  ASSIGN_OR_RETURN(const std::vector<size_t> modes,
                   SelectByGlob("--modes", absl::GetFlag(FLAGS_modes), names));
  const std::string path = ResolvePath(absl::GetFlag(FLAGS_csv));
  std::optional<RecordFile> file;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(file, RecordFile::Create(path, Report::Header(), CsvMode::kReplace));
  }
  CatchInterrupts();
  Report report(std::move(file), path == "-" ? &std::cerr : &std::cout);
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (const Config& config : configs) {
    for (const int cores : std::set<int>{1, all}) {
      RETURN_IF_ERROR(MeasureAll(config, modes, cores, repeats, &report));
    }
  }
  return Interrupted() ? kExitInterrupted : kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram,
                                 stridewise::AxisFlagsOf(stridewise::AllOperations()));
}

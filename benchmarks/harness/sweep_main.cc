#include "benchmarks/harness/sweep_main.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/beyond_card.h"
#include "benchmarks/harness/grid_rows.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/limits.h"
#include "benchmarks/harness/listing.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/memory_behaviour.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/plan_flags.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/random_report.h"
#include "benchmarks/harness/random_shapes.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/harness/row_columns.h"
#include "benchmarks/harness/runner.h"
#include "benchmarks/harness/speedups.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_counters.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/base/flag_parsing.h"
#include "common/base/host_threads.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/measure/host_counters.h"

ABSL_FLAG(std::string, preset, "",
          "What to measure, by name; --list shows the presets. Empty for the program's own.");
ABSL_FLAG(
    std::string, pair_with, "",
    "Sample this implementation in turn with each device row, instead of the preset's; --list "
    "shows what is allowed and which column the ratio goes to.");
ABSL_FLAG(std::string, limits_csv, "",
          "With --preset=limits: a file for the verdicts. One that is there is kept as .bak.");
ABSL_FLAG(std::string, count, "", "With --preset=random: the number of shapes (100), 1 to 100000.");
ABSL_FLAG(std::string, shape_family, "",
          "With --preset=random: what shapes are drawn from --seed. log_uniform: extents whose "
          "logarithm is uniform. batched: batches of smaller problems. model: those of common "
          "networks. all (what is usual): log_uniform as often as the other two together.");
ABSL_FLAG(std::string, least_flops, "",
          "With --preset=random: no shapes of fewer operations than this, such as 2e9.");
ABSL_FLAG(std::string, distribution_csv, "",
          "With --preset=random: a file for the distribution. One that is there is kept as .bak.");
ABSL_FLAG(
    std::string, worst, "",
    "With --preset=random: the number of the slowest shapes (10) that are shown, and at which "
    "all kernels are measured that the call chooses among. 0 to 1000.");

namespace stridewise {
namespace {

// Returns the peer that --pair_with, the preset or the operation names; null for none.
absl::StatusOr<const Peer*> PeerFor(const Operation& operation, const Preset& preset) {
  const std::string flag = absl::GetFlag(FLAGS_pair_with);
  if (flag.empty()) {
    return operation.FindPeer(preset.pair_with.empty() ? operation.usual_peer() : preset.pair_with);
  }
  if (const Peer* peer = operation.FindPeer(flag)) return peer;
  return RefuseValue(
      "--pair_with", flag,
      absl::StrJoin(operation.peers(), ", ", [&](std::string* out, const Peer& peer) {
        out->append(peer.implementation);
        if (peer.otherwise == nullptr || flag != peer.otherwise) return;
        absl::StrAppend(out, " (with ", flag, " where that takes no such product)");
      }));
}

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
  ASSIGN_OR_RETURN(RecordFile file, RecordFile::Create(path, header, CsvMode::kReplace));
  return std::optional<RecordFile>(std::move(file));
}

// Writes the records behind the header, which the file has. Nothing without a file.
absl::Status WriteRecords(const std::vector<std::vector<std::string>>& records,
                          std::optional<RecordFile>* file) {
  if (!file->has_value()) return absl::OkStatus();
  for (size_t i = 1; i < records.size(); ++i) RETURN_IF_ERROR((*file)->Write(records[i]));
  return absl::OkStatus();
}

// Returns what the random shapes are judged by: the call that chooses a kernel or, where
// --implementations names a single other one, that.
RandomShapes Judged(const RandomShapes& random, const std::vector<Config>& plan) {
  RandomShapes judged = random;
  if (plan.empty()) return judged;
  const std::string& first = plan.front().implementation->name;
  const auto is_first = [&](const Config& config) { return config.implementation->name == first; };
  if (std::all_of(plan.begin(), plan.end(), is_first)) judged.chooser = first;
  return judged;
}

// Reads --worst.
absl::StatusOr<int> WorstFromFlags(bool is_random) {
  const std::string text = absl::GetFlag(FLAGS_worst);
  int worst = 10;
  if (text.empty()) return worst;
  if (!is_random) {
    return RefuseFlag("--worst", text, absl::StrCat("without --preset=", kRandomPreset));
  }
  if (absl::SimpleAtoi(text, &worst) && worst >= 0 && worst <= 1000) return worst;
  return RefuseValue("--worst", text, "0 to 1000");
}

// Judges all that the file of results holds. A limit that is missed is a finding, not a failure.
absl::Status ReportLimits(const Operation& operation, const std::string& preset, Sweep* sweep,
                          std::optional<RecordFile>* file) {
  ASSIGN_OR_RETURN(const std::vector<LimitVerdict> verdicts,
                   JudgeLimits(operation, sweep->rows(), preset));
  sweep->Print(LimitTable(operation, verdicts, preset));
  return WriteRecords(LimitRecords(operation, verdicts, preset), file);
}

// Returns what --gpus measures; null without the flag.
const GridRows* GridRowsAsked(const SweepProgram& program) {
  const bool asked =
      program.on_gpus != nullptr && !program.on_gpus->operation().axes().front().given().empty();
  return asked ? program.on_gpus : nullptr;
}

// Refuses the flags of axes that `other` has and `operation` has not.
absl::Status RefuseAxesOf(const Operation& other, const Operation& operation,
                          absl::string_view why) {
  const auto has = [&](const Axis& axis) {
    return std::any_of(operation.axes().begin(), operation.axes().end(),
                       [&](const Axis& own) { return absl::string_view(own.flag) == axis.flag; });
  };
  for (const Axis& axis : other.axes()) {
    if (has(axis) || axis.given().empty()) continue;
    return RefuseFlag(absl::StrCat("--", axis.flag), axis.given(), why);
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunSweep(const Operation& on_one_gpu, const SweepProgram& program) {
  const GridRows* const grid_rows = GridRowsAsked(program);
  const Operation& operation = grid_rows == nullptr ? on_one_gpu : grid_rows->operation();
  if (grid_rows != nullptr) {
    RETURN_IF_ERROR(RefuseAxesOf(on_one_gpu, operation, "with --gpus"));
  } else if (program.on_gpus != nullptr) {
    RETURN_IF_ERROR(RefuseAxesOf(program.on_gpus->operation(), operation, "without --gpus"));
  }
  ASSIGN_OR_RETURN(SweepOptions options, SweepOptionsFromFlags(absl::StrCat(program.name, ".csv")));
  for (const auto* names : {&options.counters, &options.host_counters}) {
    if (grid_rows == nullptr || names->empty()) continue;
    return RefuseFlag("--counters", absl::StrJoin(*names, ","), "with --gpus");
  }
  const std::string preset_name = absl::GetFlag(FLAGS_preset);
  const std::string usual_preset = grid_rows == nullptr ? program.preset : kGridPreset;
  ASSIGN_OR_RETURN(const Preset preset,
                   FindPreset(operation, preset_name.empty() ? usual_preset : preset_name));
  ASSIGN_OR_RETURN(PlanFlags flags, PlanFlagsFor(operation));
  if (options.list && preset_name.empty() && !NameShapes(operation, flags)) {
    std::cout << ListText(operation,
                          program.on_gpus == nullptr ? nullptr : &program.on_gpus->operation());
    return kExitOk;
  }
  flags.seed = options.seed;
  options.shard = flags.shard;
  flags.count = absl::GetFlag(FLAGS_count);
  flags.shape_family = absl::GetFlag(FLAGS_shape_family);
  flags.least_flops = absl::GetFlag(FLAGS_least_flops);
  if (flags.implementations.empty()) flags.implementations = program.implementations;
  ASSIGN_OR_RETURN(const std::vector<Config> plan, MakePlan(operation, preset, flags));
  if (options.list) {
    std::cout << PlanText(plan);
    return kExitOk;
  }
  RowOptions wanted;
  wanted.cross_check = preset.cross_check;
  ASSIGN_OR_RETURN(wanted.peer, PeerFor(operation, preset));
  const bool has_limits =
      std::any_of(operation.limits().begin(), operation.limits().end(),
                  [&](const Limit& limit) { return preset.name == limit.preset; });
  const bool is_random = preset.random != nullptr;
  const RandomShapes judged = is_random ? Judged(*preset.random, plan) : RandomShapes();
  ASSIGN_OR_RETURN(const int worst, WorstFromFlags(is_random));
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  std::string why_no_counters;
  ASSIGN_OR_RETURN(const std::unique_ptr<CounterSource> counters,
                   DeviceCountersFor(options, *machine, &why_no_counters));
  wanted.counters = counters.get();
  ASSIGN_OR_RETURN(const HostCounters host_counters, HostCountersFor(options, &why_no_counters));
  if (host_counters.source != nullptr) wanted.host_counters = &host_counters;
  if (options.threads > 0) SetHostThreads(options.threads);
  ASSIGN_OR_RETURN(std::optional<RecordFile> limits_file,
                   OpenRecords("--limits_csv", absl::GetFlag(FLAGS_limits_csv), preset,
                               has_limits ? absl::string_view(preset.name) : kLimitsPreset,
                               LimitRecords(operation, {}, preset.name).front()));
  ASSIGN_OR_RETURN(
      std::optional<RecordFile> distribution_file,
      OpenRecords("--distribution_csv", absl::GetFlag(FLAGS_distribution_csv), preset,
                  is_random ? absl::string_view(preset.name) : kRandomPreset,
                  DistributionRecords(operation, operation.random_shapes(), {}).front()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(plan.size())));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n" + why_no_counters);
  Runner runner(&options, machine.get());
  // Counting takes longer than timing; of random shapes it is for those who ask.
  const bool counts_memory = !is_random || options.memory_behaviour == MemoryBehaviour::kAlways;
  const auto measure_one = [&](const Config& config) {
    ResultRow described = runner.Describe(config);
    if (grid_rows != nullptr) described.Set(Column::kHostMemory, "");  // Copies are not measured.
    return sweep->Run(described, [&](ResultRow* row) {
      if (grid_rows != nullptr) {
        machine->Describe(/*device_row=*/true, row);
        SetOutcome(grid_rows->Measure(config, options, wanted.peer, *machine, row), row);
        return;
      }
      runner.Measure(config, wanted, row);
      if (counts_memory) FillMemoryBehaviour(config, options, row);
      SetSpeedups(operation, sweep->rows(), row);
    });
  };
  const auto measure = [&](const std::vector<Config>& configs) -> absl::Status {
    for (const Config& config : configs) {
      if (Interrupted()) break;
      RETURN_IF_ERROR(measure_one(config));
      const std::optional<Config> beyond = BeyondCard(config);
      if (!beyond.has_value() || !sweep->EndedOutOfMemory(runner.Describe(config))) continue;
      sweep->Expect(1);
      RETURN_IF_ERROR(measure_one(*beyond));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(measure(plan));
  if (is_random) {
    const std::vector<Config> kernels = KernelsAtWorst(operation, judged, sweep->rows(), worst);
    sweep->Expect(static_cast<int>(kernels.size()));
    RETURN_IF_ERROR(measure(kernels));
  }
  sweep->Print(sweep->SkippedText() + (is_random
                                           ? RandomText(operation, judged, sweep->rows(), worst)
                                           : Conclusions(operation, sweep->rows())));
  if (is_random) {
    RETURN_IF_ERROR(
        WriteRecords(DistributionRecords(operation, judged, sweep->rows()), &distribution_file));
  }
  if (has_limits) RETURN_IF_ERROR(ReportLimits(operation, preset.name, sweep.get(), &limits_file));
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace

int SweepMain(int argc, char** argv, const Operation& operation, const SweepProgram& program) {
  SweepProgram named = program;
  if (named.name.empty()) named.name = absl::StrCat(operation.name(), "_sweep");
  const std::string usage = absl::StrCat(
      named.name, ": times and checks ", operation.description(),
      " on this machine's CPU and GPU and writes one CSV row for each configuration.\n\n",
      "For example:\n",                                                               //
      "  ", named.name, "                         what is usual, into a CSV file\n",  //
      "  ", named.name, " --list                  presets and implementations\n",     //
      "  ", named.name, " --preset=random --seed=7 --csv=random.csv\n",
      "      shapes that nobody chose, and how the speeds are distributed\n\n",
      "docs/measuring.md explains what is timed and every column. Ctrl-C loses nothing:\n",
      "--resume goes on where a sweep was stopped.");
  return ProgramMain(argc, argv, usage, [&] { return RunSweep(operation, named); });
}

}  // namespace stridewise

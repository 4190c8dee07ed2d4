// Measures every transpose and copy of the house over shapes, thread blocks and types, into a CSV.
//
//   bazel run //benchmarks:transpose_sweep
//   bazel run //benchmarks:transpose_sweep -- --preset=thin_blocks --csv=thin_blocks.csv
//   bazel run //benchmarks:transpose_sweep -- --shapes=3x4194304 --types=u8,float4
//   bazel run //benchmarks:transpose_sweep -- --shapes=64x64 --batch=4096
//   bazel run //benchmarks:transpose_sweep -- --preset=limits --limits_csv=limits.csv

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/limits_file.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/memory_behaviour.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/transpose/transpose_limits.h"
#include "benchmarks/transpose/transpose_plan.h"
#include "benchmarks/transpose/transpose_runner.h"
#include "benchmarks/transpose/transpose_speedups.h"
#include "benchmarks/transpose/transpose_verdicts.h"
#include "common/base/status_macros.h"
#include "transpose/dispatch.h"
#include "transpose/registry.h"

ABSL_FLAG(std::string, preset, "default", "What to measure, by name; --list shows the presets.");
ABSL_FLAG(std::string, kernels, "",
          "Only these, of the GPU and of the CPU: a list of names and globs such as "
          "'tile_*,cublas_geam'. --list shows the names.");
ABSL_FLAG(std::string, sizes, "",
          "Square sizes instead of the preset's: a list of N, A:B:STEP and A:B:*FACTOR, such as "
          "1024:32768:*2.");
ABSL_FLAG(std::string, shapes, "", "Shapes of the input instead of the preset's, ROWSxCOLS,....");
ABSL_FLAG(std::string, types, "",
          "Element types instead of the preset's: float, int, u8, u16, double, float4 (16 bytes).");
ABSL_FLAG(std::string, blocks, "",
          "Thread blocks XxY,... for the kernels that take any; others run once, with their own.");
ABSL_FLAG(
    std::string, batch, "",
    "Matrices of one run, one behind the other, instead of the preset's (1, of most). Above 1 "
    "only copies and what --list calls batches or in place are measured.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "transpose_sweep: times and checks matrix transposes and copies on this machine's CPU and GPU "
    "and writes one CSV row for each configuration.";

const char* TakesText(const TransposeImplementation& implementation) {
  if (implementation.blocks == Blocks::kAny) return "any block";
  if (implementation.operation == TransposeOperation::kInPlace) {
    return implementation.square_only ? "in place, n^2" : "in place";
  }
  return implementation.batches ? "batches" : "";
}

std::string ListText() {
  std::string text = "Copies, then transposes, from the slowest step to the fastest:\n";
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    absl::StrAppendFormat(&text, "  %-28s %-4s %-13s %s\n", implementation.name,
                          implementation.target.where == Where::kDevice ? "GPU" : "CPU",
                          TakesText(implementation), implementation.summary);
  }
  text += "Presets:\n";
  for (const TransposePreset& preset : TransposePresets()) {
    absl::StrAppendFormat(&text, "  %-28s %s\n", preset.name, preset.description);
  }
  text += "auto runs the first of these that applies:\n";
  for (const TransposeDispatch& row : TransposeDispatchTable()) {
    absl::StrAppendFormat(&text, "  %-28s %s\n", row.implementation, row.when);
  }
  return text;
}

// Judges all that the file of results holds. A limit that is missed is a finding, not a failure.
absl::Status ReportLimits(Sweep* sweep, LimitsFile* file) {
  ASSIGN_OR_RETURN(const std::vector<TransposeVerdict> verdicts,
                   TransposeVerdicts(TransposeLimits(), sweep->rows()));
  sweep->Print(TransposeLimitTable(verdicts));
  for (const TransposeVerdict& verdict : verdicts) {
    RETURN_IF_ERROR(file->Write(TransposeLimitRecord(verdict)));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunSweep() {
  ASSIGN_OR_RETURN(const SweepOptions options, SweepOptionsFromFlags("transpose_sweep.csv"));
  if (options.list) {
    std::cout << ListText();
    return kExitOk;
  }
  TransposePlanFlags flags;
  flags.sizes = absl::GetFlag(FLAGS_sizes);
  flags.shapes = absl::GetFlag(FLAGS_shapes);
  flags.kernels = absl::GetFlag(FLAGS_kernels);
  flags.types = absl::GetFlag(FLAGS_types);
  flags.blocks = absl::GetFlag(FLAGS_blocks);
  flags.batch = absl::GetFlag(FLAGS_batch);
  ASSIGN_OR_RETURN(const TransposePreset* preset, FindTransposePreset(absl::GetFlag(FLAGS_preset)));
  ASSIGN_OR_RETURN(const std::vector<TransposeConfig> plan, MakeTransposePlan(*preset, flags));
  const bool has_limits = absl::string_view(preset->name) == "limits";
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  ASSIGN_OR_RETURN(LimitsFile limits_file, LimitsFile::Open(has_limits, TransposeLimitHeader()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(plan.size())));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n");
  TransposeRunner runner(&options, machine.get());
  for (const TransposeConfig& config : plan) {
    if (Interrupted()) break;
    RETURN_IF_ERROR(sweep->Run(runner.DescribeConfig(config), [&](ResultRow* row) {
      runner.Measure(config, row);
      FillMemoryBehaviour(config, options, row);
      SetTransposeSpeedups(sweep->rows(), row);
    }));
  }
  sweep->Print(sweep->SkippedText() + TransposeConclusions(sweep->rows()));
  if (has_limits) RETURN_IF_ERROR(ReportLimits(sweep.get(), &limits_file));
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunSweep);
}

// Measures every transpose and copy of the house over shapes, thread blocks and types, into a CSV.
//
//   bazel run //benchmarks:transpose_sweep
//   bazel run //benchmarks:transpose_sweep -- --preset=thin_blocks --csv=thin_blocks.csv
//   bazel run //benchmarks:transpose_sweep -- --shapes=3x4194304 --types=u8,float4

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/machine.h"
#include "benchmarks/memory_behaviour.h"
#include "benchmarks/program_main.h"
#include "benchmarks/sweep.h"
#include "benchmarks/sweep_flags.h"
#include "benchmarks/transpose_plan.h"
#include "benchmarks/transpose_runner.h"
#include "benchmarks/transpose_speedups.h"
#include "common/status_macros.h"
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

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "transpose_sweep: times and checks matrix transposes and copies on this machine's CPU and GPU "
    "and writes one CSV row for each configuration.";

std::string ListText() {
  std::string text = "Copies, then transposes, from the slowest step to the fastest:\n";
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    absl::StrAppendFormat(&text, "  %-28s %-4s %-11s %s\n", implementation.name,
                          implementation.where == Where::kDevice ? "GPU" : "CPU",
                          implementation.blocks == Blocks::kAny ? "any block" : "",
                          implementation.summary);
  }
  text += "Presets:\n";
  for (const TransposePreset& preset : TransposePresets()) {
    absl::StrAppendFormat(&text, "  %-28s %s\n", preset.name, preset.description);
  }
  return text;
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
  ASSIGN_OR_RETURN(const TransposePreset* preset, FindTransposePreset(absl::GetFlag(FLAGS_preset)));
  ASSIGN_OR_RETURN(const std::vector<TransposeConfig> plan, MakeTransposePlan(*preset, flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
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
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunSweep);
}

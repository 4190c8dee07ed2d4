// Measures C = A * B in every implementation of the house over sizes and shapes, into a CSV.
//
//   bazel run //benchmarks:matmul_sweep
//   bazel run -c opt //benchmarks:matmul_sweep -- --preset=cublas_vs_eigen --csv=study.csv
//   bazel run -c opt //benchmarks:matmul_sweep -- --sizes=1:5001:10
//   --implementations='eigen*,cublas'

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/machine.h"
#include "benchmarks/matmul_plan.h"
#include "benchmarks/matmul_runner.h"
#include "benchmarks/matmul_speedups.h"
#include "benchmarks/memory_behaviour.h"
#include "benchmarks/program_main.h"
#include "benchmarks/sweep.h"
#include "benchmarks/sweep_flags.h"
#include "common/status_macros.h"

ABSL_FLAG(std::string, preset, "default", "What to measure, by name; --list shows the presets.");
ABSL_FLAG(std::string, sizes, "",
          "Square sizes instead of the preset's: a list of N, A:B:STEP and A:B:*FACTOR, such as "
          "1:5001:10 or 32:4096:*2.");
ABSL_FLAG(std::string, shapes, "",
          "Shapes instead of the preset's, MxNxK,...: C is M x N, K the depth of the sums.");
ABSL_FLAG(std::string, implementations, "",
          "Only these: a list of names and globs such as 'eigen*,cublas'. --list shows the names.");
ABSL_FLAG(std::string, types, "float", "Element types: float, double.");
ABSL_FLAG(std::string, blocks, "",
          "Thread blocks XxY,... for the kernels that take any; others run once, with their own.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "matmul_sweep: times and checks matrix multiplication on this machine's CPU and GPU and writes "
    "one CSV row for each configuration.";

std::string ListText() {
  std::string text = "Implementations, from the slowest step to the fastest:\n";
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    absl::StrAppendFormat(&text, "  %-24s %-6s %-13s %s\n", implementation.name,
                          implementation.where == Where::kDevice ? "GPU" : "CPU",
                          implementation.math, implementation.summary);
  }
  text += "Presets:\n";
  for (const MatMulPreset& preset : MatMulPresets()) {
    absl::StrAppendFormat(&text, "  %-24s %s\n", preset.name, preset.description);
  }
  return text;
}

absl::StatusOr<int> RunSweep() {
  ASSIGN_OR_RETURN(const SweepOptions options, SweepOptionsFromFlags("matmul_sweep.csv"));
  if (options.list) {
    std::cout << ListText();
    return kExitOk;
  }
  MatMulPlanFlags flags;
  flags.sizes = absl::GetFlag(FLAGS_sizes);
  flags.shapes = absl::GetFlag(FLAGS_shapes);
  flags.implementations = absl::GetFlag(FLAGS_implementations);
  flags.types = absl::GetFlag(FLAGS_types);
  flags.blocks = absl::GetFlag(FLAGS_blocks);
  flags.seed = options.seed;
  ASSIGN_OR_RETURN(const MatMulPreset* preset, FindMatMulPreset(absl::GetFlag(FLAGS_preset)));
  ASSIGN_OR_RETURN(const std::vector<MatMulConfig> plan, MakeMatMulPlan(*preset, flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(plan.size())));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n");
  MatMulRunner runner(&options, machine.get());
  for (const MatMulConfig& config : plan) {
    if (Interrupted()) break;
    RETURN_IF_ERROR(sweep->Run(runner.DescribeConfig(config), [&](ResultRow* row) {
      runner.Measure(config, preset->cross_check, row);
      FillMemoryBehaviour(config, options, row);
      SetSpeedups(sweep->rows(), row);
    }));
  }
  sweep->Print(sweep->SkippedText() + MatMulConclusions(sweep->rows()));
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunSweep);
}

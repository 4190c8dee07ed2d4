// Measures matrix multiplication in every implementation of the house over sizes, shapes and forms,
// into a CSV.
//
//   bazel run //benchmarks:matmul_sweep
//   bazel run //benchmarks:matmul_sweep -- --preset=cublas_vs_eigen --csv=study.csv
//   bazel run //benchmarks:matmul_sweep -- --sizes=1:5001:10 --implementations='eigen*,cublas'
//   bazel run //benchmarks:matmul_sweep -- --sizes=4096 --layouts=nn,tn --beta=0.5
//   --pair_with=cublas bazel run //benchmarks:matmul_sweep -- --preset=limits
//   --limits_csv=limits.csv

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/limits_file.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/memory_behaviour.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/matmul/matmul_limits.h"
#include "benchmarks/matmul/matmul_plan.h"
#include "benchmarks/matmul/matmul_presets.h"
#include "benchmarks/matmul/matmul_runner.h"
#include "benchmarks/matmul/matmul_speedups.h"
#include "benchmarks/matmul/matmul_verdicts.h"
#include "common/base/status_macros.h"
#include "matmul/dispatch.h"

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

ABSL_FLAG(
    std::string, layouts, "",
    "How the operands are stored, instead of the preset's (nn, of most): a list of nn, nt, tn "
    "and tt, t for transposed, A's first; with _col, as in tn_col, for column-major matrices.");
ABSL_FLAG(std::string, alpha, "", "C = alpha * A * B + beta * C. Instead of the preset's 1.");
ABSL_FLAG(std::string, beta, "", "As --alpha. Instead of the preset's (0, of most).");
ABSL_FLAG(std::string, batch, "",
          "Multiplications of one run, instead of the preset's (1, of most). Above 1, and in any "
          "other form than A * B, only what --list calls general is measured.");
ABSL_FLAG(
    std::string, pair_with, "",
    "cublas: sample cuBLAS in turn with each device row, for the column vs_cublas. The preset "
    "limits does so in any case.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "matmul_sweep: times and checks matrix multiplication on this machine's CPU and GPU and writes "
    "one CSV row for each configuration.";

std::string ListText() {
  std::string text = "Implementations, from the slowest step to the fastest:\n";
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    absl::StrAppendFormat(&text, "  %-24s %-4s %-13s %-8s %s\n", implementation.name,
                          implementation.target.where == Where::kDevice ? "GPU" : "CPU",
                          implementation.math, implementation.general ? "general" : "",
                          implementation.summary);
  }
  text += "Presets:\n";
  for (const MatMulPreset& preset : MatMulPresets()) {
    absl::StrAppendFormat(&text, "  %-24s %s\n", preset.name, preset.description);
  }
  text += "auto runs the first of these that applies:\n";
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    absl::StrAppendFormat(&text, "  %-24s %s\n", row.implementation, row.when);
  }
  return text;
}

absl::StatusOr<MatMulRowOptions> RowOptionsFor(const MatMulPreset& preset) {
  const std::string pair_with = absl::GetFlag(FLAGS_pair_with);
  if (!pair_with.empty() && pair_with != "cublas") {
    return absl::InvalidArgumentError(
        absl::StrCat("--pair_with: '", pair_with, "' is not allowed; allowed is cublas"));
  }
  MatMulRowOptions wanted;
  wanted.cross_check = preset.cross_check;
  wanted.pair_with_cublas = preset.pair_with_cublas || !pair_with.empty();
  return wanted;
}

// Judges all that the file of results holds. A limit that is missed is a finding, not a failure.
absl::Status ReportLimits(Sweep* sweep, LimitsFile* file) {
  ASSIGN_OR_RETURN(const std::vector<MatMulVerdict> verdicts,
                   MatMulVerdicts(MatMulLimits(), sweep->rows()));
  sweep->Print(MatMulLimitTable(verdicts));
  for (const MatMulVerdict& verdict : verdicts) {
    RETURN_IF_ERROR(file->Write(MatMulLimitRecord(verdict)));
  }
  return absl::OkStatus();
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
  flags.layouts = absl::GetFlag(FLAGS_layouts);
  flags.alpha = absl::GetFlag(FLAGS_alpha);
  flags.beta = absl::GetFlag(FLAGS_beta);
  flags.batch = absl::GetFlag(FLAGS_batch);
  ASSIGN_OR_RETURN(const MatMulPreset* preset, FindMatMulPreset(absl::GetFlag(FLAGS_preset)));
  ASSIGN_OR_RETURN(const std::vector<MatMulConfig> plan, MakeMatMulPlan(*preset, flags));
  ASSIGN_OR_RETURN(const MatMulRowOptions wanted, RowOptionsFor(*preset));
  const bool has_limits = absl::string_view(preset->name) == "limits";
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  ASSIGN_OR_RETURN(LimitsFile limits_file, LimitsFile::Open(has_limits, MatMulLimitHeader()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(plan.size())));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n");
  MatMulRunner runner(&options, machine.get());
  for (const MatMulConfig& config : plan) {
    if (Interrupted()) break;
    RETURN_IF_ERROR(sweep->Run(runner.DescribeConfig(config), [&](ResultRow* row) {
      runner.Measure(config, wanted, row);
      FillMemoryBehaviour(config, options, row);
      SetSpeedups(sweep->rows(), row);
    }));
  }
  sweep->Print(sweep->SkippedText() + MatMulConclusions(sweep->rows()));
  if (has_limits) RETURN_IF_ERROR(ReportLimits(sweep.get(), &limits_file));
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunSweep);
}

// The table of the studies: how each kernel uses memory, from the GPU's own counters, for kernels x
// block shapes, into a CSV.
//
//   bazel run //benchmarks:profile
//   bazel run //benchmarks:profile -- --kernels='naive*,tile*' --blocks=8x8,16x16,32x32
//   --sizes=4096
//
// Runs NVIDIA's profiler ncu on itself, once for each configuration: see ncu_run.h.

#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/machine.h"
#include "benchmarks/ncu_metrics.h"
#include "benchmarks/ncu_run.h"
#include "benchmarks/row_columns.h"
#include "benchmarks/sweep.h"
#include "benchmarks/sweep_flags.h"
#include "benchmarks/transpose_plan.h"
#include "benchmarks/transpose_runner.h"
#include "common/status_macros.h"
#include "common/table.h"
#include "transpose/transpose.h"

ABSL_FLAG(std::string, kernels, "",
          "Only these: a list of names and globs such as 'naive*,tile*'. --list shows the names.");
ABSL_FLAG(std::string, sizes, "",
          "Square sizes: a list of N, A:B:STEP and A:B:*FACTOR. Default: 8192, unless --shapes are "
          "given.");
ABSL_FLAG(std::string, shapes, "", "Shapes of the input, ROWSxCOLS,...");
ABSL_FLAG(std::string, blocks, "16x16",
          "Thread blocks XxY,... for the kernels that take any; others run with their own.");
ABSL_FLAG(std::string, types, "float", "Element types: float, int, u8, u16, double, float4.");
ABSL_FLAG(std::string, ncu, "",
          "NVIDIA's profiler Nsight Compute. Default: ncu on the PATH, or else "
          "/usr/local/cuda/bin/ncu.");
ABSL_FLAG(bool, run_once, false,
          "How this program calls itself under ncu: launches one configuration and measures "
          "nothing.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "profile: reads the GPU's counters of how each transpose and copy kernel uses memory, by "
    "running ncu, and writes one CSV row for each configuration.";

// Whether there is a kernel of which a profiler could tell: not on the host, not in the driver.
bool HasKernel(const TransposeImplementation& implementation) {
  return implementation.where == Where::kDevice &&
         (implementation.default_block.x > 0 || implementation.needs_cublas);
}

absl::Status Profile(const TransposeConfig& config, const SweepOptions& options,
                     const Machine& machine, const absl::StatusOr<std::string>& ncu,
                     ResultRow* row) {
  if (!HasKernel(*config.implementation)) {
    return absl::InvalidArgumentError("it has no kernel of its own that a profiler could watch");
  }
  RETURN_IF_ERROR(machine.gpu_status());
  if (config.implementation->run == nullptr) {
    return absl::UnavailableError("built without a CUDA toolkit");
  }
  if (config.shape.rows == 0 || config.shape.cols == 0) {
    return absl::InvalidArgumentError("an empty matrix: nothing is launched");
  }
  RETURN_IF_ERROR(ncu.status());
  const absl::StatusOr<std::vector<NcuLaunch>> launches = RunNcu(*ncu, config, options);
  if (Interrupted()) return absl::CancelledError("interrupted");  // ncu, too, heard Ctrl-C.
  RETURN_IF_ERROR(launches.status());
  SetNcuColumns(*launches, row);
  double ms = 0;
  if (absl::SimpleAtod(row->Get(Column::kKernelMsMedian), &ms) && ms > 0) {
    row->Set(
        Column::kGbps,
        TransposeBytes(config.shape.rows, config.shape.cols, config.type.element_bytes) / ms / 1e6);
  }
  return absl::OkStatus();
}

// The columns as the studies have them, a line for each row that ncu could tell of.
std::string ProfileTable(absl::Span<const ResultRow> rows) {
  const struct {
    TableColumn column;
    Column cell;
  } kCells[] = {
      {{"load eff %", 10, true}, Column::kLoadEfficiency},
      {{"store eff %", 11, true}, Column::kStoreEfficiency},
      {{"load sectors", 12, true}, Column::kLoadTransactions},
      {{"store sectors", 13, true}, Column::kStoreTransactions},
      {{"sh ld/req", 9, true}, Column::kSharedLoadWavefrontsPerRequest},
      {{"sh st/req", 9, true}, Column::kSharedStoreWavefrontsPerRequest},
      {{"sh eff %", 8, true}, Column::kSharedEfficiency},
      {{"occ %", 6, true}, Column::kAchievedOccupancy},
      {{"branch %", 8, true}, Column::kBranchEfficiency},
      {{"ms", 9, true}, Column::kKernelMsMedian},
  };
  std::vector<TableColumn> columns = {
      {"kernel", 28, false}, {"type", 6, false}, {"shape", 13, false}, {"block", 7, false}};
  for (const auto& cell : kCells) columns.push_back(cell.column);
  std::ostringstream text;
  Table table(columns, &text);
  bool any = false;
  for (const ResultRow& row : rows) {
    if (row.Get(Column::kAchievedOccupancy).empty()) continue;  // Not from ncu.
    if (!std::exchange(any, true)) table.PrintHeader();
    std::vector<std::string> cells = {
        row.Get(Column::kImplementation), row.Get(Column::kDtype),
        absl::StrCat(row.Get(Column::kRows), "x", row.Get(Column::kCols)),
        row.Get(Column::kBlockX).empty()
            ? ""
            : absl::StrCat(row.Get(Column::kBlockX), "x", row.Get(Column::kBlockY))};
    for (const auto& cell : kCells) {
      double value = 0;
      const bool known = absl::SimpleAtod(row.Get(cell.cell), &value);
      cells.push_back(known ? absl::StrFormat("%.*g", value < 1e3 ? 4 : 15, value) : "");
    }
    table.PrintRow(cells);
  }
  return any ? absl::StrCat("\n", text.str(), "\n") : "";
}

std::string ListText() {
  std::string text = "Kernels:\n";
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    if (!HasKernel(implementation)) continue;
    absl::StrAppendFormat(&text, "  %-28s %s\n", implementation.name, implementation.summary);
  }
  return text;
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const SweepOptions options, SweepOptionsFromFlags("profile.csv"));
  if (options.list) {
    std::cout << ListText();
    return kExitOk;
  }
  TransposePlanFlags flags;
  flags.kernels = absl::GetFlag(FLAGS_kernels);
  flags.sizes = absl::GetFlag(FLAGS_sizes);
  flags.shapes = absl::GetFlag(FLAGS_shapes);
  flags.blocks = absl::GetFlag(FLAGS_blocks);
  flags.types = absl::GetFlag(FLAGS_types);
  const TransposePreset preset = {"profile", "", {{"*", "8192"}}};
  ASSIGN_OR_RETURN(const std::vector<TransposeConfig> plan, MakeTransposePlan(preset, flags));
  if (absl::GetFlag(FLAGS_run_once)) {
    if (plan.size() == 1) return RunOnceUnderNcu(plan.front(), options);
    return absl::InvalidArgumentError(absl::StrCat(
        "--run_once: ", plan.size(), " configurations are not allowed; allowed is one"));
  }
  const absl::StatusOr<std::string> ncu = FindNcu(absl::GetFlag(FLAGS_ncu));
  if (!ncu.ok() && !absl::GetFlag(FLAGS_ncu).empty()) return ncu.status();
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(plan.size())));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n");
  const TransposeRunner runner(&options, machine.get());
  for (const TransposeConfig& config : plan) {
    if (Interrupted()) break;
    ResultRow description = runner.DescribeConfig(config);
    // Nothing is copied from or to the host. It also keeps these rows apart from those of
    // transpose_sweep, so that both can live in one file.
    description.Set(Column::kHostMemory, "");
    RETURN_IF_ERROR(sweep->Run(std::move(description), [&](ResultRow* row) {
      machine->Describe(config.implementation->where == Where::kDevice, row);
      SetOutcome(Profile(config, options, *machine, ncu, row), row);
    }));
  }
  sweep->Print(sweep->SkippedText() + ProfileTable(sweep->rows()));
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::SweepMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}

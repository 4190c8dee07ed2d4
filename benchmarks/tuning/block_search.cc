// Which thread block suits a kernel and a shape: tries every sensible one and writes a CSV row
// each. And which tiles suit a multiplication: the thresholds by which `auto` chooses.
//
//   bazel run //benchmarks:block_search -- --kernel=naive_col --sizes=8192
//   bazel run //benchmarks:block_search -- --kernel='tile_unroll2*' --shapes=64x1000003,1000003x64
//   bazel run //benchmarks:block_search -- --operation=matmul --max_seconds=0.05
//
// block_candidates.h says which blocks, block_searcher.h which of them are measured in full; of
// matmul tuning_plan.h says what is measured and tuning_fit.h what is made of it.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/transpose/transpose_plan.h"
#include "benchmarks/tuning/block_candidates.h"
#include "benchmarks/tuning/block_searcher.h"
#include "benchmarks/tuning/tuning_search.h"
#include "common/base/status_macros.h"
#include "transpose/registry.h"

namespace {
constexpr char kDefaultKernel[] = "tile_unroll2_padded_dynamic";
}  // namespace

ABSL_FLAG(std::string, operation, "transpose",
          "transpose: the best thread block of each kernel. matmul: the thresholds by which auto "
          "chooses, fitted to the times of all that it chooses among.");
ABSL_FLAG(std::string, kernel, kDefaultKernel,
          "What to search: a list of names and globs of kernels that take any block, such as "
          "'tile_unroll2*'. --list shows the names. Not with --operation=matmul.");
ABSL_FLAG(std::string, sizes, "",
          "Square sizes: a list of N, A:B:STEP and A:B:*FACTOR. Default: 8192, unless --shapes are "
          "given; of matmul squares, thin, deep and flat products and batches on both sides of "
          "every threshold.");
ABSL_FLAG(std::string, shapes, "", "Shapes of the input, ROWSxCOLS,...; of matmul MxNxK,...");
ABSL_FLAG(std::string, types, "float",
          "Element types: float, int, u8, u16, double, float4; of matmul float.");
ABSL_FLAG(
    std::string, tuning, "",
    "With --operation=matmul: a file for the fitted line of matmul/tuning.inc, which standard "
    "output has in any case. One that is there is kept as .bak.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "block_search: times kernels with every sensible thread block, writes one CSV row for each and "
    "says which is best. With --operation=matmul: times all that auto chooses among and fits the "
    "thresholds of its choice.";

std::vector<std::string> KernelsWithAnyBlock() {
  std::vector<std::string> names;
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    if (implementation.blocks == Blocks::kAny) names.push_back(implementation.name);
  }
  return names;
}

absl::StatusOr<std::vector<BlockSearchGroup>> MakeGroups() {
  const std::vector<std::string> names = KernelsWithAnyBlock();
  ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                   SelectByGlob("--kernel", absl::GetFlag(FLAGS_kernel), names));
  TransposePlanFlags flags;
  flags.kernels = absl::StrJoin(
      selected, ",", [&](std::string* out, size_t index) { absl::StrAppend(out, names[index]); });
  flags.blocks =
      absl::StrJoin(BlockCandidates(), ",", [](std::string* out, const BlockShape& block) {
        absl::StrAppend(out, block.x, "x", block.y);
      });
  flags.sizes = absl::GetFlag(FLAGS_sizes);
  flags.shapes = absl::GetFlag(FLAGS_shapes);
  flags.types = absl::GetFlag(FLAGS_types);
  const TransposePreset preset = {"block_search", "", {{"*", "8192"}}};
  ASSIGN_OR_RETURN(const std::vector<TransposeConfig> plan, MakeTransposePlan(preset, flags));
  std::vector<BlockSearchGroup> groups;
  for (const TransposeConfig& config : plan) {
    const auto same = [&](const TransposeConfig& other) {
      return other.implementation == config.implementation &&
             other.shape.rows == config.shape.rows && other.shape.cols == config.shape.cols &&
             other.type.name == config.type.name;
    };
    if (groups.empty() || !same(groups.back().front())) groups.emplace_back();
    groups.back().push_back(config);
  }
  return groups;
}

absl::StatusOr<int> RunBlockSearch(const SweepOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<BlockSearchGroup> groups, MakeGroups());
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  const size_t total = groups.size() * BlockCandidates().size();
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(total)));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n");
  BlockSearcher search(&options, machine.get(), sweep.get());
  for (const BlockSearchGroup& group : groups) {
    if (Interrupted()) break;
    RETURN_IF_ERROR(search.Run(group));
  }
  // With a GPU, skipped rows are pruned ones: each has a reason of its own, and they are counted.
  if (!machine->gpu_status().ok()) sweep->Print(sweep->SkippedText());
  for (const BlockSearchGroup& group : groups) sweep->Print(search.Conclusion(group));
  if (options.csv != "-") sweep->Print("Rows in " + options.csv + "\n");
  return sweep->ExitCode();
}

// A flag of the other operation would be passed over without a word.
absl::Status CheckOperation(const std::string& operation) {
  if (operation == "transpose") {
    if (absl::GetFlag(FLAGS_tuning).empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("--tuning: not allowed without --operation=matmul");
  }
  if (operation == "matmul") {
    if (absl::GetFlag(FLAGS_kernel) == kDefaultKernel) return absl::OkStatus();
    return absl::InvalidArgumentError("--kernel: not allowed with --operation=matmul");
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--operation: '", operation, "' is not allowed; allowed is transpose or matmul"));
}

absl::StatusOr<int> RunProgram() {
  const std::string operation = absl::GetFlag(FLAGS_operation);
  RETURN_IF_ERROR(CheckOperation(operation));
  const bool matmul = operation == "matmul";
  ASSIGN_OR_RETURN(const SweepOptions options, SweepOptionsFromFlags("block_search.csv"));
  if (options.list) {
    std::cout << (matmul ? TuningListText() : absl::StrJoin(KernelsWithAnyBlock(), "\n") + "\n");
    return kExitOk;
  }
  if (!matmul) return RunBlockSearch(options);
  return RunTuningSearch(options, {absl::GetFlag(FLAGS_sizes), absl::GetFlag(FLAGS_shapes),
                                   absl::GetFlag(FLAGS_types), absl::GetFlag(FLAGS_tuning)});
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}

// Which thread block suits a transpose's kernel and a shape: tries every sensible one and writes a
// CSV row each.
//
//   bazel run //benchmarks:block_search -- --implementations=naive_col --sizes=8192
//   bazel run //benchmarks:block_search -- --implementations='tile_unroll2*'
//   --shapes=64x1000003,1000003x64
//
// block_candidates.h says which blocks, block_searcher.h which of them are measured in full.
// Products choose their blocks themselves; stridewise_tune tells which kernel suits them.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/plan_flags.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/transpose/operation.h"
#include "benchmarks/tuning/block_candidates.h"
#include "benchmarks/tuning/block_searcher.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

ABSL_FLAG(
    std::string, kernel, "",
    "Another name of --implementations: kernels that take any block, such as 'tile_unroll2*'. "
    "Default: tile_unroll2_padded_dynamic.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "block_search: times kernels with every sensible thread block, writes one CSV row for each and "
    "says which is best.";

constexpr char kDefaultKernel[] = "tile_unroll2_padded_dynamic";

std::vector<std::string> KernelsWithAnyBlock() {
  std::vector<std::string> names;
  for (const Implementation* i : TransposeOperations().implementations()) {
    if (i->blocks == Blocks::kAny) names.push_back(i->name);
  }
  return names;
}

absl::StatusOr<std::vector<BlockSearchGroup>> MakeGroups(PlanFlags flags) {
  const std::vector<std::string> names = KernelsWithAnyBlock();
  if (flags.implementations.empty()) flags.implementations = kDefaultKernel;
  ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                   SelectByGlob(flags.implementations_flag, flags.implementations, names));
  flags.implementations = absl::StrJoin(
      selected, ",", [&](std::string* out, size_t index) { absl::StrAppend(out, names[index]); });
  flags.blocks =
      absl::StrJoin(BlockCandidates(), ",", [](std::string* out, const BlockShape& block) {
        absl::StrAppend(out, block.x, "x", block.y);
      });
  Preset preset;
  preset.name = "block_search";
  preset.selections = {Selection("*").Sizes("8192")};
  ASSIGN_OR_RETURN(const std::vector<Config> plan, MakePlan(TransposeOperations(), preset, flags));
  std::vector<BlockSearchGroup> groups;
  for (const Config& config : plan) {
    const auto same = [&](const Config& other) {
      return other.implementation == config.implementation && other.point == config.point;
    };
    if (groups.empty() || !same(groups.back().front())) groups.emplace_back();
    groups.back().push_back(config);
  }
  return groups;
}

absl::StatusOr<int> RunBlockSearch(const SweepOptions& options, const PlanFlags& flags) {
  ASSIGN_OR_RETURN(const std::vector<BlockSearchGroup> groups, MakeGroups(flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  const size_t total = groups.size() * BlockCandidates().size();
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(total)));
  CatchInterrupts();

  sweep->Print(machine->Headline() + "\n");
  const Operation& operation = TransposeOperations();
  BlockSearcher search(&options, machine.get(), operation.FindPeer(operation.usual_peer()),
                       sweep.get());
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

// Reads the shared flags and --kernel.
absl::StatusOr<PlanFlags> FlagsFromCommandLine() {
  ASSIGN_OR_RETURN(PlanFlags flags, PlanFlagsFor(TransposeOperations()));
  const std::string kernel = absl::GetFlag(FLAGS_kernel);
  if (kernel.empty()) return flags;
  if (!flags.implementations.empty()) {
    return RefuseFlag(
        "--kernel", kernel,
        absl::StrCat("beside ", flags.implementations_flag, ", of which it is another name"));
  }
  flags.implementations = kernel;
  flags.implementations_flag = "--kernel";
  return flags;
}

// Flags of the sweeps that a search does not use: it tries all blocks of kernels on the GPU, of one
// problem at a time, and measures nothing but their times.
std::vector<std::string> UnusedFlags() {
  return {"batch", "blocks", "counters", "max_row_seconds", "memory_behaviour", "threads"};
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const PlanFlags flags, FlagsFromCommandLine());
  ASSIGN_OR_RETURN(const SweepOptions options, SweepOptionsFromFlags("block_search.csv"));
  if (options.list) {
    std::cout << absl::StrJoin(KernelsWithAnyBlock(), "\n") + "\n";
    return kExitOk;
  }
  return RunBlockSearch(options, flags);
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram,
                                 stridewise::UnusedFlags());
}

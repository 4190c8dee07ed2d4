// A kernel's source with what each line does to memory beside it, counted by the host executor.
//
//   bazel run //benchmarks:source_view -- --implementations=tile_square
//   bazel run //benchmarks:source_view -- --operation=matmul --implementations=tiled
//   --shape=256x256x64
//   --html=tiled.html
//   bazel run //benchmarks:source_view -- --kernel=naive_row --access_html=accesses.html

#include "common/executor/source_view.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "benchmarks/harness/executor_run.h"
#include "benchmarks/harness/implementations_flag.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/operations.h"
#include "benchmarks/profile/predicted_demand.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/executor/access_picture.h"
#include "common/executor/executor.h"
#include "common/executor/predict/prediction_text.h"
#include "common/executor/symbolizer.h"
#include "common/gpu/launch_geometry.h"

ABSL_FLAG(std::string, operation, "transpose", "transpose, copies among them, or matmul.");
ABSL_FLAG(std::string, kernel, "",
          "Another name of --implementations: one kernel. Default: tile_square; for matmul tiled.");
ABSL_FLAG(std::string, shape, "",
          "ROWSxCOLS of a transpose's input, MxNxK of a product. Default: 512x512, 128x128x128.");
ABSL_FLAG(std::string, block, "",
          "Thread block XxY, for a kernel that takes any. Default: the kernel's own.");
ABSL_FLAG(
    std::string, type, "float",
    "Element type, one that the kernel takes: float, int, u8, u16, double, float4; of products "
    "also A's and B's type or theirs and C's, such as bf16 and s8_int.");
ABSL_FLAG(std::string, html, "", "Also write the view as a page to this file.");
ABSL_FLAG(
    std::string, access_html, "",
    "Also write a page to this file that steps through the requests of one block and draws the "
    "addresses, sectors and banks of each.");
ABSL_FLAG(std::string, block_index, "0,0",
          "The block of --access_html: X,Y or X,Y,Z, its blockIdx.");
ABSL_FLAG(std::string, machine, "h200",
          "The GPU whose time is predicted from the counts: h200, rtx3080, gtx770m, tegra_x1 or "
          "m2090. It need not be there.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "source_view: runs a kernel on the host executor and prints its source with what each line "
    "does to memory beside it.";

// Returns the flag's text or, where that is empty, `otherwise`.
std::string Or(const std::string& value, const char* otherwise) {
  return value.empty() ? otherwise : value;
}

// Parses --block_index. Only the launch shows whether there is such a block.
absl::StatusOr<Extent3> BlockIndexFromFlag() {
  const std::string text = absl::GetFlag(FLAGS_block_index);
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  int64_t index[3] = {0, 0, 0};
  bool good = parts.size() == 2 || parts.size() == 3;
  for (size_t i = 0; good && i < parts.size(); ++i) {
    good = absl::SimpleAtoi(parts[i], &index[i]) && index[i] >= 0;
  }
  if (good && text != "0,0" && absl::GetFlag(FLAGS_access_html).empty()) {
    return RefuseFlag("--block_index", text, "without --access_html");
  }
  if (good) return Extent3{index[0], index[1], index[2]};
  return RefuseValue("--block_index", text, "X,Y or X,Y,Z, whole numbers from 0 on");
}

// Reads --type, one of those that the implementation takes.
absl::StatusOr<std::string> TypeFromFlag(const Operation& operation,
                                         const Implementation& implementation) {
  const std::string type = absl::GetFlag(FLAGS_type);
  Point point = operation.UsualPoint(std::vector<int64_t>(operation.extent_columns().size(), 1));
  std::vector<absl::string_view> taken;
  for (const absl::string_view known : operation.types()) {
    point.type = std::string(known);
    if (operation.CheckSupported(implementation, point).ok()) taken.push_back(known);
  }
  if (std::find(taken.begin(), taken.end(), type) != taken.end()) return type;
  return RefuseValue("--type", type,
                     taken.empty() ? "none that a sweep has" : absl::StrJoin(taken, ", "));
}

absl::StatusOr<Config> ConfigFromFlags() {
  ASSIGN_OR_RETURN(const Operation* operation, FindOperation(absl::GetFlag(FLAGS_operation)));
  const bool matmul = operation == &MatMulOperation();
  ASSIGN_OR_RETURN(ImplementationsFlag flag, GetImplementationsFlag());
  const std::string other_name = absl::GetFlag(FLAGS_kernel);
  if (!flag.text.empty() && !other_name.empty()) {
    return RefuseValue("--kernel", other_name, absl::StrCat("one of it and ", flag.name));
  }
  if (flag.text.empty()) flag = {"--kernel", other_name};
  const std::string kernel = Or(flag.text, matmul ? "tiled" : "tile_square");
  const Implementation* implementation = operation->Find(kernel);
  if (implementation == nullptr) {
    return RefuseValue(
        flag.name, kernel,
        absl::StrCat("what profile --operation=", operation->name(), " --list shows"));
  }
  const std::string block = absl::GetFlag(FLAGS_block);
  const Block& own = implementation->default_block;
  if (!block.empty() && implementation->blocks == Blocks::kFixed &&
      block != absl::StrCat(own.x, "x", own.y)) {
    return RefuseValue("--block", block, absl::StrCat("the kernel's own, ", own.x, "x", own.y));
  }
  ASSIGN_OR_RETURN(const std::string type, TypeFromFlag(*operation, *implementation));
  Preset preset;
  preset.name = "source_view";
  preset.selections = {
      Selection(kernel)
          .Shapes(Or(absl::GetFlag(FLAGS_shape), matmul ? "128x128x128" : "512x512"))
          .Types(type)
          .BlockShapes(block)};
  PlanFlags flags;
  flags.implementations_flag = flag.name;
  flags.implementations = kernel;
  ASSIGN_OR_RETURN(flags.axes, GivenAxes(*operation, AllOperations()));
  absl::StatusOr<std::vector<Config>> plan = MakePlan(*operation, preset, flags);
  if (!plan.ok()) {
    // The plan's flags have names for lists.
    return absl::InvalidArgumentError(absl::StrReplaceAll(
        plan.status().message(),
        {{"--shapes", "--shape"}, {"--types", "--type"}, {"--blocks", "--block"}}));
  }
  if (plan->size() == 1) return plan->front();
  return absl::InvalidArgumentError(
      "--shape, --type, --block and what products take: lists are not allowed; allowed is one of "
      "each");
}

absl::Status WriteHtml(const std::string& path, const std::string& page) {
  std::ofstream file(path);
  file << page << std::flush;
  if (file) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--html: cannot write \"", path, "\""));
}

// Writes the access picture of the launches and says what it shows.
absl::Status WriteAccesses(const std::string& path, const Config& config, const ExecutorRun& run) {
  const executor::LaunchReport& launch = run.launches().front();
  if (launch.accesses.requests.empty()) {
    return RefuseValue("--block_index", absl::GetFlag(FLAGS_block_index),
                       absl::StrCat("a block of the grid, ", launch.grid.x, "x", launch.grid.y, "x",
                                    launch.grid.z, ", that accesses memory"));
  }
  const absl::Status status = executor::WriteAccessPicture(path, Title(config), run.launches());
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--access_html: ", status.message()));
  }
  std::cout << "Access picture of block (" << absl::GetFlag(FLAGS_block_index) << ") in " << path
            << "\n";
  const uint64_t recorded = launch.accesses.requests.size(), left_out = launch.accesses.left_out;
  if (left_out > 0) {
    std::cout << "It shows the first " << recorded << " of the block's " << recorded + left_out
              << " requests.\n";
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const Config config, ConfigFromFlags());
  ASSIGN_OR_RETURN(const executor::MachineModel* machine,
                   executor::FindMachine("--machine", absl::GetFlag(FLAGS_machine)));
  executor::ExecutorOptions options;
  const std::string access_html = ResolvePath(absl::GetFlag(FLAGS_access_html));
  ASSIGN_OR_RETURN(const Extent3 block_index, BlockIndexFromFlag());
  if (!access_html.empty()) options.record_block = block_index;
  if (config.operation->MakeProblem(config.point)->empty()) {
    return absl::InvalidArgumentError("--shape: an empty matrix: nothing is launched");
  }
  ASSIGN_OR_RETURN(ExecutorRun run, ExecutorRun::Create(config, /*seed=*/1, options));
  const absl::Status status = run.Run();
  // What a check found does not keep the lines from being shown; other errors mean that there was
  // no launch.
  if (!status.ok() && !absl::IsDataLoss(status)) return status;

  if (run.launches().empty()) {
    return absl::InvalidArgumentError("--shape: nothing is launched for it");
  }
  const uintptr_t kernel = run.launches().front().kernel;
  const std::string file = executor::SymbolizeFunctions({kernel}).front().file;
  ASSIGN_OR_RETURN(const executor::SourceText source, executor::ReadSource(file, /*root=*/""));
  const std::vector<executor::LineCounters> lines = executor::CountersByLine(run.Profile());
  std::cout << executor::SourceViewText(Title(config), source, lines);
  ASSIGN_OR_RETURN(const executor::Demand demand, PredictedDemand(config, *machine));
  const executor::Prediction prediction = executor::PredictTime(demand, *machine);
  std::cout << "\n" << executor::PredictionText(demand, prediction, *machine);
  const std::string page_title =
      absl::StrFormat("%s, predicted for %s: %.4g ms, %s", Title(config), machine->description,
                      prediction.ms, executor::LimiterText(demand, prediction));
  const std::string html = ResolvePath(absl::GetFlag(FLAGS_html));
  if (!html.empty()) {
    RETURN_IF_ERROR(WriteHtml(html, executor::SourceViewHtml(page_title, source, lines)));
    std::cout << "Page in " << html << "\n";
  }
  if (!access_html.empty()) RETURN_IF_ERROR(WriteAccesses(access_html, config, run));
  if (status.ok()) return kExitOk;
  std::cerr << status.message() << std::endl;
  return kExitWrongResult;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}

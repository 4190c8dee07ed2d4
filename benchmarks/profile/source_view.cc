// A kernel's source with what each line does to memory beside it, counted by the host executor.
//
//   bazel run //benchmarks:source_view -- --implementations=tile_square
//   bazel run //benchmarks:source_view -- --operation=matmul --implementations=tiled
//   --shape=256x256x64
//   --html=tiled.html

#include "common/executor/source_view.h"

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "benchmarks/harness/executor_run.h"
#include "benchmarks/harness/implementations_flag.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/operations.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"
#include "common/executor/executor.h"
#include "common/executor/symbolizer.h"

ABSL_FLAG(std::string, operation, "transpose", "transpose, copies among them, or matmul.");
ABSL_FLAG(std::string, kernel, "",
          "Another name of --implementations: one kernel. Default: tile_square; for matmul tiled.");
ABSL_FLAG(std::string, shape, "",
          "ROWSxCOLS of a transpose's input, MxNxK of a product. Default: 512x512, 128x128x128.");
ABSL_FLAG(std::string, block, "",
          "Thread block XxY, for a kernel that takes any. Default: the kernel's own.");
ABSL_FLAG(std::string, type, "float",
          "Element type: float, int, u8, u16, double, float4; of a product float, double.");
ABSL_FLAG(std::string, html, "", "Also write the view as a page to this file.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "source_view: runs a kernel on the host executor and prints its source with what each line "
    "does to memory beside it.";

absl::Status NotAllowed(absl::string_view flag, absl::string_view value,
                        absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", value, "' is not allowed; allowed is ", allowed));
}

// Returns the flag's text or, where that is empty, `otherwise`.
std::string Or(const std::string& value, const char* otherwise) {
  return value.empty() ? otherwise : value;
}

absl::StatusOr<Config> ConfigFromFlags() {
  ASSIGN_OR_RETURN(const Operation* operation, FindOperation(absl::GetFlag(FLAGS_operation)));
  const bool matmul = operation == &MatMulOperation();
  ASSIGN_OR_RETURN(ImplementationsFlag flag, GetImplementationsFlag());
  const std::string other_name = absl::GetFlag(FLAGS_kernel);
  if (!flag.text.empty() && !other_name.empty()) {
    return NotAllowed("--kernel", other_name, absl::StrCat("one of it and ", flag.name));
  }
  if (flag.text.empty()) flag = {"--kernel", other_name};
  const std::string kernel = Or(flag.text, matmul ? "tiled" : "tile_square");
  const Implementation* implementation = operation->Find(kernel);
  if (implementation == nullptr) {
    return NotAllowed(
        flag.name, kernel,
        absl::StrCat("what profile --operation=", operation->name(), " --list shows"));
  }
  const std::string block = absl::GetFlag(FLAGS_block);
  const Block& own = implementation->default_block;
  if (!block.empty() && implementation->blocks == Blocks::kFixed &&
      block != absl::StrCat(own.x, "x", own.y)) {
    return NotAllowed("--block", block, absl::StrCat("the kernel's own, ", own.x, "x", own.y));
  }
  Preset preset;
  preset.name = "source_view";
  preset.selections = {
      Selection(kernel)
          .Shapes(Or(absl::GetFlag(FLAGS_shape), matmul ? "128x128x128" : "512x512"))
          .Types(absl::GetFlag(FLAGS_type))
          .BlockShapes(block)};
  absl::StatusOr<std::vector<Config>> plan = MakePlan(*operation, preset, {});
  if (!plan.ok()) {
    // The plan's flags have names for lists.
    return absl::InvalidArgumentError(absl::StrReplaceAll(
        plan.status().message(),
        {{"--shapes", "--shape"}, {"--types", "--type"}, {"--blocks", "--block"}}));
  }
  if (plan->size() == 1) return plan->front();
  return absl::InvalidArgumentError(
      "--shape, --type, --block: lists are not allowed; allowed is one of each");
}

absl::Status WriteHtml(const std::string& path, const std::string& page) {
  std::ofstream file(path);
  file << page << std::flush;
  if (file) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--html: cannot write \"", path, "\""));
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const Config config, ConfigFromFlags());
  if (config.operation->MakeProblem(config.point)->empty()) {
    return absl::InvalidArgumentError("--shape: an empty matrix: nothing is launched");
  }
  ASSIGN_OR_RETURN(ExecutorRun run, ExecutorRun::Create(config, /*seed=*/1, {}));
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
  const std::string html = ResolvePath(absl::GetFlag(FLAGS_html));
  if (!html.empty()) {
    RETURN_IF_ERROR(WriteHtml(html, executor::SourceViewHtml(Title(config), source, lines)));
    std::cout << "Page in " << html << "\n";
  }
  if (status.ok()) return kExitOk;
  std::cerr << status.message() << std::endl;
  return kExitWrongResult;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}

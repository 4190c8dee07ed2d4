// A kernel's source with what each line does to memory beside it, counted by the host executor.
//
//   bazel run //benchmarks:source_view -- --kernel=tile_square
//   bazel run //benchmarks:source_view -- --operation=matmul --kernel=tiled --shape=256x256x64
//   --html=tiled.html

#include "common/executor/source_view.h"

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/executor_profile.h"
#include "benchmarks/harness/kernel_config.h"
#include "benchmarks/harness/program_main.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"
#include "common/executor/executor.h"
#include "common/executor/symbolizer.h"

ABSL_FLAG(std::string, operation, "transpose", "transpose, copies among them, or matmul.");
ABSL_FLAG(std::string, kernel, "", "Default: tile_square; for matmul tiled.");
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

template <typename T>
absl::StatusOr<T> Only(absl::string_view flag, absl::string_view value,
                       const absl::StatusOr<std::vector<T>>& items) {
  RETURN_IF_ERROR(items.status());
  if (items->size() == 1) return items->front();
  return NotAllowed(flag, value, "one");
}

// `value`, or where that is empty `otherwise`.
std::string Or(const std::string& value, const char* otherwise) {
  return value.empty() ? otherwise : value;
}

absl::StatusOr<Block> ChosenBlock(Blocks blocks, const Block& own) {
  const std::string text = absl::GetFlag(FLAGS_block);
  if (text.empty()) return own;
  ASSIGN_OR_RETURN(const BlockShape block, Only("--block", text, ParseBlocks("--block", text)));
  if (blocks == Blocks::kAny || (block.x == own.x && block.y == own.y)) {
    return Block{block.x, block.y};
  }
  return NotAllowed("--block", text, absl::StrCat("the kernel's own, ", own.x, "x", own.y));
}

absl::StatusOr<KernelConfig> TransposeConfigFromFlags() {
  const std::string kernel = Or(absl::GetFlag(FLAGS_kernel), "tile_square");
  const std::string shape = Or(absl::GetFlag(FLAGS_shape), "512x512");
  const std::string type = absl::GetFlag(FLAGS_type);
  TransposeConfig config;
  config.implementation = FindTransposeImplementation(kernel);
  if (config.implementation == nullptr) {
    return NotAllowed("--kernel", kernel, "what profile --list shows");
  }
  ASSIGN_OR_RETURN(config.shape, Only("--shape", shape, ParseShapes2("--shape", shape)));
  ASSIGN_OR_RETURN(config.type, Only("--type", type, ParseDataTypes("--type", type)));
  ASSIGN_OR_RETURN(config.block, ChosenBlock(config.implementation->blocks,
                                             config.implementation->default_block));
  return config;
}

absl::StatusOr<KernelConfig> MatMulConfigFromFlags() {
  const std::string kernel = Or(absl::GetFlag(FLAGS_kernel), "tiled");
  const std::string shape = Or(absl::GetFlag(FLAGS_shape), "128x128x128");
  const std::string type = absl::GetFlag(FLAGS_type);
  MatMulConfig config;
  config.implementation = FindMatMulImplementation(kernel);
  if (config.implementation == nullptr) {
    return NotAllowed("--kernel", kernel, "what profile --operation=matmul --list shows");
  }
  ASSIGN_OR_RETURN(config.shape, Only("--shape", shape, ParseShapes("--shape", shape)));
  if (type != "float" && type != "double") return NotAllowed("--type", type, "float or double");
  config.type = type == "float" ? ElementType::kFloat : ElementType::kDouble;
  ASSIGN_OR_RETURN(config.block, ChosenBlock(config.implementation->blocks,
                                             config.implementation->default_block));
  return config;
}

absl::StatusOr<KernelConfig> ConfigFromFlags() {
  const std::string operation = absl::GetFlag(FLAGS_operation);
  if (operation == "transpose") return TransposeConfigFromFlags();
  if (operation == "matmul") return MatMulConfigFromFlags();
  return NotAllowed("--operation", operation, "transpose or matmul");
}

absl::Status WriteHtml(const std::string& path, const std::string& page) {
  std::ofstream file(path);
  file << page << std::flush;
  if (file) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--html: cannot write \"", path, "\""));
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const KernelConfig config, ConfigFromFlags());
  if (IsEmpty(config)) {
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

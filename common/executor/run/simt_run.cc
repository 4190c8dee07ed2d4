// Runs a CUDA program on the CPU, with no GPU and no CUDA toolkit, and ends with what it found and
// with the memory profile of each launch.
//
//   simt_run program.cu -- arguments of the program
//   simt_run --include_dirs=include --defines=N=512 main.cu kernels.cu
//
// Exit code: the program's own; 3 where there are findings; 4 where --max_cpu_seconds has ended it;
// 2 for bad input, also where a source does not compile.

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/executor/run/compiler.h"
#include "common/executor/run/constants.h"
#include "common/executor/run/run_program.h"
#include "common/executor/run/simt_home.h"

ABSL_FLAG(std::vector<std::string>, include_dirs, {}, "Folders with the program's headers: -I.");
ABSL_FLAG(std::vector<std::string>, defines, {}, "Macros, NAME or NAME=VALUE: -D.");
ABSL_FLAG(std::string, constants, "",
          "Other initial values for variables of the sources, such as sizes that are too large for "
          "a CPU: 'B=2;SIZE={128, 256}'. What it changes is printed.");
ABSL_FLAG(std::string, std, "c++17", "The C++ standard: c++14, c++17 or c++20.");
ABSL_FLAG(std::string, link_flags, "", "More for the linker, separated by blanks: \"-lm -lz\".");
ABSL_FLAG(
    std::string, accesses, "source",
    "What is counted and checked: source, the loads and stores of the source; compiled, those "
    "that a GPU's compiler makes of them, which merges neighbouring ones and keeps values in "
    "registers. Needs LLVM's opt.");
ABSL_FLAG(std::string, output, "",
          "Keep the program under this name and do not run it. It reports as simt_run does.");
ABSL_FLAG(int, threads, 0, "Cores to run blocks on; 0: all of the machine's.");
ABSL_FLAG(int64_t, seed, 0, "Order of blocks, warps and threads: 0 in order, others at random.");
ABSL_FLAG(int, multiprocessors, 132,
          "Multiprocessors of the device that the program sees: fewer make cooperative launches "
          "that fill it smaller.");
ABSL_FLAG(bool, check, true, "Check every access.");
ABSL_FLAG(bool, profile, true, "Count what goes to memory.");
ABSL_FLAG(bool, report, true, "Print the memory profile at the end. Findings are always printed.");
ABSL_FLAG(int64_t, max_repeats, 0,
          "Run at most this number of launches of one kernel from one line with one geometry, for "
          "programs that measure by repeating; the report says how many it left out. 0: all.");
ABSL_FLAG(int64_t, max_cpu_seconds, 0,
          "End the program after this CPU time of all its threads, with the report so far and exit "
          "code 4. 0: never.");
ABSL_FLAG(std::string, csv, "", "Also write the profile to this file, a row for each launch.");

namespace stridewise::executor {
namespace {

constexpr int kExitBadInput = 2;

constexpr char kUsage[] =
    "simt_run FILE.cu ... [-- ARGUMENTS]: compiles a CUDA program for the CPU, runs it with every "
    "memory access checked, and prints the findings and the memory profile of its launches. Exit "
    "code: the program's own; 3 with findings; 4 where --max_cpu_seconds was over; 2 for bad input "
    "and where a source does not compile.";

// Removes a folder with all that is in it.
class Scratch {
 public:
  static absl::StatusOr<std::unique_ptr<Scratch>> Create() {
    const char* root = getenv("TMPDIR");
    std::string name = absl::StrCat(root == nullptr ? "/tmp" : root, "/simt_run.XXXXXX");
    if (mkdtemp(name.data()) == nullptr) {
      return absl::NotFoundError(absl::StrCat("cannot make a folder ", name));
    }
    return std::unique_ptr<Scratch>(new Scratch(name));
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  const std::string& name() const { return name_; }

 private:
  explicit Scratch(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

// Prints what --constants has changed. Returns InvalidArgument for a name that no source has.
absl::Status ReportConstants(const std::vector<Constant>& constants,
                             const std::vector<ReplacedInitialiser>& replaced) {
  for (const Constant& constant : constants) {
    const bool found =
        std::any_of(replaced.begin(), replaced.end(),
                    [&](const ReplacedInitialiser& r) { return r.name == constant.name; });
    if (found) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--constants: no source initialises a variable ", constant.name, " by an ="));
  }
  for (const ReplacedInitialiser& r : replaced) {
    std::cerr << "simt_run: " << r.file << ":" << r.line << ": " << r.name << " = " << r.after
              << " instead of " << r.before << "\n";
  }
  return absl::OkStatus();
}

// Returns the path of --csv from the root, empty without the flag. The program writes the file when
// it ends, too late to say that there is no such folder.
absl::StatusOr<std::string> CsvFromFlag() {
  const std::string named = absl::GetFlag(FLAGS_csv);
  if (named.empty()) return named;
  const std::filesystem::path path = std::filesystem::absolute(ResolvePath(named));
  if (std::filesystem::is_directory(path.parent_path())) return path.string();
  return RefuseValue("--csv", named, "a file in a folder that is there");
}

absl::StatusOr<int> Run(const std::vector<std::string>& sources,
                        const std::vector<std::string>& arguments) {
  if (sources.empty()) {
    return absl::InvalidArgumentError("no source: simt_run FILE.cu ... [-- ARGUMENTS]");
  }
  const std::string standard = absl::GetFlag(FLAGS_std);
  if (standard != "c++14" && standard != "c++17" && standard != "c++20") {
    return RefuseValue("--std", standard, "c++14, c++17 or c++20");
  }
  constexpr double kMost = std::numeric_limits<int>::max();
  RETURN_IF_ERROR(CheckRange("--threads", absl::GetFlag(FLAGS_threads), 0, kMost));
  RETURN_IF_ERROR(CheckRange("--multiprocessors", absl::GetFlag(FLAGS_multiprocessors), 1, kMost));
  RETURN_IF_ERROR(CheckRange("--max_repeats", absl::GetFlag(FLAGS_max_repeats), 0, kMost));
  RETURN_IF_ERROR(CheckRange("--max_cpu_seconds", absl::GetFlag(FLAGS_max_cpu_seconds), 0, kMost));
  ASSIGN_OR_RETURN(const std::string csv, CsvFromFlag());
  const std::string accesses = absl::GetFlag(FLAGS_accesses);
  if (accesses != "source" && accesses != "compiled") {
    return RefuseValue("--accesses", accesses, "source or compiled");
  }
  CompileOptions options;
  options.accesses_as_compiled = accesses == "compiled";
  // Its launches need C++17.
  options.standard = standard == "c++14" ? "c++17" : standard;
  for (const std::string& folder : absl::GetFlag(FLAGS_include_dirs)) {
    if (!std::filesystem::is_directory(ResolvePath(folder))) {
      return RefuseValue("--include_dirs", folder, "a folder that is there");
    }
    options.preprocessor_flags.push_back("-I" + ResolvePath(folder));
  }
  for (const std::string& define : absl::GetFlag(FLAGS_defines)) {
    options.preprocessor_flags.push_back("-D" + define);
  }
  ASSIGN_OR_RETURN(options.constants, ParseConstants(absl::GetFlag(FLAGS_constants)));
  const std::vector<Constant> constants = options.constants;
  options.link_flags = absl::StrSplit(absl::GetFlag(FLAGS_link_flags), ' ', absl::SkipEmpty());

  ASSIGN_OR_RETURN(const std::string home, FindSimtHome());
  ASSIGN_OR_RETURN(const std::unique_ptr<Scratch> scratch, Scratch::Create());
  Compiler compiler(home, scratch->name(), options);
  std::vector<std::string> objects;
  for (const std::string& source : sources) {
    if (absl::EndsWith(source, ".o") || absl::EndsWith(source, ".a")) {
      objects.push_back(ResolvePath(source));
      continue;
    }
    objects.push_back(absl::StrCat(scratch->name(), "/", objects.size(), ".o"));
    RETURN_IF_ERROR(compiler.Compile(ResolvePath(source), objects.back()));
  }
  RETURN_IF_ERROR(ReportConstants(constants, compiler.replaced()));
  const std::string kept = ResolvePath(absl::GetFlag(FLAGS_output));
  const std::string program = kept.empty() ? scratch->name() + "/program" : kept;
  RETURN_IF_ERROR(compiler.Link(objects, program));
  if (!kept.empty()) return 0;

  const auto set = [](const char* name, const std::string& value) {
    setenv(name, value.c_str(), 1);
  };
  set("SIMT_RUN_THREADS", absl::StrCat(absl::GetFlag(FLAGS_threads)));
  set("SIMT_RUN_MULTIPROCESSORS", absl::StrCat(absl::GetFlag(FLAGS_multiprocessors)));
  set("SIMT_RUN_MAX_REPEATS", absl::StrCat(absl::GetFlag(FLAGS_max_repeats)));
  set("SIMT_RUN_MAX_CPU_SECONDS", absl::StrCat(absl::GetFlag(FLAGS_max_cpu_seconds)));
  set("SIMT_RUN_SEED", absl::StrCat(absl::GetFlag(FLAGS_seed)));
  set("SIMT_RUN_CHECK", absl::GetFlag(FLAGS_check) ? "1" : "0");
  set("SIMT_RUN_PROFILE", absl::GetFlag(FLAGS_profile) ? "1" : "0");
  set("SIMT_RUN_REPORT", absl::GetFlag(FLAGS_report) ? "1" : "0");
  if (!csv.empty()) set("SIMT_RUN_CSV", csv);
  std::vector<std::string> command = {std::filesystem::absolute(program).string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(command);
}

}  // namespace
}  // namespace stridewise::executor

int main(int argc, char** argv) {
  using stridewise::executor::kExitBadInput;
  // What is behind -- is the program's.
  int own = 1;
  while (own < argc && absl::string_view(argv[own]) != "--") ++own;
  const std::vector<std::string> arguments(argv + std::min(own + 1, argc), argv + argc);
  const auto command_line = stridewise::ParseFlags(own, argv, stridewise::Positional::kReturn);
  if (command_line.ok() && command_line->help) {
    std::cout << stridewise::HelpText(stridewise::executor::kUsage, "common/executor/");
    return 0;
  }
  const absl::StatusOr<int> exit_code =
      command_line.ok() ? stridewise::executor::Run(command_line->positional, arguments)
                        : command_line.status();
  if (exit_code.ok()) return *exit_code;
  std::cerr << "simt_run: " << exit_code.status().message() << std::endl;
  return kExitBadInput;
}

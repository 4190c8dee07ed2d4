#include "common/executor/run/compiler.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/base/status_macros.h"
#include "common/executor/ptx/program.h"
#include "common/executor/ptx/rewrite_asm.h"
#include "common/executor/run/gpu_optimizer.h"
#include "common/executor/run/gpu_passes.h"
#include "common/executor/run/rewriter.h"
#include "common/executor/run/run_program.h"

namespace stridewise::executor {
namespace {

constexpr char kFolder[] = "/common/executor/";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

// As in simt.bzl, which says why.
std::vector<std::string> CompilationFlags(const std::string& home, bool instrumented) {
  // Of a file of host code alone, only what makes thread_local variables those of host threads.
  if (!instrumented) {
    return {"-fPIC",
            "-gline-tables-only",
            "-fdebug-compilation-dir=.",
            "-O2",
            "-fno-strict-aliasing",
            "-ffp-contract=off",
            "-femulated-tls",
            "-fdeclspec",
            "-w"};
  }
  // Reports name functions and lines, not variables: with these too a program of many kernels took
  // a fifth longer to compile.
  return {"-fPIC", "-gline-tables-only", "-fdebug-compilation-dir=.", "-O1", "-fno-vectorize",
          "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-builtin", "-fno-strict-aliasing",
          "-ffp-contract=off", "-femulated-tls", "-fdeclspec",
          "-fsanitize-coverage=bb,no-prune,trace-pc,trace-loads,trace-stores",
          absl::StrCat("-fsanitize-coverage-ignorelist=", home, kFolder, "uninstrumented.txt"),
          "-fsanitize=thread", "-mllvm", "-tsan-instrument-memory-accesses=0", "-mllvm",
          "-tsan-instrument-func-entry-exit=0", "-mllvm", "-tsan-instrument-atomics=0",
          // What strangers' code may contain; its own compiler has warned of it.
          "-w"};
}

// Names other calls before volatile loads and stores, which the instrumentation does not tell from
// others: LLVM's text form has the call in the line before the access.
std::string MarkVolatile(absl::string_view ir) {
  constexpr absl::string_view kPlain = "@__sanitizer_cov_";
  constexpr absl::string_view kVolatile = "@simt_volatile_";
  std::vector<std::string> lines = absl::StrSplit(ir, '\n');
  std::vector<std::string> declarations;
  const auto rename = [&](absl::string_view line) {
    return absl::StrReplaceAll(line, {{kPlain, kVolatile}});
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool load = absl::StrContains(lines[i], " load volatile ");
    const bool store = absl::StrContains(lines[i], " store volatile ");
    if ((load || store) && i > 0 &&
        absl::StrContains(lines[i - 1],
                          absl::StrCat("call void ", kPlain, load ? "load" : "store"))) {
      lines[i - 1] = rename(lines[i - 1]);
    }
    for (const char* access : {"load", "store"}) {
      if (absl::StartsWith(lines[i], absl::StrCat("declare void ", kPlain, access))) {
        // Without its attributes' number.
        declarations.push_back(rename(lines[i].substr(0, lines[i].find(')') + 1)));
      }
    }
  }
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\n", absl::StrJoin(declarations, "\n"), "\n");
}

// The names after "use of undeclared identifier" and its kin, and missing headers.
std::vector<std::string> UnknownNames(const std::string& messages) {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  for (const absl::string_view line : absl::StrSplit(messages, '\n')) {
    const size_t error = line.find(": error: ");
    const size_t fatal = line.find(": fatal error: ");
    const size_t found = error != absl::string_view::npos ? error : fatal;
    if (found == absl::string_view::npos) continue;
    const absl::string_view text = line.substr(line.find("error: ", found) + 7);
    const bool unknown = absl::StrContains(text, "undeclared identifier") ||
                         absl::StrContains(text, "unknown type name") ||
                         absl::StrContains(text, "no member named") ||
                         absl::StrContains(text, "no template named") ||
                         absl::StrContains(text, "unavailable") ||
                         absl::StrContains(text, "file not found");
    const size_t open = text.find('\'');
    const size_t close = text.find('\'', open + 1);
    if (!unknown || open == absl::string_view::npos || close == absl::string_view::npos) continue;
    const std::string name(text.substr(open + 1, close - open - 1));
    if (!seen.insert(name).second) continue;
    // "file:line:column"
    const absl::string_view place = line.substr(0, found);
    lines.push_back(absl::StrCat(place.substr(0, place.rfind(':')), ": ", name));
  }
  return lines;
}

}  // namespace

absl::StatusOr<std::string> FindSimtHome() {
  std::vector<std::string> places;
  if (const char* home = std::getenv("STRIDEWISE_SIMT_HOME")) places.emplace_back(home);
  // In a test the runfiles beside the program may be those of an earlier build.
  for (const char* variable : {"RUNFILES_DIR", "TEST_SRCDIR"}) {
    if (const char* runfiles = std::getenv(variable)) {
      places.push_back(absl::StrCat(runfiles, "/stridewise"));
    }
  }
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length > 0) {
    const std::string program(path, static_cast<size_t>(length));
    const std::string folder = program.substr(0, program.rfind('/'));
    places.push_back(folder + "/../share/stridewise/simt");
    places.push_back(program + ".runfiles/stridewise");
  }
  places.emplace_back(".");
  for (const std::string& place : places) {
    char resolved[PATH_MAX];
    if (access((place + kFolder + "run/libsimt_runtime.a").c_str(), R_OK) == 0 &&
        realpath(place.c_str(), resolved) != nullptr) {
      return std::string(resolved);
    }
  }
  return absl::NotFoundError(absl::StrCat(
      "no libsimt_runtime.a under ", absl::StrJoin(places, ", "), "; set STRIDEWISE_SIMT_HOME"));
}

absl::Status Compiler::Compile(const std::string& source, const std::string& object) {
  if (access(source.c_str(), R_OK) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read the source ", source));
  }
  const std::string base = absl::StrCat(scratch_, "/", files_++);
  const std::string preprocessed = base + ".ii";
  const std::string rewritten = base + ".rewritten.ii";
  const std::string messages = base + ".txt";

  std::vector<std::string> command = {"clang++",
                                      "-E",
                                      "-xc++",
                                      "-std=" + options_.standard,
                                      "-I" + home_ + kFolder + "run/include",
                                      "-I" + home_ + kFolder + "shim",
                                      "-I" + home_,
                                      "-D__CUDACC__=1",
                                      "-D__NVCC__=1",
                                      "-D__CUDACC_VER_MAJOR__=13",
                                      "-D__CUDACC_VER_MINOR__=0",
                                      "-D__STRIDEWISE_SIMT__=1",
                                      "-include",
                                      "cuda_runtime.h"};
  command.insert(command.end(), options_.preprocessor_flags.begin(),
                 options_.preprocessor_flags.end());
  command.push_back(source);
  const auto clang = [&](const std::vector<std::string>& arguments,
                         const std::string& output) -> absl::Status {
    ASSIGN_OR_RETURN(const int exit_code, RunProgram(arguments, output, messages));
    const std::string text = ReadFile(messages);
    if (write(STDERR_FILENO, text.data(), text.size()) < 0 || exit_code == 0) {
      return absl::OkStatus();
    }
    std::string all = absl::StrCat(source, " does not compile for the host executor");
    const std::vector<std::string> unknown = UnknownNames(text);
    if (!unknown.empty()) {
      absl::StrAppend(&all, "; not supported, or not declared:\n  ",
                      absl::StrJoin(unknown, "\n  "));
    }
    return absl::InvalidArgumentError(all);
  };
  RETURN_IF_ERROR(clang(command, preprocessed));

  std::string text = ReadFile(preprocessed);
  if (!options_.constants.empty()) {
    WithConstantsResult changed = WithConstants(text, options_.constants);
    text = std::move(changed.text);
    replaced_.insert(replaced_.end(), changed.replaced.begin(), changed.replaced.end());
  }
  const RewrittenSource result = RewriteCuda(text, absl::StrCat(files_));
  if (!result.unsupported.empty()) {
    std::string all = absl::StrCat(source, " uses what the host executor does not support:");
    for (const Unsupported& u : result.unsupported) {
      absl::StrAppend(&all, "\n  ", u.file, ":", u.line, ": ", u.what);
    }
    return absl::InvalidArgumentError(all);
  }
  RewriteAsmOptions asm_options;
  asm_options.word = std::string(kDeviceAsm);
  asm_options.check = [](const std::string& ptx) -> std::string {
    const std::string unknown = ParsePtx(ptx).unknown;
    return unknown.empty() ? "" : absl::StrCat("inline PTX: ", unknown);
  };
  const auto with_calls = RewriteAsm(result.text, asm_options);
  if (!with_calls.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, " uses what the host executor does not support:\n  ",
                     absl::StrReplaceAll(with_calls.status().message(), {{"\n", "\n  "}})));
  }
  std::ofstream(rewritten, std::ios::binary) << *with_calls;

  const std::string compiled = base + ".compiled.o";
  // Two branches that end alike keep their accesses.
  const std::string keep_ends = "-sink-common-insts=false";
  std::string source_of_code = rewritten;
  command = {"clang++", "-x", "c++-cpp-output", "-std=" + options_.standard};
  const std::vector<std::string> flags = CompilationFlags(home_, result.has_device_code);
  if (options_.accesses_as_compiled && result.has_device_code) {
    source_of_code = base + ".optimized.ll";
    command.insert(command.end(), flags.begin(), flags.end());
    // Without passes, also without those that instrument: they come behind the optimizer.
    command.insert(command.end(), {"-O3", "-funroll-loops", "-S", "-emit-llvm", "-Xclang",
                                   "-disable-llvm-passes", rewritten, "-o", source_of_code});
    RETURN_IF_ERROR(clang(command, ""));
    RETURN_IF_ERROR(OptimizeAsForGpu(source_of_code, messages));
    // It would take wide loads apart again where it is cheaper on the host.
    command = {"clang++", "-x", "ir", "-mllvm", "-disable-vector-combine", "-mllvm", keep_ends};
  }
  command.insert(command.end(), flags.begin(), flags.end());
  if (result.has_volatile && result.has_device_code) {
    const std::string ir = base + ".ll";
    command.insert(command.end(), {"-S", "-emit-llvm", source_of_code, "-o", ir});
    RETURN_IF_ERROR(clang(command, ""));
    const std::string marked = MarkVolatile(ReadFile(ir));
    std::ofstream(ir, std::ios::binary) << marked;
    RETURN_IF_ERROR(clang({"clang++", "-x", "ir", "-c", "-fPIC", "-O1", "-Xclang",
                           "-disable-llvm-passes", "-femulated-tls", "-w", ir, "-o", compiled},
                          ""));
  } else {
    command.insert(command.end(), {"-c", source_of_code, "-o", compiled});
    RETURN_IF_ERROR(clang(command, ""));
  }

  ASSIGN_OR_RETURN(int exit_code, RunProgram({"bash", home_ + kFolder + "rename_symbols.sh", "nm",
                                              "objcopy", compiled, object},
                                             "", ""));
  if (exit_code == 0) {
    command = {"objcopy",
               "--redefine-sym=printf=simt_printf",
               "--redefine-sym=vprintf=simt_vprintf",
               "--redefine-sym=puts=simt_puts",
               "--redefine-sym=putchar=simt_putchar",
               "--redefine-sym=__assert_fail=simt_assert_fail",
               object};
    if (options_.accesses_as_compiled && result.has_device_code) {
      for (const char* name : {"sin", "cos", "tan", "sincos", "sinf", "cosf", "tanf"}) {
        command.push_back(absl::StrCat("--redefine-sym=", name, "=simt_table_", name));
      }
    }
    ASSIGN_OR_RETURN(exit_code, RunProgram(command, "", ""));
  }
  if (exit_code != 0) return absl::InternalError(absl::StrCat("objcopy refuses ", compiled));
  return absl::OkStatus();
}

absl::Status Compiler::OptimizeAsForGpu(const std::string& ir, const std::string& messages) {
  // opt reads what clang of its version writes: the one beside it, where that is installed.
  const std::string answer = ir + ".opt";
  RETURN_IF_ERROR(RunProgram({"clang++", "-print-prog-name=opt"}, answer, "").status());
  const std::string opt(absl::StripAsciiWhitespace(ReadFile(answer)));
  const std::string before = ReadFile(ir);
  std::ofstream(ir, std::ios::binary) << WithPromises(before);
  const std::string edited = ir + ".edited";
  for (const GpuStep& step : GpuSteps()) {
    std::ofstream(edited, std::ios::binary)
        << absl::StrJoin(step.edit(absl::StrSplit(ReadFile(ir), '\n')), "\n");
    std::vector<std::string> command = {opt, "-mtriple=nvptx64-nvidia-cuda"};
    command.insert(command.end(), step.options.begin(), step.options.end());
    command.insert(command.end(), {"-S", edited, "-o", ir});
    const auto ran = RunProgram(command, "", messages);
    if (!ran.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--accesses=compiled needs LLVM's opt, of Debian's package llvm: ",
                       ran.status().message()));
    }
    if (*ran != 0) {
      return absl::InternalError(
          absl::StrCat("opt refuses what clang makes: ", ReadFile(messages)));
    }
  }
  const std::string optimized = WithoutPromises(ReadFile(ir), before);
  std::ofstream(ir, std::ios::binary) << optimized;
  return absl::OkStatus();
}

absl::Status Compiler::Link(const std::vector<std::string>& objects, const std::string& program) {
  std::vector<std::string> command = {"clang++"};
  command.insert(command.end(), objects.begin(), objects.end());
  const std::string folder = absl::StrCat(home_, kFolder, "run");
  command.insert(command.end(),
                 {"-o", program, "-L" + folder, "-l:libsimt_runtime.a", "-lpthread", "-ldl"});
  command.insert(command.end(), options_.link_flags.begin(), options_.link_flags.end());
  ASSIGN_OR_RETURN(const int exit_code, RunProgram(command, "", ""));
  if (exit_code == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("the program does not link");
}

}  // namespace stridewise::executor

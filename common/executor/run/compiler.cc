#include "common/executor/run/compiler.h"

#include <unistd.h>

#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/base/status_macros.h"
#include "common/executor/ptx/program.h"
#include "common/executor/ptx/rewrite_asm.h"
#include "common/executor/run/compiler_messages.h"
#include "common/executor/run/gpu_optimizer.h"
#include "common/executor/run/gpu_passes.h"
#include "common/executor/run/narrow_hooks.h"
#include "common/executor/run/run_program.h"
#include "common/executor/run/simt_home.h"
#include "common/executor/run/volatile_accesses.h"

namespace stridewise::executor {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
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
            "-w",
            "-Wno-return-type"};
  }
  // Reports name functions and lines, not variables: with these too a program of many kernels took
  // a fifth longer to compile.
  return {
      "-fPIC", "-gline-tables-only", "-fdebug-compilation-dir=.", "-O1", "-fno-vectorize",
      "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-builtin", "-fno-strict-aliasing",
      "-ffp-contract=off", "-femulated-tls", "-fdeclspec",
      "-fsanitize-coverage=bb,no-prune,trace-pc,trace-loads,trace-stores",
      absl::StrCat("-fsanitize-coverage-ignorelist=", home, kExecutorFolder, "uninstrumented.txt"),
      "-fsanitize=thread", "-mllvm", "-tsan-instrument-memory-accesses=0", "-mllvm",
      "-tsan-instrument-func-entry-exit=0", "-mllvm", "-tsan-instrument-atomics=0",
      // A load that only one branch needs would move there.
      "-mllvm", "-instcombine-code-sinking=false",
      // What strangers' code may contain; its own compiler has warned of it.
      "-w", "-Wno-return-type"};
}

}  // namespace

absl::Status Compiler::Compile(const std::string& source, const std::string& object) {
  if (access(source.c_str(), R_OK) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read the source ", source));
  }
  source_ = source;
  base_ = absl::StrCat(scratch_, "/", files_++);
  ASSIGN_OR_RETURN(std::string preprocessed, Preprocess());
  ASSIGN_OR_RETURN(const RewrittenSource result, Rewrite(std::move(preprocessed)));
  const std::string rewritten = base_ + ".rewritten.ii", compiled = base_ + ".compiled.o";
  WriteFile(rewritten, result.text);
  RETURN_IF_ERROR(CompileRewritten(result, rewritten, compiled));
  return RenameSymbols(result, compiled, object);
}

absl::Status Compiler::RunClang(const std::vector<std::string>& command,
                                const std::string& output) const {
  const std::string messages = base_ + ".txt";
  ASSIGN_OR_RETURN(const int exit_code, RunProgram(command, output, messages));
  const std::string text = ReadFile(messages);
  if (write(STDERR_FILENO, text.data(), text.size()) < 0 || exit_code == 0) {
    return absl::OkStatus();
  }
  std::string all = absl::StrCat(source_, " does not compile for the host executor");
  const std::vector<std::string> unknown = UnknownNames(text);
  if (!unknown.empty()) {
    absl::StrAppend(&all, "; not supported, or not declared:\n  ", absl::StrJoin(unknown, "\n  "));
  }
  return absl::InvalidArgumentError(all);
}

absl::StatusOr<std::string> Compiler::Preprocess() {
  const std::string folder(kExecutorFolder);
  std::vector<std::string> command = {"clang++",
                                      "-E",
                                      "-xc++",
                                      "-std=" + options_.standard,
                                      "-I" + home_ + folder + "run/include",
                                      "-I" + home_ + folder + "shim",
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
  command.push_back(source_);
  const std::string preprocessed = base_ + ".ii";
  RETURN_IF_ERROR(RunClang(command, preprocessed));
  return ReadFile(preprocessed);
}

absl::StatusOr<RewrittenSource> Compiler::Rewrite(std::string preprocessed) {
  if (!options_.constants.empty()) {
    WithConstantsResult changed = WithConstants(preprocessed, options_.constants);
    preprocessed = std::move(changed.text);
    replaced_.insert(replaced_.end(), changed.replaced.begin(), changed.replaced.end());
  }
  RewrittenSource result = RewriteCuda(preprocessed, absl::StrCat(files_));
  const std::string refused =
      absl::StrCat(source_, " uses what the host executor does not support:");
  if (!result.unsupported.empty()) {
    std::string all = refused;
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
  auto with_calls = RewriteAsm(result.text, asm_options);
  if (!with_calls.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        refused, "\n  ", absl::StrReplaceAll(with_calls.status().message(), {{"\n", "\n  "}})));
  }
  result.text = *std::move(with_calls);
  return result;
}

absl::Status Compiler::CompileRewritten(const RewrittenSource& source, const std::string& rewritten,
                                        const std::string& object) {
  std::string source_of_code = rewritten;
  std::vector<std::string> command = {"clang++", "-x", "c++-cpp-output",
                                      "-std=" + options_.standard};
  const std::vector<std::string> flags = CompilationFlags(home_, source.has_device_code);
  if (options_.accesses_as_compiled && source.has_device_code) {
    source_of_code = base_ + ".optimized.ll";
    command.insert(command.end(), flags.begin(), flags.end());
    // Without passes, also without those that instrument: they come behind the optimizer. Without
    // markers where variables end, as nvcc has none: a block of nothing else would not be empty.
    // nvcc does not conclude from loops having an end that an unsigned counter does not wrap.
    command.insert(command.end(), {"-O3", "-funroll-loops", "-fno-finite-loops", "-S", "-emit-llvm",
                                   "-Xclang", "-disable-llvm-passes", "-Xclang",
                                   "-disable-lifetime-markers", rewritten, "-o", source_of_code});
    RETURN_IF_ERROR(RunClang(command, ""));
    RETURN_IF_ERROR(OptimizeAsForGpu(source_of_code, base_ + ".txt"));
    // It would take wide loads apart again where it is cheaper on the host.
    command = {"clang++", "-x", "ir", "-mllvm", "-disable-vector-combine"};
  }
  command.insert(command.end(), flags.begin(), flags.end());
  // Two branches that end alike keep their accesses, also where their machine code is the same.
  for (const char* ends : {"-sink-common-insts=false", "-enable-tail-merge=false"}) {
    command.insert(command.end(), {"-mllvm", ends});
  }
  // Compiled accesses are aligned already (aligned_pieces.h).
  const bool has_structures = source.has_structures && !options_.accesses_as_compiled;
  if (!(source.has_volatile || has_structures) || !source.has_device_code) {
    command.insert(command.end(), {"-c", source_of_code, "-o", object});
    return RunClang(command, "");
  }
  const std::string ir = base_ + ".ll";
  command.insert(command.end(), {"-S", "-emit-llvm", source_of_code, "-o", ir});
  RETURN_IF_ERROR(RunClang(command, ""));
  std::string text = ReadFile(ir);
  if (has_structures) text = WithNarrowHooks(text);
  if (source.has_volatile) text = MarkVolatile(text);
  WriteFile(ir, text);
  return RunClang({"clang++", "-x", "ir", "-c", "-fPIC", "-O1", "-Xclang", "-disable-llvm-passes",
                   "-femulated-tls", "-mllvm", "-enable-tail-merge=false", "-w", ir, "-o", object},
                  "");
}

absl::Status Compiler::RenameSymbols(const RewrittenSource& source, const std::string& compiled,
                                     const std::string& object) const {
  ASSIGN_OR_RETURN(int exit_code,
                   RunProgram({"bash", absl::StrCat(home_, kExecutorFolder, "rename_symbols.sh"),
                               "nm", "objcopy", compiled, object},
                              "", ""));
  if (exit_code == 0) {
    const bool compiled = options_.accesses_as_compiled && source.has_device_code;
    std::vector<std::string> command = {
        "objcopy",
        absl::StrCat("--redefine-sym=printf=simt_", compiled ? "counted_" : "", "printf"),
        absl::StrCat("--redefine-sym=vprintf=simt_", compiled ? "counted_" : "", "vprintf"),
        "--redefine-sym=puts=simt_puts",
        "--redefine-sym=putchar=simt_putchar",
        "--redefine-sym=__assert_fail=simt_assert_fail",
        object};
    if (compiled) {
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
  const std::string folder = absl::StrCat(home_, kExecutorFolder, "run");
  command.insert(command.end(),
                 {"-o", program, "-L" + folder, "-l:libsimt_runtime.a", "-lpthread", "-ldl"});
  command.insert(command.end(), options_.link_flags.begin(), options_.link_flags.end());
  ASSIGN_OR_RETURN(const int exit_code, RunProgram(command, "", ""));
  if (exit_code == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("the program does not link");
}

}  // namespace stridewise::executor

// Compiles CUDA programs for the host executor: clang's preprocessor, the rewriter, clang,
// binutils. Needs no CUDA toolkit.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_COMPILER_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_COMPILER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/executor/run/constants.h"
#include "common/executor/run/rewriter.h"

namespace stridewise::executor {

struct CompileOptions {
  std::vector<std::string> preprocessor_flags;  // -I, -D and so on, for every source.
  std::vector<std::string> link_flags;          // -l and so on.
  std::string standard = "c++17";
  // Whether accesses are those that a GPU's compiler makes of the source (gpu_optimizer.h) and not
  // those of the source. Needs LLVM's opt beside clang.
  bool accesses_as_compiled = false;
  std::vector<Constant> constants;  // Other values for variables of the sources.
};

class Compiler {
 public:
  // REQUIRES: `home` is FindSimtHome()'s; `scratch` is a folder that exists.
  Compiler(std::string home, std::string scratch, CompileOptions options)
      : home_(std::move(home)), scratch_(std::move(scratch)), options_(std::move(options)) {}

  // Compiles one source. Returns InvalidArgument where it does not compile, with a line for each
  // thing that the host executor does not support; what clang says goes to standard error.
  absl::Status Compile(const std::string& source, const std::string& object);

  // Links objects and libraries to a program.
  absl::Status Link(const std::vector<std::string>& objects, const std::string& program);

  // Returns what CompileOptions::constants has changed in all sources so far.
  const std::vector<ReplacedInitialiser>& replaced() const { return replaced_; }

 private:
  // Runs clang. Returns InvalidArgument, naming what is not declared, where it refuses the source.
  absl::Status RunClang(const std::vector<std::string>& command, const std::string& output) const;
  // Returns what the preprocessor makes of the source.
  absl::StatusOr<std::string> Preprocess();
  // Returns C++ for the host executor.
  absl::StatusOr<RewrittenSource> Rewrite(std::string preprocessed);
  // Compiles the file `rewritten`.
  absl::Status CompileRewritten(const RewrittenSource& source, const std::string& rewritten,
                                const std::string& object);
  // Directs calls to the host executor that flags of the compiler cannot.
  absl::Status RenameSymbols(const RewrittenSource& source, const std::string& compiled,
                             const std::string& object) const;
  // Replaces the file `ir`; what opt says goes to the file `messages`.
  static absl::Status OptimizeAsForGpu(const std::string& ir, const std::string& messages);

  std::string home_;
  std::string scratch_;
  CompileOptions options_;
  int files_ = 0;
  std::string source_;  // That is being compiled,
  std::string base_;    // and the beginning of its files' names.
  std::vector<ReplacedInitialiser> replaced_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_COMPILER_H_

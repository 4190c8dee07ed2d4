#include "benchmarks/harness/implementations_flag.h"

#include "absl/flags/flag.h"
#include "common/base/refused_flags.h"

ABSL_FLAG(std::string, implementations, "",
          "Only these: a list of names and globs such as 'naive*,cublas'. --list shows the names.");
ABSL_FLAG(std::string, kernels, "", "Another name of --implementations.");

namespace stridewise {

absl::StatusOr<ImplementationsFlag> GetImplementationsFlag() {
  const std::string implementations = absl::GetFlag(FLAGS_implementations);
  const std::string kernels = absl::GetFlag(FLAGS_kernels);
  if (kernels.empty()) return ImplementationsFlag{"--implementations", implementations};
  if (implementations.empty()) return ImplementationsFlag{"--kernels", kernels};
  return RefuseFlag("--kernels", kernels, "beside --implementations, of which it is another name");
}

}  // namespace stridewise

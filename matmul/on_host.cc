#include "matmul/on_host.h"

#include "common/base/status_macros.h"
#include "matmul/check_args.h"
#include "matmul/library_call.h"
#include "matmul/registry.h"
#include "matmul/row_major.h"

namespace stridewise {

absl::Status MatMulOnHost(const MatMulProblem& problem) {
  static const MatMulImplementation& threads = *FindMatMulImplementation("cpu_threads");
  MatMulArgs args = RowMajorArgs(problem);
  args.workspace = nullptr;
  args.workspace_bytes = 0;
  RETURN_IF_ERROR(CheckMatMulArgs(threads, args, ArgumentNamesOf(problem)));
  return threads.run(args);
}

}  // namespace stridewise

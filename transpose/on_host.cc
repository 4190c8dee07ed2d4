#include "transpose/on_host.h"

#include "common/base/status_macros.h"
#include "transpose/registry.h"
#include "transpose/view_args.h"

namespace stridewise {

absl::Status TransposeOnHost(const MatrixView& in, const MutableMatrixView& out) {
  static const TransposeImplementation& threads = *FindTransposeImplementation("cpu_threads");
  static const TransposeImplementation& in_place = *FindTransposeImplementation("cpu_in_place");
  TransposeArgs args;
  RETURN_IF_ERROR(ArgsOfViews(in, out, &args));
  const bool empty = args.rows == 0 || args.cols == 0 || args.batch == 0;
  const TransposeImplementation& implementation = empty || args.in != args.out ? threads : in_place;
  RETURN_IF_ERROR(CheckTransposeArgs(implementation, args, kViewNames));
  return implementation.run(args);
}

}  // namespace stridewise

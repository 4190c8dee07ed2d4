// Transposes in place where rows and columns differ: the transpose is written to a workspace of one
// matrix and copied back. That takes two passes over memory and four accesses to an element;
// permuting within the one array would follow cycles that visit memory in no order at all.
//
// The matrices of a batch follow each other on the stream and use the same workspace.

#include "common/base/status_macros.h"
#include "transpose/registry.h"

namespace stridewise {

LaunchStatus TransposeInPlaceRectangular(const TransposeArgs& args) {
  static const TransposeImplementation& transpose = *FindByName(TransposeLibrary(), "auto");
  static const TransposeImplementation& copy = *FindByName(TransposeLibrary(), "memcpy");
  auto* matrix = static_cast<char*>(args.out);
  for (int64_t i = 0; i < args.batch; ++i, matrix += args.stride_out * args.element_bytes) {
    TransposeArgs there = args;
    there.batch = 1;
    there.block = kNoBlock;
    there.in = matrix;
    there.out = args.workspace;
    there.ld_out = args.rows;
    RETURN_IF_ERROR(RunTranspose(transpose, there));
    TransposeArgs back = there;
    back.rows = args.cols;
    back.cols = args.rows;
    back.in = args.workspace;
    back.ld_in = args.rows;
    back.out = matrix;
    back.ld_out = args.ld_out;
    RETURN_IF_ERROR(RunTranspose(copy, back));
  }
  return absl::OkStatus();
}

}  // namespace stridewise

#include "benchmarks/transpose/streamed_entry.h"

#include "absl/status/status.h"
#include "transpose/streamed/streamed_transpose.h"

namespace stridewise {
namespace {

LaunchStatus Run(const TransposeArgs& args) {
  const MatrixView in = {args.in, args.rows, args.cols, args.ld_in, args.element_bytes};
  const MutableMatrixView out = {args.out, args.cols, args.rows, args.ld_out, args.element_bytes};
  return StreamedTranspose(in, out);
}

}  // namespace

const TransposeImplementation& StreamedTransposeEntry() {
  static const auto& entry = *[] {
    auto* const made = new TransposeImplementation;
    made->name = "streamed";
    made->summary = "StreamedTranspose(): matrices in host memory, tile by tile through the GPU";
    made->teaches = "what sizes beyond the card cost";
    made->on_host_memory = true;
    made->is_built_in = FindTransposeImplementation("auto")->is_built_in;
    made->run = Run;
    return made;
  }();
  return entry;
}

}  // namespace stridewise

#include "benchmarks/matmul/streamed_entry.h"

#include "absl/status/status.h"
#include "benchmarks/matmul/product_args.h"
#include "matmul/matmul.h"
#include "matmul/streamed/streamed_matmul.h"

namespace stridewise {
namespace {

// Those with C of the type of the sums: others would be rounded at every panel.
constexpr MatMulTypes kTypes[] = {AllOf(ElementType::kFloat), kBf16ToFloat, kFp16ToFloat, kS8ToInt};

// Batches and epilogues are not taken.
LaunchStatus Run(const MatMulArgs& args) { return StreamedMatMul(ProblemOf(args)); }

}  // namespace

const MatMulImplementation& StreamedMatMulEntry() {
  static const auto& entry = *[] {
    const MatMulImplementation& automatic = *FindMatMulImplementation("auto");
    auto* const made = new MatMulImplementation;
    made->name = "streamed";
    made->summary = "StreamedMatMul(): matrices in host memory, tile by tile through the GPU";
    made->teaches = "what sizes beyond the card cost";
    made->math = automatic.math;
    made->types = kTypes;
    made->precisions = automatic.precisions;
    made->general = true;
    made->on_host_memory = true;
    made->is_built_in = automatic.is_built_in;
    made->run = Run;
    return made;
  }();
  return entry;
}

}  // namespace stridewise

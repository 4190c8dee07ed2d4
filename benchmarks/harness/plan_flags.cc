#include "benchmarks/harness/plan_flags.h"

#include <string>

#include "absl/flags/flag.h"
#include "benchmarks/harness/implementations_flag.h"
#include "common/base/status_macros.h"

ABSL_FLAG(std::string, sizes, "",
          "Sizes of squares and cubes instead of the preset's shapes: a list of N, A:B:STEP and "
          "A:B:*FACTOR, such as 1:5001:10 or 32:4096:*2.");
ABSL_FLAG(std::string, shapes, "",
          "Shapes instead of the preset's: of a transpose's input, ROWSxCOLS,...; of products, "
          "MxNxK,... where C is M x N and K is the extent of the sums.");
ABSL_FLAG(std::string, types, "",
          "Element types instead of the preset's (float, of most): a list of float, int, u8, u16, "
          "double and float4 (16 bytes); of products, of float, double, and A's and B's type or "
          "theirs and C's, such as bf16, bf16_float, s8_int and e4m3_bf16.");
ABSL_FLAG(
    std::string, blocks, "",
    "Thread blocks XxY,... for kernels that take any block; others run once, with their own.");
ABSL_FLAG(std::string, batch, "",
          "The number of problems that one run solves, instead of the preset's (1, of most). Above "
          "1, what does not take batches is left out.");
ABSL_FLAG(
    std::string, shard, "",
    "I/N: of all that is selected, every N-th point, from the I-th on. N calls with I from 1 to "
    "N, on as many GPUs or machines, measure everything once.");

namespace stridewise {

absl::StatusOr<PlanFlags> PlanFlagsFor(const Operation& operation,
                                       absl::Span<const Operation* const> others) {
  PlanFlags flags;
  ASSIGN_OR_RETURN(const ImplementationsFlag implementations, GetImplementationsFlag());
  flags.implementations = implementations.text;
  flags.implementations_flag = implementations.name;
  flags.sizes = absl::GetFlag(FLAGS_sizes);
  flags.shapes = absl::GetFlag(FLAGS_shapes);
  flags.types = absl::GetFlag(FLAGS_types);
  flags.blocks = absl::GetFlag(FLAGS_blocks);
  flags.batch = absl::GetFlag(FLAGS_batch);
  flags.shard = absl::GetFlag(FLAGS_shard);
  ASSIGN_OR_RETURN(flags.axes, GivenAxes(operation, others));
  return flags;
}

}  // namespace stridewise

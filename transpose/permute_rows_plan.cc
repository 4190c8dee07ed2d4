#include "transpose/permute_rows_plan.h"

namespace stridewise {
namespace {

constexpr int64_t kLeastElementBytes = 4;
constexpr int64_t kLeastRowBytes = 64;

}  // namespace

bool KeepsRows(const PermuteArgs& args) {
  return args.rank >= 2 && args.element_bytes >= kLeastElementBytes &&
         args.dims[0].stride_in == 1 && args.dims[0].stride_out == 1 &&
         args.dims[0].extent * args.element_bytes >= kLeastRowBytes &&
         Elements(args) < int64_t{1} << 31;
}

PermuteRowsPlan MakePermuteRowsPlan(const PermuteArgs& args) {
  PermuteRowsPlan plan;
  plan.digits = args.rank;
  plan.elements = static_cast<uint32_t>(Elements(args));
  for (int d = 0; d < args.rank; ++d) {  // Sorted by their stride in `out`.
    const auto count = static_cast<uint32_t>(args.dims[d].extent);
    plan.digit[d] = {args.dims[d].stride_in * args.element_bytes,
                     args.dims[d].stride_out * args.element_bytes, count, BlockDivisor(count)};
  }
  return plan;
}

}  // namespace stridewise

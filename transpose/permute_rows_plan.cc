#include "transpose/permute_rows_plan.h"

namespace stridewise {
namespace {

constexpr int64_t kLeastElementBytes = 4;
constexpr int64_t kLeastRowBytes = 64;
constexpr uintptr_t kVectorBytes = 16;

}  // namespace

bool HasGaplessOut(const PermuteArgs& args) {
  int64_t run = 1;
  for (int d = 0; d < args.rank; ++d) {  // Sorted by their stride in `out`.
    if (args.dims[d].stride_out != run) return false;
    run *= args.dims[d].extent;
  }
  return args.rank > 0 && run < int64_t{1} << 31;
}

bool KeepsRows(const PermuteArgs& args) {
  return args.rank >= 2 && args.element_bytes >= kLeastElementBytes &&
         args.dims[0].stride_in == 1 && args.dims[0].stride_out == 1 &&
         args.dims[0].extent * args.element_bytes >= kLeastRowBytes &&
         Elements(args) < int64_t{1} << 31;
}

bool KeepsRowsOfBytes(const PermuteArgs& args) {
  return args.rank >= 2 && args.element_bytes < static_cast<int64_t>(kVectorBytes) &&
         HasGaplessOut(args) && Elements(args) * args.element_bytes < int64_t{1} << 31 &&
         args.dims[0].stride_in == 1 &&
         args.dims[0].extent * args.element_bytes >= static_cast<int64_t>(kVectorBytes);
}

bool IsDirect(const PermuteArgs& args) {
  constexpr uintptr_t kWordBytes = 4;
  return HasGaplessOut(args) && reinterpret_cast<uintptr_t>(args.out) % kWordBytes == 0;
}

int64_t InterleavedBytes(const PermuteArgs& args) {
  if (args.rank < 3 || args.element_bytes > 4) return 0;
  const PermuteDimension& planes = args.dims[0];
  const PermuteDimension& run = args.dims[1];
  if (planes.extent < 2 || planes.extent > 4 || planes.stride_out != 1) return 0;
  if (run.stride_in != 1 || run.stride_out != planes.extent) return 0;
  if (!IsDirect(args) || reinterpret_cast<uintptr_t>(args.out) % kVectorBytes != 0) return 0;
  // Whether words of `bytes` are whole.
  const auto divides = [&](int64_t bytes) {
    const int64_t elements = bytes / args.element_bytes;
    if (run.extent % elements != 0 || planes.stride_in % elements != 0 ||
        reinterpret_cast<uintptr_t>(args.in) % static_cast<uintptr_t>(bytes) != 0) {
      return false;
    }
    for (int d = 2; d < args.rank; ++d) {
      if (args.dims[d].stride_in % elements != 0) return false;
    }
    return true;
  };
  constexpr int64_t kWords[] = {16, 4, 2};
  for (const int64_t bytes : kWords) {
    if (bytes >= args.element_bytes && divides(bytes)) return bytes;
  }
  return 0;
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

PermuteRowsPlan MakePermuteRowBytesPlan(const PermuteArgs& args) {
  PermuteArgs bytes = args;
  bytes.element_bytes = 1;
  bytes.dims[0].extent *= args.element_bytes;
  for (int d = 1; d < args.rank; ++d) {
    bytes.dims[d].stride_in *= args.element_bytes;
    bytes.dims[d].stride_out *= args.element_bytes;
  }
  return MakePermuteRowsPlan(bytes);
}

}  // namespace stridewise

#include "transpose/permute_args.h"

#include <algorithm>

namespace stridewise {
namespace {

constexpr int64_t kMaxElementBytes = 16;

// Returns whether `outer` continues where `inner` ends, on both sides.
bool Continues(const PermuteDimension& outer, const PermuteDimension& inner) {
  return outer.stride_in == inner.extent * inner.stride_in &&
         outer.stride_out == inner.extent * inner.stride_out;
}

void SortAndFuse(PermuteArgs* args) {
  PermuteDimension* const end = std::remove_if(
      args->dims, args->dims + args->rank, [](const PermuteDimension& d) { return d.extent == 1; });
  SortFew(args->dims, static_cast<int>(end - args->dims),
          [](const PermuteDimension& a, const PermuteDimension& b) {
            return a.stride_out < b.stride_out;
          });
  int rank = 0;
  for (const PermuteDimension* d = args->dims; d != end; ++d) {
    if (rank > 0 && Continues(*d, args->dims[rank - 1])) {
      args->dims[rank - 1].extent *= d->extent;
    } else {
      args->dims[rank++] = *d;
    }
  }
  args->rank = rank;
}

// Returns whether pairs of neighbouring elements can become one element of twice the size.
bool CanWiden(const PermuteArgs& args) {
  const int64_t bytes = 2 * args.element_bytes;
  if (args.rank == 0 || bytes > kMaxElementBytes) return false;
  const PermuteDimension& inner = args.dims[0];
  if (inner.stride_in != 1 || inner.stride_out != 1 || inner.extent % 2 != 0) return false;
  for (int d = 1; d < args.rank; ++d) {
    if (args.dims[d].stride_in % 2 != 0 || args.dims[d].stride_out % 2 != 0) return false;
  }
  return (reinterpret_cast<uintptr_t>(args.in) | reinterpret_cast<uintptr_t>(args.out)) %
             static_cast<uintptr_t>(bytes) ==
         0;
}

void Widen(PermuteArgs* args) {
  args->element_bytes *= 2;
  args->dims[0].extent /= 2;
  for (int d = 1; d < args->rank; ++d) {
    args->dims[d].stride_in /= 2;
    args->dims[d].stride_out /= 2;
  }
}

}  // namespace

int64_t Elements(const PermuteArgs& args) {
  int64_t elements = 1;
  for (int d = 0; d < args.rank; ++d) elements *= args.dims[d].extent;
  return elements;
}

PermuteArgs Canonical(const PermuteArgs& args) {
  PermuteArgs canonical = args;
  SortAndFuse(&canonical);
  while (CanWiden(canonical)) Widen(&canonical);
  SortAndFuse(&canonical);  // The innermost dimension may now have the extent 1.
  return canonical;
}

}  // namespace stridewise

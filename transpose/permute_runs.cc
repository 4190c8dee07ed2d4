#include "transpose/permute_runs.h"

#include <algorithm>
#include <numeric>

namespace stridewise {
namespace {

// Calls fn(d) for the dimensions that are contiguous on this side, the innermost first, until it
// returns false.
template <typename Fn>
void ForContiguous(const PermuteArgs& args, int64_t PermuteDimension::*stride, Fn fn) {
  int64_t run = 1;
  for (int found = 0; found < args.rank; ++found) {
    int d = 0;
    while (d < args.rank && args.dims[d].*stride != run) ++d;
    if (d == args.rank || !fn(d)) return;
    run *= args.dims[d].extent;
  }
}

// Returns what sectors cost that runs of these lengths share with others, over what they need.
double SharedSectors(const PermuteArgs& args, const PermuteRuns& runs) {
  constexpr double kLong = 256;
  const auto bytes = [&](unsigned dims) {
    return std::min(kLong, static_cast<double>(RunElements(args, dims) * args.element_bytes));
  };
  return 24 / bytes(runs.columns) + 48 / bytes(runs.rows);
}

}  // namespace

int64_t RunElements(const PermuteArgs& args, unsigned dims) {
  int64_t product = 1;
  for (int d = 0; d < args.rank; ++d) {
    if ((dims >> d & 1) != 0) product *= args.dims[d].extent;
  }
  return product;
}

PermuteRuns SplitIntoRuns(const PermuteArgs& args) {
  PermuteRuns best;
  PermuteRuns runs;
  ForContiguous(args, &PermuteDimension::stride_in, [&](int column) {
    runs.columns |= 1u << column;
    runs.rows = 0;
    ForContiguous(args, &PermuteDimension::stride_out, [&](int row) {
      if ((runs.columns >> row & 1) != 0) return false;
      runs.rows |= 1u << row;
      return true;
    });
    if (runs.rows == 0) return false;
    if (best.rows == 0 || SharedSectors(args, runs) < SharedSectors(args, best)) best = runs;
    return true;
  });
  return best;
}

FlatDimension FlatOf(const PermuteArgs& args, unsigned dims, int64_t FlatDigit::*stride) {
  FlatDimension flat;
  for (int d = 0; d < args.rank; ++d) {
    if ((dims >> d & 1) == 0) continue;
    const auto count = static_cast<uint32_t>(args.dims[d].extent);
    flat.digit[flat.digits++] = {args.dims[d].stride_in * args.element_bytes,
                                 args.dims[d].stride_out * args.element_bytes, count,
                                 BlockDivisor(count)};
    flat.extent *= count;
  }
  SortFew(flat.digit, flat.digits,
          [stride](const FlatDigit& a, const FlatDigit& b) { return a.*stride < b.*stride; });
  return flat;
}

int64_t GcdOfStrides(const FlatDimension& dimension, int64_t FlatDigit::*stride, int64_t start) {
  for (int i = 0; i < dimension.digits; ++i) start = std::gcd(start, dimension.digit[i].*stride);
  return start;
}

}  // namespace stridewise

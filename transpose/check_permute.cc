#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/argument_checks.h"
#include "transpose/permute.h"

namespace stridewise {
namespace {

// "extents[2]".
std::string Named(const char* array, int64_t index) { return absl::StrCat(array, "[", index, "]"); }

// The same as CheckAtLeast(Named(array, index), ...), which would make the name at each call: half
// of the time that Permute() takes before it launches a kernel.
absl::Status CheckEntryAtLeast(const char* array, int64_t index, int64_t value, int64_t lowest) {
  if (value >= lowest) return absl::OkStatus();
  return CheckAtLeast(Named(array, index), value, lowest);
}

absl::Status CheckElementBytes(int64_t bytes) {
  if (bytes >= 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("element_bytes is ", bytes, "; allowed is 1, 2, 4, 8 and 16"));
}

absl::Status CheckOrder(const PermuteProblem& problem) {
  for (int64_t i = 0; i < problem.rank; ++i) {
    const int64_t value = problem.order[i];
    RETURN_IF_ERROR(CheckEntryAtLeast("order", i, value, 0));
    if (value >= problem.rank) return CheckAtMost(Named("order", i), value, problem.rank - 1);
    for (int64_t j = 0; j < i; ++j) {
      if (problem.order[j] != value) continue;
      return absl::InvalidArgumentError(absl::StrCat(Named("order", i), " is ", value,
                                                     "; allowed is each dimension once, and ",
                                                     Named("order", j), " is ", value, ", too"));
    }
  }
  return absl::OkStatus();
}

// One side of a permutation, with the names that messages use.
struct Side {
  const char* name;
  const char* strides_name;
  const void* data;
  int64_t PermuteDimension::*stride;
};

// Returns the bytes from the first element to the end of the last, or the error of a pointer or of
// a size that 64 bits do not hold. REQUIRES: there are elements, and strides are not negative.
absl::StatusOr<int64_t> CheckSide(const PermuteArgs& args, const Side& side) {
  int64_t last = 0;
  bool fits = true;
  for (int d = 0; d < args.rank; ++d) {
    int64_t step = 0;
    fits =
        fits && !__builtin_mul_overflow(args.dims[d].extent - 1, args.dims[d].*side.stride, &step);
    fits = fits && !__builtin_add_overflow(last, step, &last);
  }
  int64_t bytes = 0;
  fits = fits && !__builtin_add_overflow(last, 1, &last) &&
         !__builtin_mul_overflow(last, args.element_bytes, &bytes);
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        side.name, " has 2^63 bytes or more from its first element to its last; allowed is less"));
  }
  if (side.data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(side.name, " is null; allowed is device memory"));
  }
  if (reinterpret_cast<uintptr_t>(side.data) % static_cast<uintptr_t>(args.element_bytes) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(side.name, " is not aligned; allowed are multiples of ", args.element_bytes));
  }
  return bytes;
}

// Each element of `out` has an address of its own if every stride is beyond all that the dimensions
// of smaller strides reach. `position` holds each dimension's place in `out`.
absl::Status CheckNoTwoElementsShareMemory(const PermuteArgs& args, const int64_t* position) {
  int sorted[kMaxPermuteRank] = {};
  for (int d = 0; d < args.rank; ++d) sorted[d] = d;
  SortFew(sorted, args.rank,
          [&](int a, int b) { return args.dims[a].stride_out < args.dims[b].stride_out; });
  int64_t span = 1;
  for (int i = 0; i < args.rank; ++i) {
    const PermuteDimension& d = args.dims[sorted[i]];
    if (d.extent == 1) continue;
    RETURN_IF_ERROR(CheckEntryAtLeast("strides_out", position[sorted[i]], d.stride_out, span));
    span += (d.extent - 1) * d.stride_out;
  }
  return absl::OkStatus();
}

absl::Status CheckOverlap(const PermuteArgs& args, int64_t in_bytes, int64_t out_bytes) {
  const auto in = reinterpret_cast<uintptr_t>(args.in);
  const auto out = reinterpret_cast<uintptr_t>(args.out);
  if (in >= out + static_cast<uintptr_t>(out_bytes) ||
      out >= in + static_cast<uintptr_t>(in_bytes)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("out overlaps in; allowed is memory of its own");
}

}  // namespace

void SetGaplessStrides(PermuteProblem* problem) {
  int64_t in = 1;
  int64_t out = 1;
  for (int64_t i = problem->rank - 1; i >= 0; --i) {
    problem->strides_in[i] = in;
    problem->strides_out[i] = out;
    in *= std::max<int64_t>(problem->extents[i], 1);
    out *= std::max<int64_t>(problem->extents[problem->order[i]], 1);
  }
}

absl::StatusOr<PermuteArgs> CheckedPermuteArgs(const PermuteProblem& problem) {
  RETURN_IF_ERROR(CheckAtLeast("rank", problem.rank, 0));
  RETURN_IF_ERROR(CheckAtMost("rank", problem.rank, kMaxPermuteRank));
  RETURN_IF_ERROR(CheckElementBytes(problem.element_bytes));
  RETURN_IF_ERROR(CheckOrder(problem));
  PermuteArgs args;
  args.rank = static_cast<int>(problem.rank);
  args.element_bytes = problem.element_bytes;
  args.in = problem.in;
  args.out = problem.out;
  int64_t position[kMaxPermuteRank] = {};  // Of each dimension in `out`.
  bool empty = false;
  for (int64_t i = 0; i < problem.rank; ++i) {
    RETURN_IF_ERROR(CheckEntryAtLeast("extents", i, problem.extents[i], 0));
    RETURN_IF_ERROR(CheckEntryAtLeast("strides_in", i, problem.strides_in[i], 0));
    RETURN_IF_ERROR(CheckEntryAtLeast("strides_out", i, problem.strides_out[i], 0));
    const int64_t from = problem.order[i];
    position[from] = i;
    args.dims[i].extent = problem.extents[i];
    args.dims[i].stride_in = problem.strides_in[i];
    args.dims[from].stride_out = problem.strides_out[i];
    empty = empty || problem.extents[i] == 0;
  }
  if (empty) {
    args.rank = 1;
    args.dims[0] = {0, 1, 1};
    return args;
  }
  ASSIGN_OR_RETURN(const int64_t in_bytes,
                   CheckSide(args, {"in", "strides_in", args.in, &PermuteDimension::stride_in}));
  ASSIGN_OR_RETURN(const int64_t out_bytes, CheckSide(args, {"out", "strides_out", args.out,
                                                             &PermuteDimension::stride_out}));
  RETURN_IF_ERROR(CheckNoTwoElementsShareMemory(args, position));
  RETURN_IF_ERROR(CheckOverlap(args, in_bytes, out_bytes));
  return args;
}

}  // namespace stridewise

// The C call of permutations in host memory. Refuses what the C++ call refuses (check_permute.cc),
// without Abseil.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bindings/host/host_arguments.h"
#include "bindings/host/stridewise_host.h"
#include "common/base/host_threads.h"
#include "transpose/cpu/permute.h"

namespace stridewise {
namespace {

std::string Named(const char* array, int64_t index) {
  return std::string(array) + "[" + std::to_string(index) + "]";
}

// Sets extents, strides and the place of each dimension in `out`. Arrays may be null where there is
// no dimension.
stridewise_status ReadDimensions(const stridewise_permute_args& given, PermuteArgs* args,
                                 std::array<int64_t, kMaxPermuteRank>* position) {
  if (given.rank < 0 || given.rank > kMaxPermuteRank) {
    return Wrong("rank", given.rank, "0 to " + std::to_string(kMaxPermuteRank));
  }
  if (given.rank > 0 && given.extents == nullptr) {
    return Refuse(STRIDEWISE_INVALID_ARGUMENT, "extents is null");
  }
  if (given.rank > 0 && given.order == nullptr) {
    return Refuse(STRIDEWISE_INVALID_ARGUMENT, "order is null");
  }
  args->rank = static_cast<int>(given.rank);
  position->fill(-1);
  for (int64_t i = 0; i < given.rank; ++i) {
    const int64_t from = given.order[i];
    if (from < 0 || from >= given.rank || (*position)[from] >= 0) {
      return Wrong(Named("order", i), from,
                   "each of 0 to " + std::to_string(given.rank - 1) + " once");
    }
    (*position)[from] = i;
    if (given.extents[i] < 0) return Wrong(Named("extents", i), given.extents[i], "0 and more");
  }
  int64_t in = 1;
  int64_t out = 1;
  for (int64_t i = given.rank - 1; i >= 0; --i) {
    const int64_t from = given.order[i];
    args->dims[i].extent = given.extents[i];
    args->dims[i].stride_in = given.strides_in != nullptr ? given.strides_in[i] : in;
    args->dims[from].stride_out = given.strides_out != nullptr ? given.strides_out[i] : out;
    if (args->dims[i].stride_in < 0) {
      return Wrong(Named("strides_in", i), args->dims[i].stride_in, "0 and more");
    }
    if (args->dims[from].stride_out < 0) {
      return Wrong(Named("strides_out", i), args->dims[from].stride_out, "0 and more");
    }
    // Without elements no stride counts, and products of other extents may be too large.
    if (__builtin_mul_overflow(in, std::max<int64_t>(given.extents[i], 1), &in)) in = 0;
    if (__builtin_mul_overflow(out, std::max<int64_t>(given.extents[from], 1), &out)) out = 0;
  }
  return STRIDEWISE_OK;
}

// Computes the bytes from the first element to the end of the last.
stridewise_status CheckSide(const char* name, const void* data, const PermuteArgs& args,
                            int64_t PermuteDimension::*stride, int64_t* bytes) {
  int64_t last = 1;
  bool fits = true;
  for (int d = 0; d < args.rank; ++d) {
    int64_t step = 0;
    fits = fits && !__builtin_mul_overflow(args.dims[d].extent - 1, args.dims[d].*stride, &step) &&
           !__builtin_add_overflow(last, step, &last);
  }
  if (!fits || __builtin_mul_overflow(last, args.element_bytes, bytes)) {
    return Refuse(STRIDEWISE_INVALID_ARGUMENT,
                  std::string(name) + " has 2^63 bytes or more; allowed is less");
  }
  if (data == nullptr) {
    return Refuse(STRIDEWISE_INVALID_ARGUMENT, std::string(name) + " is null");
  }
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(args.element_bytes) != 0) {
    return Refuse(STRIDEWISE_INVALID_ARGUMENT, std::string(name) +
                                                   " is not a multiple of its element's size, " +
                                                   std::to_string(args.element_bytes));
  }
  return STRIDEWISE_OK;
}

// Each element of `out` has an address of its own if every stride is beyond all that the dimensions
// of smaller strides reach.
stridewise_status CheckStridesOut(const PermuteArgs& args,
                                  const std::array<int64_t, kMaxPermuteRank>& position) {
  std::array<int, kMaxPermuteRank> sorted = {0, 1, 2, 3, 4, 5};
  SortFew(sorted.data(), args.rank,
          [&](int a, int b) { return args.dims[a].stride_out < args.dims[b].stride_out; });
  int64_t span = 1;
  for (int i = 0; i < args.rank; ++i) {
    const PermuteDimension& dim = args.dims[sorted[i]];
    if (dim.extent == 1) continue;
    if (dim.stride_out < span) {
      return Wrong(Named("strides_out", position[sorted[i]]), dim.stride_out,
                   std::to_string(span) + " and more");
    }
    span += (dim.extent - 1) * dim.stride_out;
  }
  return STRIDEWISE_OK;
}

stridewise_status Permute(const stridewise_permute_args& given) {
  PermuteArgs args;
  std::array<int64_t, kMaxPermuteRank> position = {};
  stridewise_status status = ReadDimensions(given, &args, &position);
  if (status != STRIDEWISE_OK) return status;
  const int64_t bytes = given.element_bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) {
    return Wrong("element_bytes", bytes, "1, 2, 4, 8 and 16");
  }
  args.element_bytes = bytes;
  args.in = given.in;
  args.out = given.out;
  for (int d = 0; d < args.rank; ++d) {
    if (args.dims[d].extent == 0) return STRIDEWISE_OK;
  }
  int64_t in_bytes = 0;
  int64_t out_bytes = 0;
  status = CheckSide("in", args.in, args, &PermuteDimension::stride_in, &in_bytes);
  if (status != STRIDEWISE_OK) return status;
  status = CheckSide("out", args.out, args, &PermuteDimension::stride_out, &out_bytes);
  if (status != STRIDEWISE_OK) return status;
  status = CheckStridesOut(args, position);
  if (status != STRIDEWISE_OK) return status;
  const auto in = reinterpret_cast<uintptr_t>(args.in);
  const auto out = reinterpret_cast<uintptr_t>(args.out);
  if (in < out + static_cast<uintptr_t>(out_bytes) && out < in + static_cast<uintptr_t>(in_bytes)) {
    return Refuse(STRIDEWISE_INVALID_ARGUMENT, "out overlaps in; allowed is memory of its own");
  }
  PermuteOnThreads(args, HostThreads());
  return STRIDEWISE_OK;
}

}  // namespace
}  // namespace stridewise

stridewise_status stridewise_host_permute(const stridewise_permute_args* args) {
  constexpr size_t kLeast = offsetof(stridewise_permute_args, element_bytes) + sizeof(int64_t);
  return stridewise::Run(args, kLeast, stridewise::Permute);
}

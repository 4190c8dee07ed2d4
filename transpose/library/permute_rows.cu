// Permutes dimensions of which the innermost stays: attention's BSHD to BHSD, the windows of a
// picture. A thread moves single elements of up to 16 bytes, which Canonical() has made as large as
// alignment allows, straight from `in` to `out`, several at a time: there is nothing that shared
// memory could exchange. permute_tile reached 0.62 to 0.86 of a copy there, with tables and two
// barriers before its first store.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/rows_offsets.h"
#include "transpose/device/vectors.h"
#include "transpose/permute_args.h"
#include "transpose/permute_rows_plan.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 4;  // Elements that a thread loads before it stores the first.

template <typename T>
__global__ void __launch_bounds__(kThreads)
    PermuteRowsKernel(const unsigned char* in, unsigned char* out, PermuteRowsPlan plan) {
  const uint32_t first = blockIdx.x * (kThreads * kInFlight) + threadIdx.x;
  T elements[kInFlight];
  int64_t to[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const uint32_t element = first + i * kThreads;
    if (element >= plan.elements) break;
    const RowsOffsets offsets = OffsetsOf(plan, element);
    elements[i] = *reinterpret_cast<const T*>(in + offsets.in);
    to[i] = offsets.out;
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    if (first + i * kThreads >= plan.elements) break;
    *reinterpret_cast<T*>(out + to[i]) = elements[i];
  }
}

template <typename T>
LaunchStatus Run(const PermuteArgs& args) {
  const PermuteRowsPlan plan = MakePermuteRowsPlan(args);
  return Launch(PermuteRowsKernel<T>, Grid{CeilDiv(int64_t{plan.elements}, kThreads * kInFlight)},
                Block{kThreads}, 0, args.stream, static_cast<const unsigned char*>(args.in),
                static_cast<unsigned char*>(args.out), plan);
}

}  // namespace

LaunchStatus PermuteRows(const PermuteArgs& args) {
  switch (args.element_bytes) {
    case 4:
      return Run<uint32_t>(args);
    case 8:
      return Run<uint64_t>(args);
    default:
      return Run<Vector>(args);
  }
}

}  // namespace stridewise

// All that a choice of a kernel or an algorithm may depend on, as numbers to look it up by.

#ifndef STRIDEWISE_MATMUL_CHOICE_KEY_H_
#define STRIDEWISE_MATMUL_CHOICE_KEY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/gpu/device_model.h"
#include "matmul/args.h"

namespace stridewise {

// Joins arrays of numbers.
template <size_t... kSizes>
std::array<int64_t, (kSizes + ...)> Joined(const std::array<int64_t, kSizes>&... parts) {
  std::array<int64_t, (kSizes + ...)> all;
  int64_t* to = all.data();
  ((std::memcpy(to, parts.data(), sizeof(parts)), to += kSizes), ...);
  return all;
}

// Returns the numbers of a call, without where its matrices lie, which stream and which device.
inline std::array<int64_t, 12> NumbersOf(const MatMulArgs& args) {
  // Plans look at alpha as it is or as the float that kernels multiply by.
  const bool no_alpha = args.alpha == 0;
  const bool no_float_alpha = static_cast<float>(args.alpha) == 0;
  const auto types = static_cast<int64_t>(args.a.type) << 16 |
                     static_cast<int64_t>(args.b.type) << 8 | static_cast<int64_t>(args.c.type);
  const int64_t form = (args.a.transposed ? 1 : 0) + (args.b.transposed ? 2 : 0) +
                       (no_alpha ? 4 : 0) + (no_float_alpha ? 8 : 0) + (args.beta == 0 ? 16 : 0) +
                       32 * static_cast<int64_t>(args.precision) + (types << 16);
  return {args.m,
          args.n,
          args.k,
          args.batch,
          args.a.ld,
          args.b.ld,
          args.c.ld,
          args.a.stride,
          args.b.stride,
          args.c.stride,
          args.workspace_bytes,
          form};
}

// Returns the offsets of the matrices' addresses from multiples of `alignment`.
inline std::array<int64_t, 3> OffsetsOf(const MatMulArgs& args, uintptr_t alignment) {
  const auto offset = [&](const void* data) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % alignment);
  };
  return {offset(args.a.data), offset(args.b.data), offset(args.c.data)};
}

// Returns the numbers of a device.
inline std::array<int64_t, 5> NumbersOf(const DeviceModel& device) {
  int64_t split_cost_factor = 0;
  static_assert(sizeof(split_cost_factor) == sizeof(device.split_cost_factor));
  std::memcpy(&split_cost_factor, &device.split_cost_factor, sizeof(split_cost_factor));
  // Neither of the first two reaches 2^32.
  return {device.compute_capability + (int64_t{device.max_shared_bytes} << 32),
          device.multiprocessors, split_cost_factor, device.k_part_cost_bytes, device.memory_gbps};
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CHOICE_KEY_H_

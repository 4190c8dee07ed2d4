// The tiles of tensor_shallow, and how long it is expected to take: the constants are fitted to
// times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SHALLOW_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SHALLOW_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

constexpr int kShallowWarps = 8;
constexpr int kShallowK = 16;  // Of k, which shared memory holds at a time.

// Returns whether tiles have 256 rows and 32 columns: 64 and 128 where C has more.
inline bool ShallowIsNarrow(const MatMulArgs& args) { return args.n <= 32; }

// Returns whether the kernel takes the call: it has no bias and no activation, counts k in 31 bits,
// and tiles as a grid does.
inline bool TensorShallowTakes(const MatMulArgs& args) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() - kShallowK;
  constexpr int64_t kLeastRows = 64;
  constexpr int64_t kLeastCols = 32;
  return !HasEpilogue(args) && args.k <= kMost && args.batch <= kMaxGridYZ &&
         CeilDiv(args.n, kLeastCols) <= kMaxGridYZ && CeilDiv(args.m, kLeastRows) <= kMost;
}

inline double TensorShallowUs(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kFixed = 3.62;
  constexpr double kMemory = 2.03;  // On an H200; memory is faster than the stores.
  constexpr double kTile = 3.03;
  constexpr double kBesideNarrow = 1.04;  // More for each narrow tile of a multiprocessor.
  constexpr double kOfK = 0.156;          // Of what shared memory holds of k; more with 256 rows.
  constexpr double kOfKNarrow = 0.236;
  constexpr int64_t kResident = 3;
  const int64_t rows = ShallowIsNarrow(args) ? 256 : 64;
  const int64_t cols = ShallowIsNarrow(args) ? 32 : 128;
  const auto tiles =
      static_cast<double>(CeilDiv(args.m, rows) * CeilDiv(args.n, cols) * args.batch);
  const double of_multiprocessor = tiles / static_cast<double>(std::max(1, device.multiprocessors));
  const double rounds = std::ceil(of_multiprocessor / static_cast<double>(kResident));
  const double beside =
      ShallowIsNarrow(args) ? kBesideNarrow * std::min(of_multiprocessor, double{kResident}) : 0;
  int64_t chunk = 1;
  while (chunk < kShallowK && chunk < args.k) chunk *= 2;
  const auto of_k = static_cast<double>(CeilDiv(args.k, chunk) * chunk);
  return Corrected(
      TensorPredicted::kShallow, args, device, PlannedTiles(),
      kFixed +
          std::max(kMemory * MemoryUs(args, device),
                   rounds * (kTile + beside + of_k * (ShallowIsNarrow(args) ? kOfKNarrow : kOfK))));
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SHALLOW_PLAN_H_

#include "matmul/rounded_choice.h"

#include <algorithm>

#include "common/gpu/launch_geometry.h"
#include "matmul/memory_factor.h"

namespace stridewise {
namespace {

// Microseconds of tiles of 256 rows, which two blocks compute together: 128 bytes of k of each row
// and column are a step, 64 elements of 16 bits or 32 of TF32. Those of
// matmul/device/tensor/tile_plan.h.
struct TileTime {
  int64_t cols;
  double us;       // First loads and the store.
  double of_step;  // Where one multiprocessor loads.
  double of_full;  // More where all do.
};
constexpr TileTime kTimes[] = {{128, 1.42, 0.269, 0.139}, {256, 2.40, 0.579, 0.087}};
constexpr int64_t kTileRows = 256;
constexpr int64_t kStepBytes = 128;

// Returns the microseconds of a product of elements of this size beside its launch, from memory's
// side or from the tensor cores'.
double ProductUs(const MatMulArgs& args, const DeviceModel& device, int64_t element_bytes,
                 double bytes) {
  const int64_t clusters = std::max<int64_t>(1, device.multiprocessors / 2);
  const auto steps = static_cast<double>(CeilDiv(args.k * element_bytes, kStepBytes));
  double least = std::numeric_limits<double>::infinity();
  for (const TileTime& time : kTimes) {
    const int64_t tiles = CeilDiv(args.m, kTileRows) * CeilDiv(args.n, time.cols) * args.batch;
    const auto rounds = static_cast<double>(CeilDiv(tiles, clusters));
    const double fill = static_cast<double>(tiles) / (rounds * static_cast<double>(clusters));
    least = std::min(least, rounds * (time.us + steps * (time.of_step + time.of_full * fill)));
  }
  constexpr double kUsOfByte = 0.27e-6;
  return std::max(least, bytes * kUsOfByte * MemoryFactor(device));
}

double Elements(const SplitLayout& layout, int64_t mn, int64_t k) {
  return static_cast<double>(layout.count) * static_cast<double>(mn) * static_cast<double>(k);
}

}  // namespace

bool CanRound(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int kLeastCapability = 80;  // The first with BF16.
  // The copies' vectors of 16 bytes, which threads count in 32 bits.
  constexpr int64_t kMostBytes = (int64_t{1} << 30) * 16;
  return device.compute_capability >= kLeastCapability && args.k > 0 &&
         static_cast<float>(args.alpha) != 0 && RoundedBytes(args) <= kMostBytes &&
         RoundedBytes(args) <= args.workspace_bytes;
}

bool RoundingPays(const MatMulArgs& args, const DeviceModel& device) {
  if (device.compute_capability != 90) return true;  // TF32 by mma.sync has no faster kernel.
  constexpr double kUsOfLaunch = 3.0;
  constexpr double kUsOfByte = 0.25e-6;  // Read or written, of the copies.
  const double elements = Elements(SplitLayoutOfA(args, kRoundedForm), args.m, args.k) +
                          Elements(SplitLayoutOfB(args, kRoundedForm), args.n, args.k);
  const double bytes_of_c = 4 * static_cast<double>(args.m) * static_cast<double>(args.n) *
                            static_cast<double>(args.batch);
  const double rounded = kUsOfLaunch + 6 * elements * kUsOfByte * MemoryFactor(device) +
                         ProductUs(args, device, 2, 2 * elements + bytes_of_c);
  return rounded < ProductUs(args, device, 4, 4 * elements + bytes_of_c);
}

}  // namespace stridewise

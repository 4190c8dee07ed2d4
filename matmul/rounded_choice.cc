#include "matmul/rounded_choice.h"

#include <algorithm>

#include "common/gpu/launch_geometry.h"
#include "matmul/memory_factor.h"
#include "matmul/tensor_corrections.h"

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

constexpr int64_t k16Bit = 2;
constexpr int64_t kTf32 = 4;

// Returns the microseconds of a product of elements of this size beyond its launch, from memory's
// side or from the tensor cores'. Of 16 bits there are kernels that divide k where there are few
// tiles.
double ProductUs(const MatMulArgs& args, const DeviceModel& device, int64_t element_bytes,
                 double bytes) {
  constexpr double kUsOfSums = 3;
  constexpr double kUsOfByte = 0.27e-6;
  const int64_t clusters = std::max<int64_t>(1, device.multiprocessors / 2);
  const auto steps = static_cast<double>(CeilDiv(args.k * element_bytes, kStepBytes));
  double least = std::numeric_limits<double>::infinity();
  for (const TileTime& time : kTimes) {
    const int64_t tiles = CeilDiv(args.m, kTileRows) * CeilDiv(args.n, time.cols) * args.batch;
    const auto rounds = static_cast<double>(CeilDiv(tiles, clusters));
    const double fill = static_cast<double>(tiles) / (rounds * static_cast<double>(clusters));
    least = std::min(least, rounds * (time.us + steps * (time.of_step + time.of_full * fill)));
    if (element_bytes == k16Bit && tiles < clusters) {
      const double divided = fill * steps * (time.of_step + time.of_full);
      least = std::min(least, time.us + kUsOfSums + divided);
    }
  }
  return std::max(least, bytes * kUsOfByte * MemoryFactor(device));
}

double Elements(const SplitLayout& layout, int64_t mn, int64_t k) {
  return static_cast<double>(layout.count) * static_cast<double>(mn) * static_cast<double>(k);
}

// Returns the microseconds in which TF32 copies an operand that the TMA cannot address, or turns
// one of two that lie along m and n.
double CopyUs(const MatMulInput& input, double elements, bool turned, double us_of_byte) {
  constexpr double kUsOfLaunch = 3;
  const bool aligned =
      reinterpret_cast<uintptr_t>(input.data) % 16 == 0 && (input.ld | input.stride) % 4 == 0;
  return aligned && !turned ? 0 : kUsOfLaunch + 8 * elements * us_of_byte;
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

RoundedTimes PredictRounded(const MatMulArgs& args, const DeviceModel& device) {
  // TF32's kernel lasts longer than those for small products of 16 bits, which follow another
  // launch. At 29 products on an H200 the less of both times is that of the faster one, but for one
  // where it is .994 as fast.
  constexpr double kUsOfRounded = 6.5;
  constexpr double kUsOfTf32 = 7;
  const double us_of_byte = 0.235e-6 * MemoryFactor(device);  // Read or written, of the copies.
  const double of_a = Elements(SplitLayoutOfA(args, kRoundedForm), args.m, args.k);
  const double of_b = Elements(SplitLayoutOfB(args, kRoundedForm), args.n, args.k);
  const double bytes_of_c = 4 * static_cast<double>(args.m) * static_cast<double>(args.n) *
                            static_cast<double>(args.batch);
  const bool turns = args.a.transposed && !args.b.transposed;
  const double rounded = kUsOfRounded + 6 * (of_a + of_b) * us_of_byte +
                         ProductUs(args, device, k16Bit, 2 * (of_a + of_b) + bytes_of_c);
  const double tf32 = kUsOfTf32 + ProductUs(args, device, kTf32, 4 * (of_a + of_b) + bytes_of_c) +
                      CopyUs(args.a, of_a, turns && args.m < args.n, us_of_byte) +
                      CopyUs(args.b, of_b, turns && args.m >= args.n, us_of_byte);
  // What these leave out, such as C whose rows are no vectors: 149 products of 1040 x 1493 x 32
  // took 1559 us as TF32 on an H200, a third of cuBLAS's speed.
  constexpr double kOfRate = 0.9;
  const double memory =
      (4 * (of_a + of_b) + bytes_of_c) / (kOfRate * 1e3 * static_cast<double>(device.memory_gbps));
  const auto corrected = [&](TensorPredicted predicted, double us) {
    return CorrectedTensorUs(predicted, args, device, PlannedTiles(), memory, us);
  };
  return {corrected(TensorPredicted::kRounded, rounded),
          corrected(HasFewOfTf32(args) ? TensorPredicted::kFewTf32 : TensorPredicted::kTf32, tf32)};
}

}  // namespace stridewise

#include "matmul/tensor_choice.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/dispatch.h"
#include "matmul/fused_choice.h"
#include "matmul/latest_choices.h"
#include "matmul/rounded_choice.h"
#include "matmul/split_choice.h"

namespace stridewise {
namespace {

// Returns whether a product is large enough for split_flat and split_fp8 to be faster than
// split_fp16's pairs. On an H200 and an H100 2048 cubed takes them 1.25 and 1.1 of the pairs' time,
// 4096 cubed 0.95 and 0.9.
bool PaysBesidePairs(const MatMulArgs& args) {
  constexpr double kLeastProducts = 3.4e10;
  return static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k) *
             static_cast<double>(args.batch) >=
         kLeastProducts;
}

// What multiplies floats that may be rounded to 16 bits.
enum class RoundedBy { kRounded, kTf32, kFp32 };

RoundedBy ChooseRounded(const MatMulArgs& args, const DeviceModel& device) {
  const bool can_round = CanRound(args, device);
  // TF32 by mma.sync is no faster.
  if (device.compute_capability != 90) return can_round ? RoundedBy::kRounded : RoundedBy::kTf32;
  static thread_local LatestChoices<RoundedBy> latest;
  return latest.For(args, device, 0, [&] {
    const RoundedTimes us = PredictRounded(args, device);
    const double fp32 = PredictMatMul(InFp32(args), device).us;
    if (can_round && us.rounded < us.tf32 && us.rounded < fp32) return RoundedBy::kRounded;
    return us.tf32 < fp32 ? RoundedBy::kTf32 : RoundedBy::kFp32;
  });
}

}  // namespace

bool SplitPays(const MatMulArgs& args) {
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  if (!device.ok() || !CanSplit(args, *device)) return false;
  const double us = ChooseSplit(args, *device).us;
  return (!CanFuse(args, *device) || us < ChooseFused(args, *device).us) &&
         us < PredictMatMul(InFp32(args), *device).us;
}

bool FlatPays(const MatMulArgs& args) {
  if (args.precision != MatMulPrecision::kFp32SplitInt8 || !PaysBesidePairs(args)) return false;
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  return device.ok() && CanSplitFlat(args, *device) && SplitPays(args);
}

bool MediumPays(const MatMulArgs& args) {
  if (args.precision != MatMulPrecision::kFp32Medium || !PaysBesidePairs(args)) return false;
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  if (!device.ok() || !CanSplit(args, *device, kFp16AndFp8Form)) return false;
  const double us = ChooseSplit(args, *device, kFp16AndFp8Form).us;
  return us < ChooseSplit(args, *device).us &&
         (!CanFuse(args, *device) || us < ChooseFused(args, *device).us) &&
         us < PredictMatMul(InFp32(args), *device).us;
}

bool RoundedPays(const MatMulArgs& args) {
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  return device.ok() && ChooseRounded(args, *device) == RoundedBy::kRounded;
}

bool Tf32Pays(const MatMulArgs& args) {
  if (args.precision == MatMulPrecision::kTf32) return true;
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  return !device.ok() || ChooseRounded(args, *device) == RoundedBy::kTf32;
}

bool Fp16SumsPay(const MatMulArgs& args) {
  constexpr int64_t kTile = 256;  // Rows, and columns, that a cluster of two blocks computes.
  constexpr int64_t kLeastK = 2048;
  constexpr double kLeastFill = 0.95;
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  if (args.precision != MatMulPrecision::kFp16Sums || !device.ok() || args.k < kLeastK) {
    return false;
  }
  const int64_t clusters = std::max(1, device->multiprocessors / 2);
  const int64_t tiles = CeilDiv(args.m, kTile) * CeilDiv(args.n, kTile) * args.batch;
  const int64_t rounds = CeilDiv(tiles, clusters);
  return rounds > 1 &&
         static_cast<double>(tiles) >= kLeastFill * static_cast<double>(rounds * clusters);
}

bool FusedPays(const MatMulArgs& args) {
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  return device.ok() && CanFuse(args, *device) &&
         ChooseFused(args, *device).us < PredictMatMul(InFp32(args), *device).us;
}

}  // namespace stridewise

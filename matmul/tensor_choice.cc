#include "matmul/tensor_choice.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/dispatch.h"
#include "matmul/fused_choice.h"
#include "matmul/latest_choices.h"
#include "matmul/registry.h"
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

constexpr const char* kRounded = "tensor_rounded";
constexpr const char* kTf32 = "tensor_tf32";
constexpr const char* kFewTf32 = "tensor_few_tf32";

// Returns the kernel of TF32.
const char* Tf32KernelOf(const MatMulArgs& args) { return HasFewOfTf32(args) ? kFewTf32 : kTf32; }

// Returns the choice of a kernel of the registry.
RoundedChoice RoundedBy(const char* kernel, double us, const MatMulArgs& args) {
  const MatMulImplementation* const entry = FindMatMulImplementation(kernel);
  return {kernel, us, entry == nullptr ? 0 : MatMulWorkspaceBytes(*entry, args)};
}

RoundedChoice ChooseRoundedAnew(const MatMulArgs& args, const DeviceModel& device) {
  const bool can_round = args.precision != MatMulPrecision::kTf32 && CanRound(args, device);
  // TF32 by mma.sync is no faster.
  const char* const tf32 = Tf32KernelOf(args);
  if (device.compute_capability != 90) return RoundedBy(can_round ? kRounded : tf32, 0, args);
  const RoundedTimes us = PredictRounded(args, device);
  const bool rounds = can_round && us.rounded < us.tf32;
  const double least = rounds ? us.rounded : us.tf32;
  if (PredictMatMul(InFp32(args), device).us <= least) return {};
  return RoundedBy(rounds ? kRounded : tf32, least, args);
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

RoundedChoice ChooseRounded(const MatMulArgs& args, const DeviceModel& device) {
  static thread_local LatestChoices<RoundedChoice> latest;
  return latest.For(args, device, HasEpilogue(args) ? 1 : 0,
                    [&] { return ChooseRoundedAnew(args, device); });
}

bool RoundedPays(const MatMulArgs& args) {
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  return device.ok() && ChooseRounded(args, *device).kernel == kRounded;
}

bool Tf32Pays(const MatMulArgs& args) {
  if (args.precision == MatMulPrecision::kTf32) return true;
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  return !device.ok() || ChooseRounded(args, *device).kernel == Tf32KernelOf(args);
}

bool FewTf32Pays(const MatMulArgs& args) {
  return Tf32KernelOf(args) == kFewTf32 && Tf32Pays(args);
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
